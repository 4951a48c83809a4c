"""Somebody's implementation in mupq's layout is measured as it stands."""

import ctypes
import hashlib
import random
import subprocess
from pathlib import Path

import pytest

from command import joulemark
from joulemark.project import FIRMWARE
from joulemark.records.record import of_primitives
from joulemark.records.store import Store

API = """
#include <stdint.h>
#define CRYPTO_SECRETKEYBYTES 1632
#define CRYPTO_PUBLICKEYBYTES 800
#define CRYPTO_CIPHERTEXTBYTES 768
#define CRYPTO_BYTES 32
int crypto_kem_keypair(uint8_t *pk, uint8_t *sk);
int crypto_kem_enc(uint8_t *ct, uint8_t *ss, const uint8_t *pk);
int crypto_kem_dec(uint8_t *ss, const uint8_t *ct, const uint8_t *sk);
"""
# The project's own, behind the layout's functions. It draws a seed in two parts, and compares the
# hash in a private key with one by the hash interface.
KEM = """
#include <string.h>
#include "api.h"
#include "beside.h"
#include "fips202.h"
#include "randombytes.h"
#define mlkem_keygen own_keygen
#define mlkem_encapsulate own_encapsulate
#define mlkem_decapsulate own_decapsulate
#include "kem/ml-kem/ref/mlkem.c"
int crypto_kem_keypair(uint8_t *pk, uint8_t *sk) {
    uint8_t seed[64], hash[32];
    randombytes(seed, 32);
    randombytes(seed + 32, 32);
    if (own_keygen(pk, sk, seed) != CRYPTO_OK)
        return 1;
    sha3_256(hash, pk, CRYPTO_PUBLICKEYBYTES);
    asm volatile("" ::: "memory");
    return memcmp(hash, sk + CRYPTO_SECRETKEYBYTES - 64, 32);
}
int crypto_kem_enc(uint8_t *ct, uint8_t *ss, const uint8_t *pk) {
    uint8_t m[32];
    randombytes(m, sizeof m);
    return own_encapsulate(ct, ss, pk, m) != CRYPTO_OK;
}
int crypto_kem_dec(uint8_t *ss, const uint8_t *ct, const uint8_t *sk) {
    return own_decapsulate(ss, ct, sk) != CRYPTO_OK;
}
"""


SIGNING_API = """
#include <stddef.h>
#include <stdint.h>
#define CRYPTO_SECRETKEYBYTES 1344
#define CRYPTO_PUBLICKEYBYTES 1312
#define CRYPTO_BYTES 2420
int crypto_sign_keypair(uint8_t *pk, uint8_t *sk);
int crypto_sign_signature(uint8_t *sig, size_t *n, const uint8_t *m, size_t mn, const uint8_t *sk);
int crypto_sign_verify(const uint8_t *sig, size_t n, const uint8_t *m, size_t mn,
                       const uint8_t *pk);
"""
SIGNATURE = """
#include <string.h>
#include "api.h"
#include "randombytes.h"
#define mldsa_keygen own_keygen
#define mldsa_sign own_sign
#define mldsa_verify own_verify
#include "signature/ml-dsa/ref/mldsa.c"
int crypto_sign_keypair(uint8_t *pk, uint8_t *sk) {
    randombytes(sk, 32);
    int status = own_keygen(pk, sk);
    memcpy(sk + 32, pk, CRYPTO_PUBLICKEYBYTES);
    return status;
}
int crypto_sign_signature(uint8_t *sig, size_t *n, const uint8_t *m, size_t mn, const uint8_t *sk) {
    uint8_t rnd[32] = {0};
    DRAW(rnd, sizeof rnd);
    *n = CRYPTO_BYTES;
    return own_sign(sig, sk, sk + 32, rnd, m, mn);
}
int crypto_sign_verify(const uint8_t *sig, size_t n, const uint8_t *m, size_t mn,
                       const uint8_t *pk) {
    return n != CRYPTO_BYTES || own_verify(sig, pk, m, mn);
}
"""


@pytest.fixture
def signing(tmp_path: Path) -> Path:
    folder = tmp_path / "crypto_sign/ml-dsa-44/clean"
    folder.mkdir(parents=True)
    (folder / "api.h").write_text(SIGNING_API)
    (folder / "sign.c").write_text(SIGNATURE.replace("DRAW", "randombytes"))
    return folder


