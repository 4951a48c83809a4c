"""Fuzz PLASA's parsers with sanitizers: SECONDS to run, and the first SEED.

    .venv/bin/python tests/networks/plasa_fuzz.py 3600 1000

Each seed gives a mote and an authority 100,000 messages each, modified genuine ones and made-up
ones, to all of their parsers. It ends at the first that is accepted, and prints its seed; it also
ends at a sanitizer's finding. tests/networks/test_plasa.py runs part of it each time.
"""

import sys
import tempfile
import time
from pathlib import Path

from test_plasa import ASCON, AUTHENTICATED, AUTHORITY, DATA, MOTE, READING, SHA_1, Side, agreed
from test_plasa import build as built

_MESSAGES = 100_000


def _fuzz(programs: dict[str, Path], side: str, seed: int) -> int:
    mote, authority = (Side(programs[name]) for name in ("mote", "authority"))
    authority.ask("start")
    genuine = agreed(mote, authority, (*AUTHENTICATED, ASCON)[seed % 5])
    genuine += [authority.said("renew", DATA), authority.said("reconfigure", 0, SHA_1, DATA, 1)]
    request = mote.said("request", DATA)
    genuine += [request, authority.said("request", MOTE, request)]
    genuine += [mote.said("secure", AUTHORITY, READING)]
    taken = {"mote": mote, "authority": authority}[side].fuzz(_MESSAGES, seed, genuine)
    mote.done()
    authority.done()
    return taken


def main() -> None:
    """Run until the time is over."""
    seed = int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        programs = {
            name: built(Path(folder, name), authority=name == "authority")
            for name in ("mote", "authority")
        }
        first, end = seed, time.monotonic() + float(sys.argv[1])
        while time.monotonic() < end:
            for side in programs:
                if _fuzz(programs, side, seed) != 0:
                    sys.exit(f"a message was taken: {side}, seed {seed}")
            seed += 1
    print(f"seeds {first} to {seed - 1}, {_MESSAGES:,} messages to each side: none taken")


if __name__ == "__main__":
    main()
