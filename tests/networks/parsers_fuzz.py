"""Fuzz what reads datagrams, with sanitizers: SECONDS for each parser, and the SEED.

    .venv/bin/python tests/networks/parsers_fuzz.py 900 1

One libFuzzer target after the other, each a test that runs 20,000 inputs of it: UDP over 6LoWPAN,
CoAP and OSCORE, EDHOC, DTLS 1.3 with each way to authenticate, certificates. It ends at the first
finding, whose input it leaves in the folder that it names.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

import test_dtls13
import test_handshake_fuzz
import test_oscore
import test_udp
import test_x509

_TARGETS: dict[str, tuple[Callable[[Path], Path], int]] = {
    "UDP over 6LoWPAN": (test_udp.fuzzer, test_udp.LONGEST),
    "CoAP and OSCORE": (test_oscore.fuzzer, test_oscore.LONGEST),
    "Group OSCORE, pairwise": (
        lambda folder: test_oscore.fuzzer(folder, 1),
        test_oscore.LONGEST,
    ),
    "EDHOC, signatures": (lambda folder: test_handshake_fuzz.fuzzer(0, folder), 200),
    "EDHOC, static keys": (lambda folder: test_handshake_fuzz.fuzzer(3, folder), 200),
    "DTLS 1.3, pre-shared key": (
        lambda folder: test_dtls13.fuzzer(test_dtls13.PSK, folder),
        test_dtls13.LONGEST,
    ),
    "DTLS 1.3, raw public keys": (
        lambda folder: test_dtls13.fuzzer(test_dtls13.RPK_P256, folder),
        test_dtls13.LONGEST,
    ),
    "DTLS 1.3, certificates": (
        lambda folder: test_dtls13.fuzzer(test_dtls13.X509_P256, folder),
        test_dtls13.LONGEST,
    ),
    "certificates": (test_x509.fuzzer, test_x509.LONGEST),
}


def main() -> None:
    """Run each target."""
    seconds, seed = sys.argv[1:3]
    for name, (build, longest) in _TARGETS.items():
        folder = Path(tempfile.mkdtemp(prefix="joulemark-fuzz-"))
        options = [f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={longest}"]
        done = subprocess.run(
            [build(folder), *options, "-len_control=0", "-print_final_stats=1"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        runs = re.search(r"number_of_executed_units: *(\d+)", done.stderr)
        print(f"{name}: {int(runs[1]) if runs else 0:,} inputs", flush=True)
        if done.returncode != 0:
            print(f"found, in {folder}: {done.stderr[-4000:]}", flush=True)
            sys.exit(1)


if __name__ == "__main__":
    main()