def test_signing_is_measured_with_a_key_that_was_expanded_before(
    signing: Path, tmp_path: Path
) -> None:
    """What signs without drawing gives other signatures than the oracle's."""
    store = str(tmp_path / "s.db")
    asked = ("--board", "nucleo-l4r5zi", "--compiler", "gcc", "--opt", "O2", "--trials", "1")
    run = ("run", "--mupq", str(signing), *asked, "--store", store)
    joulemark(*run)
    with Store(store, "read") as opened:
        cycles = {r.subject.operation: r.cycles for r in of_primitives(opened.records())}
    assert set(cycles) == {"keygen", "sign", "verify"}
    assert all(cycles.values())
    (signing / "sign.c").write_text(SIGNATURE.replace("DRAW", "(void)"))
    told = joulemark(*run, "--operation", "sign", code=6).stderr
    assert "wrong signature" in told
    of = ("--mupq", str(signing), "--primitive", "ml-dsa-44", "--implementation", "mupq*")
    assert "mupq-clean" in joulemark("leaks", *of, *asked[:-2], "--operation", "keygen").stdout
    nowhere = joulemark("leaks", "--mupq", str(tmp_path / "nowhere"), *asked[:2], code=3).stderr
    assert "there is no such folder" in nowhere


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    """A checkout in which a source is a link: what it includes is beside the link."""
    other = tmp_path / "crypto_kem/ml-kem-768/clean"
    folder = tmp_path / "crypto_kem/ml-kem-512/clean"
    for one, text in ((other, "#error another scheme's\n"), (folder, "")):
        one.mkdir(parents=True)
        (one / "beside.h").write_text(text)
    (other / "kem.c").write_text(KEM)
    (folder / "api.h").write_text(API)
    (folder / "kem.c").symlink_to("../../ml-kem-768/clean/kem.c")
    return folder


@pytest.fixture(autouse=True)
def _no_sources_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOULEMARK_SOURCE", "")


def test_it_is_measured_and_verified_as_it_stands(layout: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "s.db")
    asked = ("--board", "nucleo-l4r5zi", "--compiler", "gcc", "--opt", "Os", "--trials", "1")
    joulemark("run", "--mupq", str(layout), *asked, "--store", store)
    with Store(store, "read") as opened:
        records = {r.subject.operation: r for r in of_primitives(opened.records())}
    assert set(records) == {"keygen", "encapsulate", "decapsulate", "reject"}
    for record in records.values():
        assert (record.status, record.subject.implementation) == ("ok", "mupq-clean")
        assert record.subject.primitive == "ml-kem-512"


NATIVE = """
#include <stdint.h>
#include <string.h>
#if MLK_CONFIG_PARAMETER_SET != 256 * MLKEM_K
#error "another parameter set"
#endif
int randombytes(uint8_t *out, size_t length);
#define mlkem_keygen own_keygen
#define mlkem_encapsulate own_encapsulate
#define mlkem_decapsulate own_decapsulate
#include "kem/ml-kem/ref/mlkem.c"
#define JOINED(prefix, name) prefix##_##name
#define NAMED(prefix, name) JOINED(prefix, name)
#define API(name) NAMED(MLK_CONFIG_NAMESPACE_PREFIX, name)
int API(keypair)(uint8_t *pk, uint8_t *sk) {
    uint8_t seed[64];
    randombytes(seed, sizeof seed);
    return own_keygen(pk, sk, seed);
}
int API(enc)(uint8_t *ct, uint8_t *ss, const uint8_t *pk) {
    uint8_t m[32];
    randombytes(m, sizeof m);
    return own_encapsulate(ct, ss, pk, m);
}
int API(dec)(uint8_t *ss, const uint8_t *ct, const uint8_t *sk) {
    return own_decapsulate(ss, ct, sk);
}
"""


def test_a_native_library_is_measured_as_it_comes(tmp_path: Path) -> None:
    """Each variant is built of the one unit, as mlkem-native and mldsa-native are."""
    folder = tmp_path / "native/mlkem"
    folder.mkdir(parents=True)
    (folder / "mlkem_native.c").write_text(NATIVE)
    store = str(tmp_path / "s.db")
    asked = ("--board", "nucleo-l4r5zi", "--compiler", "gcc", "--opt", "O2", "--trials", "1")
    joulemark("run", "--mupq", str(folder), *asked, "--operation", "keygen", "--store", store)
    with Store(store, "read") as opened:
        records = of_primitives(opened.records())
    assert {r.subject.primitive for r in records} == {f"ml-kem-{n}" for n in (512, 768, 1024)}
    assert {(r.status, r.subject.implementation) for r in records} == {("ok", "mlkem-native")}


