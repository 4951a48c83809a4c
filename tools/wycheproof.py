#!/usr/bin/env python3
"""Writes tests/primitives/data/wycheproof/vectors.json.xz from a clone of C2SP/wycheproof.

Keeps of each test what the tests here need: its number, result, inputs and outputs.
"""

import json
import lzma
import subprocess
import sys
from pathlib import Path
from typing import Any

TO = Path(__file__).parents[1] / "tests/primitives/data/wycheproof/vectors.json.xz"
FILES = (
    "aes_ccm",
    "aes_eax",
    "aes_gcm",
    "ascon_sp800_232_aead128",
    "chacha20_poly1305",
    "ecdh_secp256r1_ecpoint",
    "ecdsa_secp160r1_sha256_p1363",
    "ecdsa_secp256k1_sha256_p1363",
    "ecdsa_secp256r1_sha256_p1363",
    "ed25519",
    "hkdf_sha256",
    "x25519",
)
KEPT = {"tcId", "result", "public", "private", "shared", "msg", "sig"}
KEPT |= {"ikm", "salt", "info", "size", "okm"}
KEPT |= {"key", "iv", "aad", "ct", "tag"}
LONG_BYTES = 24
"""Valid pseudorandom AEAD messages with more than this are left out: tests draw such themselves."""


def git(repository: str, *words: str) -> str:
    """Run git in the clone."""
    command = ["git", "-C", repository, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def group(found: dict[str, Any]) -> dict[str, Any]:
    """Return a group's key and tests."""
    key = found.get("publicKey", {})
    tests = [
        {name: test[name] for name in test if name in KEPT}
        for test in found["tests"]
        if not is_long(test)
    ]
    return {"key": key.get("pk") or key.get("uncompressed"), "tests": tests}


def is_long(test: dict[str, Any]) -> bool:
    """Return whether a test is one of many like it, of incompressible bytes."""
    size = len(test["aad"] + test["msg"]) // 2 if "aad" in test else 0
    return size > LONG_BYTES and (test["result"], test["flags"]) == ("valid", ["Pseudorandom"])


def main(repository: str) -> None:
    """Write the file."""
    files = {}
    for name in FILES:
        text = git(repository, "show", f"HEAD:testvectors_v1/{name}_test.json")
        files[name] = [group(found) for found in json.loads(text)["testGroups"]]
    whole = {"commit": git(repository, "rev-parse", "HEAD").strip(), "files": files}
    text = json.dumps(whole, separators=(",", ":"), sort_keys=True)
    TO.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main(sys.argv[1])
