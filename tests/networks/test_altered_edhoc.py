"""EDHOC's and OSCORE's messages, altered, replayed, misplaced and cut: none is taken."""

import subprocess
from pathlib import Path

import pytest

from joulemark.project import FIRMWARE, ROOT
from oscore_device import build

PARTIES = {
    "rfc9529-3-2": ("handshake/edhoc-3-2/portable", "key-agreement/ecdh-p256/limbs16"),
    "rfc9529-0-0": (
        "handshake/edhoc-0-0/portable",
        "key-agreement/x25519/limbs16",
        "signature/ed25519/limbs16",
        "hash/sha-512/ref",
    ),
}
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def attacker(party: str, folder: Path, *flags: str) -> Path:
    """Build both sides and who alters what they say."""
    ways = [FIRMWARE / "primitives" / way for way in PARTIES[party]]
    own = FIRMWARE / "net/edhoc/parties" / party
    includes = [own, own.parent, *(f for w in ways for f in (w, w.parent, w.parent.parent))]
    sources = [*own.glob("*.c"), *(source for way in ways for source in way.glob("*.c"))]
    return build(
        folder,
        ROOT / "tests/networks/altered_edhoc_host.c",
        *flags,
        *(f"-I{each}" for each in includes),
        *map(str, sources),
    )


@pytest.mark.parametrize("party", PARTIES)
def test_nothing_altered_is_taken(party: str, tmp_path: Path) -> None:
    program = attacker(party, tmp_path, *SANITIZED)
    done = subprocess.run([program, "1", "2", "400"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    # Almost all that is altered differs from what it was, and each way is taken.
    messages, ways = map(int, words[3:7]), map(int, words[words.index("ways") + 1 :])
    for found, count in zip(messages, (40, 40, 400, 400), strict=True):
        assert found > 0.8 * 2 * count
    assert min(ways) > 10


def test_an_attacker_who_is_taken_is_seen(tmp_path: Path) -> None:
    """The same with a cipher that takes any tag: the check can fail."""
    blind = tmp_path / "blind.h"
    told = "#define crypto_equal(a, b, n) ((void)(a), (void)(b), (void)(n), 1)"
    blind.write_text(f'#include "crypto.h"\n{told}\n')
    program = attacker("rfc9529-3-2", tmp_path, "-include", str(blind))
    done = subprocess.run([program, "1", "1", "400"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "is taken" in done.stderr or "opens" in done.stderr