def test_what_gives_other_outputs_has_no_number(layout: Path, tmp_path: Path) -> None:
    (layout / "kem.c").unlink()
    wrong = KEM.replace("own_decapsulate(ss, ct, sk) != CRYPTO_OK", "memset(ss, 0, 32) == 0")
    (layout / "kem.c").write_text(wrong)
    asked = ("--board", "nucleo-l4r5zi", "--compiler", "gcc", "--opt", "Os", "--trials", "1")
    run = ("run", "--mupq", str(layout), *asked, "--operation", "decapsulate")
    told = joulemark(*run, "--store", str(tmp_path / "s.db"), code=6)
    assert "wrong shared" in told.stderr


def test_what_is_no_implementation_is_refused(layout: Path, tmp_path: Path) -> None:
    unknown = tmp_path / "crypto_kem/ml-kem-500/clean"
    unknown.mkdir(parents=True)
    (unknown / "api.h").touch()
    empty = tmp_path / "crypto_kem/ml-kem-1024/clean"
    empty.mkdir(parents=True)
    (empty / "api.h").touch()
    linked = tmp_path / "crypto_kem/ml-kem-512/linked"
    linked.mkdir(parents=True)
    (linked / "api.h").touch()
    (linked / "macros.i").symlink_to("../away/macros.i")
    for folder, told in [
        (linked, "macros.i is a link to a file that is not there; check out the whole"),
        (layout.parent, "there is no api.h in it; name one of clean"),
        (unknown, "no primitive here is named ml-kem-500"),
        (empty, "there is no source in it"),
    ]:
        said = joulemark("run", "--mupq", str(folder), "--board", "telosb", code=3)
        assert told in " ".join(said.stderr.split()), said.stderr
        assert str(folder) in said.stderr


@pytest.fixture(scope="module")
def interface(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    made = tmp_path_factory.mktemp("fips202") / "fips202.so"
    folders = (FIRMWARE / "mupq", FIRMWARE / "primitives")
    subprocess.run(
        [
            *("cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"),
            *(f"-I{folder}" for folder in folders),
            *(FIRMWARE / "mupq/fips202.c", "-o", made),
        ],
        check=True,
    )
    return ctypes.CDLL(str(made))


@pytest.mark.parametrize(
    ("name", "rate"),
    [("shake128", 168), ("shake256", 136), ("sha3_256", 136), ("sha3_384", 104), ("sha3_512", 72)],
)
def test_the_hash_interface_is_fips_202(interface: ctypes.CDLL, name: str, rate: int) -> None:
    """Whole and in pieces, at every length around a block's end; against CPython's hashlib."""
    source = random.Random(name)
    is_shake = name.startswith("shake")
    for length in (0, 1, rate - 1, rate, rate + 1, 2 * rate, 500):
        message = source.randbytes(length)
        oracle = hashlib.new(name, message)
        size = 3 * rate if is_shake else oracle.digest_size
        expected = oracle.digest(size) if is_shake else oracle.digest()  # type: ignore[call-arg]
        out, state = ctypes.create_string_buffer(size), ctypes.create_string_buffer(26 * 8)
        sized = (ctypes.c_size_t(size),) if is_shake else ()
        getattr(interface, name)(out, *sized, message, ctypes.c_size_t(length))
        assert out.raw == expected
        getattr(interface, f"{name}_inc_init")(state)
        at = source.randrange(length + 1)
        for part in (message[:at], message[at:]):
            getattr(interface, f"{name}_inc_absorb")(state, part, ctypes.c_size_t(len(part)))
        copy = ctypes.create_string_buffer(26 * 8)
        getattr(interface, f"{name}_inc_ctx_clone")(copy, state)
        if not is_shake:
            getattr(interface, f"{name}_inc_finalize")(out, copy)
            assert out.raw == expected
            continue
        getattr(interface, f"{name}_inc_finalize")(copy)
        given = b""
        for count in (1, rate - 1, rate, rate):
            piece = ctypes.create_string_buffer(count)
            getattr(interface, f"{name}_inc_squeeze")(piece, ctypes.c_size_t(count), copy)
            given += piece.raw
        assert given == expected
        getattr(interface, f"{name}_absorb")(state, message, ctypes.c_size_t(length))
        getattr(interface, f"{name}_squeezeblocks")(out, ctypes.c_size_t(3), state)
        assert out.raw == expected
