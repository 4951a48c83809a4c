#!/usr/bin/env python3
"""Writes tests/primitives/data/wycheproof/*.json.xz from a clone of C2SP/wycheproof.

Keeps of each test what the tests here need: its number, result, inputs and outputs. Keys,
ciphertexts and signatures of post-quantum cryptography are random bytes by the kilobyte: outputs
are kept as their SHA-256, of a group's tests with the same flags only the first, and
signatures that are verified only where signing does not make them.
"""

import hashlib
import json
import lzma
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

TO = Path(__file__).parents[1] / "tests/primitives/data/wycheproof"
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
LARGE_FILES = (
    *(f"mldsa_{n}_{what}" for n in (44, 65, 87) for what in ("sign_seed", "verify")),
    *(f"mlkem_{n}" for n in (512, 768, 1024)),
    *(f"mlkem_{n}_encaps" for n in (512, 768, 1024)),
    *(f"mlkem_{n}_keygen_seed" for n in (512, 768, 1024)),
    *(f"mlkem_{n}_semi_expanded_decaps" for n in (512, 768, 1024)),
)
KEPT_LARGE = {"tcId", "result", "flags", "msg", "ctx", "mu", "rnd", "sig"}
KEPT_LARGE |= {"seed", "ek", "dk", "c", "m", "K"}
ALIKE = 5
"""Tests of a group with one result and the same flags that are kept, but for signing."""
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


def digest(value: str) -> str:
    """Return the SHA-256 of hexadecimal bytes."""
    return hashlib.sha256(bytes.fromhex(value)).hexdigest()


def large_group(found: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a group's keys and some of its tests, with digests for outputs."""
    outputs = {"mldsa_sign": ("sig",), "mlkem_encaps": ("c",), "mlkem_keygen": ("ek", "dk")}
    words = [*name.split("_"), ""]
    kind = f"{words[0]}_{words[2]}"
    tests = []
    alike = Counter[tuple[str, ...]]()
    for test in found["tests"]:
        flags = test.get("flags", [])
        like = (test["result"], *sorted(flags))
        alike[like] += 1
        is_of_signing = "ManySteps" in flags and kind == "mldsa_verify"
        if is_of_signing or (kind != "mldsa_sign" and alike[like] > ALIKE):
            continue
        kept = {key: test[key] for key in test if key in KEPT_LARGE}
        for key in outputs.get(kind, ()):
            if kept.get(key):
                kept[key] = digest(kept[key])
        tests.append(kept)
    return {key: found[key] for key in ("publicKey", "privateSeed") if key in found} | {
        "tests": tests
    }


def main(repository: str) -> None:
    """Write the files."""
    commit = git(repository, "rev-parse", "HEAD").strip()
    for to, names, reduced in (
        ("vectors", FILES, lambda found, _: group(found)),
        ("post-quantum", LARGE_FILES, large_group),
    ):
        files = {}
        for name in names:
            text = git(repository, "show", f"HEAD:testvectors_v1/{name}_test.json")
            files[name] = [reduced(found, name) for found in json.loads(text)["testGroups"]]
        text = json.dumps({"commit": commit, "files": files}, separators=(",", ":"), sort_keys=True)
        packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
        (TO / f"{to}.json.xz").write_bytes(packed)


if __name__ == "__main__":
    main(sys.argv[1])
