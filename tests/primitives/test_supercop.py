"""Somebody's implementation in SUPERCOP's layout is measured as it stands."""

import subprocess
import sys
from pathlib import Path

import pytest

from command import joulemark
from joulemark.project import ROOT
from joulemark.records.record import of_primitives
from joulemark.records.store import Store

BOARD = ("--board", "stm32vldiscovery", "--compiler", "gcc", "--opt", "Os", "--trials", "1")
AEAD_API = """
#define CRYPTO_KEYBYTES 16
#define CRYPTO_NSECBYTES 0
#define CRYPTO_NPUBBYTES 16
#define CRYPTO_ABYTES 16
#define CRYPTO_NOOVERLAP 1
"""
# The project's own, behind the layout's functions; it needs the headers of its kind.
AEAD = """
#if __has_include("aead.h")
#include <string.h>
#include "api.h"
#include "crypto_aead.h"
#include "aead/ascon-aead128/ref/ascon_aead128.h"
#define ascon_aead128_init own_init
#define ascon_aead128_encrypt own_encrypt
#define ascon_aead128_decrypt own_decrypt
#include "aead/ascon-aead128/ref/ascon_aead128.c"
#include "permutation/ascon-p-ref.c"
int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen, const unsigned char *m,
                        unsigned long long mlen, const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k) {
    ascon_aead128_ctx ctx;
    own_init(&ctx, k);
    aead_message job = {npub, 16, ad, adlen, m, c, mlen, c + mlen, 16};
    *clen = mlen + 16;
    return own_encrypt(&ctx, &job);
}
int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen, unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen, const unsigned char *ad,
                        unsigned long long adlen, const unsigned char *npub,
                        const unsigned char *k) {
    ascon_aead128_ctx ctx;
    uint8_t tag[16];
    own_init(&ctx, k);
    memcpy(tag, c + clen - 16, 16);
    aead_message job = {npub, 16, ad, adlen, c, m, clen - 16, tag, 16};
    *mlen = clen - 16;
    return own_decrypt(&ctx, &job);
}
#endif
"""
HASH_API = "#define CRYPTO_BYTES 32\n"
HASH = """
#if __has_include("hash.h")
#include "api.h"
#include "crypto_hash.h"
#include "hash/ascon-hash256/ascon-hash256-sponge.h"
#define ascon_hash256_init own_hash_init
#define ascon_hash256_update own_hash_update
#define ascon_hash256_final own_hash_final
#include "hash/ascon-hash256/ref/ascon_hash256.c"
#include "permutation/ascon-p-ref.c"
int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen) {
    ascon_hash256_ctx ctx;
    own_hash_init(&ctx);
    own_hash_update(&ctx, in, inlen);
    own_hash_final(&ctx, out);
    return 0;
}
#endif
"""
MAC = """
#include "api.h"
#include "FUNCTION.h"
#include "crypto_uint8.h"
#include "crypto_verify_8.h"
#include "HEADER"
#define NAME_init own_init
#define NAME_update own_update
#define NAME_final own_final
#include "mac/NAME/ref/NAME.c"
int FUNCTION(unsigned char *out, const unsigned char *in, unsigned long long inlen,
             const unsigned char *k) {
    NAME_ctx ctx;
    own_init(&ctx, k, CRYPTO_KEYBYTES);
    own_update(&ctx, in, inlen);
    own_final(&ctx, out);
    crypto_uint8 other[8];
    for (int i = 0; i < 8; i++)
        other[i] = out[i];
    out[7] ^= crypto_verify_8(out, other) != 0;
    other[7] ^= 0x80;
    out[7] ^= crypto_verify_8(out, other) != -1;
    return 0;
}
"""
STREAM = """
#include "api.h"
#include "crypto_stream.h"
#include "stream-cipher/chacha20/chacha20.h"
#define chacha20_init own_init
#define chacha20_encrypt own_encrypt
#include "stream-cipher/chacha20/ref/chacha20.c"
int crypto_stream_xor(unsigned char *c, const unsigned char *m, unsigned long long mlen,
                      const unsigned char *n, const unsigned char *k) {
    chacha20_ctx ctx;
    own_init(&ctx, k, n);
    own_encrypt(&ctx, c, m, mlen);
    return 0;
}
"""


@pytest.fixture(autouse=True)
def _no_sources_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOULEMARK_SOURCE", "")


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    """NIST's names of algorithms have no hyphens, and versions."""
    folder = tmp_path / "crypto_aead/asconaead128v13/Opt_32"
    return written(folder, api_h=AEAD_API, encrypt_c=AEAD)


def measured(folder: Path, tmp_path: Path, *more: str) -> dict[tuple[str, str, str], set[int]]:
    """Return the lengths of messages by primitive, implementation and operation."""
    store = tmp_path / "s.db"
    joulemark("run", "--supercop", str(folder), *BOARD, *more, "--store", str(store))
    found: dict[tuple[str, str, str], set[int]] = {}
    with Store(str(store), "read") as opened:
        for record in of_primitives(opened.records()):
            assert record.status == "ok"
            assert record.cycles
            subject = record.subject
            key = (subject.primitive, subject.implementation, subject.operation)
            found.setdefault(key, set()).add(subject.message_bytes)
    return found


def test_it_is_measured_and_verified_as_it_stands(layout: Path, tmp_path: Path) -> None:
    found = measured(layout, tmp_path, "--size", "0", "--size", "17", "--size", "1008")
    name = ("ascon-aead128", "supercop-asconaead128v13-opt-32")
    assert found == {(*name, "encrypt"): {0, 17, 1008}, (*name, "decrypt"): {0, 17, 1008}}
    too_long = said(layout, "--size", "1009")
    assert "takes message + tag_bytes up to 1024 bytes" in too_long
    asked = ("--primitive", "ascon-aead128", "--implementation", "supercop*", *BOARD[:-2])
    told = joulemark("leaks", "--supercop", str(layout), *asked, "--operation", "encrypt").stdout
    assert "supercop-asconaead128v13-opt-32" in told


@pytest.mark.parametrize(
    ("as_it_is", "other", "failure"),
    [
        ("memcpy(tag, c + clen - 16, 16);", "memcpy(tag, c, 16);", "ended with BAD_TAG"),
        ("c, mlen, c + mlen, 16}", "c + 16, mlen, c, 16}", "wrong output"),
        ("*clen = mlen + 16;", "*clen = mlen;", "returned an error, or wrote another length"),
        ("return own_encrypt(&ctx, &job);", "return -5;", "returned an error, or wrote another"),
        (
            "return own_decrypt(&ctx, &job);",
            "own_decrypt(&ctx, &job);\n    return 0;",
            "altered tag",
        ),
        (
            "*clen = mlen + 16;",
            "*clen = mlen + 16;\n    c[mlen + 20] = 0;",
            "it writes behind its output: byte 21 after the end",
        ),
    ],
)
def test_what_gives_other_outputs_has_no_number(
    layout: Path, tmp_path: Path, as_it_is: str, other: str, failure: str
) -> None:
    """Tags before ciphertexts, a length without its tag, errors, no look at a tag or at ends."""
    assert as_it_is in AEAD
    written(layout, encrypt_c=AEAD.replace(as_it_is, other))
    run = ("run", "--supercop", str(layout), *BOARD, "--size", "16")
    told = joulemark(*run, "--store", str(tmp_path / "s.db"), code=6).stderr
    assert failure in told


def test_a_folder_of_two_is_what_it_is_asked_as(layout: Path, tmp_path: Path) -> None:
    written(layout, api_h=AEAD_API + HASH_API, hash_c=HASH)
    sized = ("--size", "17")
    found = measured(layout, tmp_path, *sized, "--as", "ascon-hash256")
    assert found == {("ascon-hash256", "supercop-asconaead128v13-opt-32", "hash"): {17}}
    of_both = measured(layout, tmp_path, *sized)
    assert {primitive for primitive, *_ in of_both} == {"ascon-hash256", "ascon-aead128"}


@pytest.mark.parametrize(
    ("folder", "sizes", "text", "algorithm"),
    [
        (
            "crypto_auth/siphash24/moon/32",
            {"KEY": 16, "": 8},
            MAC.replace("FUNCTION", "crypto_auth")
            .replace("NAME", "siphash")
            .replace("HEADER", "mac/siphash/siphash.h"),
            "siphash-2-4",
        ),
        (
            "crypto_onetimeauth/poly1305/ref",
            {"KEY": 32, "": 16},
            MAC.replace("FUNCTION", "crypto_onetimeauth")
            .replace("NAME", "poly1305")
            .replace("HEADER", "mac/poly1305/ref/poly1305.h"),
            "poly1305",
        ),
        ("crypto_stream/chacha20/ref", {"KEY": 32, "NONCE": 12}, STREAM, "chacha20"),
    ],
)
def test_macs_and_stream_ciphers_are_measured(
    tmp_path: Path, folder: str, sizes: dict[str, int], text: str, algorithm: str
) -> None:
    api = "".join(f"#define CRYPTO_{name}BYTES {size}\n" for name, size in sizes.items())
    found = measured(written(tmp_path / folder, api_h=api, own_c=text), tmp_path, "--size", "17")
    name = "supercop-" + "-".join(folder.split("/")[1:])
    assert {(primitive, way) for primitive, way, _ in found} == {(algorithm, name)}
    assert set(found.popitem()[1]) == {17}


def test_an_error_of_what_has_no_length_gives_no_number(layout: Path, tmp_path: Path) -> None:
    folder = tmp_path / "crypto_hash/asconhash256/ref"
    for returned in (1, -1):
        text = HASH.replace("return 0;", f"return {returned};")
        written(folder, api_h=HASH_API, hash_c=text)
        told = said(folder, "--size", "17", code=6)
        assert f"its function returned {returned}, an error" in told
        assert "wrong output" not in told


def test_what_allocates_memory_is_told_that_there_is_none(layout: Path) -> None:
    code = "#include <stdlib.h>\n" + AEAD.replace(
        "*clen = mlen + 16;",
        "*clen = mlen + 16;\n    void *volatile own = malloc(mlen + 1);\n    free(own);",
    )
    written(layout, encrypt_c=code)
    told = said(layout, "--size", "17", code=6)
    assert "it allocates memory (malloc or the like), and there is no heap" in told
    assert "_sbrk" not in told


def test_folders_of_one_name_stay_apart(layout: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "mine/asconaead128/Opt_32", api_h=AEAD_API, encrypt_c=AEAD)
    asked = ("--size", "17", "--operation", "encrypt", "--supercop", str(other))
    found = measured(layout, tmp_path, *asked)
    assert {way for _, way, _ in found} == {
        "supercop-asconaead128v13-opt-32",
        "supercop-asconaead128-opt-32",
    }


def said(folder: Path, *more: str, code: int = 3) -> str:
    run = ("run", "--supercop", str(folder), *BOARD, *more)
    store = ("--store", str(folder.parent / "refused.db"))
    return " ".join(joulemark(*run, *store, code=code).stderr.split())


def test_what_is_no_implementation_is_refused(layout: Path, tmp_path: Path) -> None:
    api = layout / "api.h"
    for change, told in [
        (("CRYPTO_NSECBYTES 0", "CRYPTO_NSECBYTES 8"), "CRYPTO_NSECBYTES is 8, and no primitive"),
        (("CRYPTO_NPUBBYTES 16", "CRYPTO_NPUBBYTES 12"), "but ascon-aead128 has nonce_bytes 16"),
        (("#define CRYPTO_ABYTES 16", ""), "there is no CRYPTO_ABYTES; an AEAD needs"),
    ]:
        api.write_text(AEAD_API.replace(*change))
        assert told in said(layout)
    api.write_text(AEAD_API)
    for more, told in [
        (
            ("--as", "ascon-128"),
            "--as: no primitive that comes in such a layout is named ascon-128",
        ),
        (("--as", "aes-128-gcm"), "is named aes-128-gcm"),
        (("--as", "ascon-hash256"), "needs crypto_hash, which no file in it has; it has an algor"),
    ]:
        assert told in said(layout, *more)
    lone = joulemark("run", "--as", "ascon-aead128", "--board", "telosb", code=3).stderr
    assert "--as: names the algorithm of --supercop; give --supercop FOLDER" in lone
    other = written(tmp_path / "crypto_aead/asconaead80/ref", api_h=AEAD_API, encrypt_c=AEAD)
    assert "say which it is by --as ALGORITHM; did you mean ascon-aead128" in said(other)
    assert "there is no api.h in it; name one of Opt_32" in said(layout.parent)
    assert "encrypt.c: is a file; name the folder that has api.h" in said(layout / "encrypt.c")
    left_out = said(layout, "--primitive", "aes-128")
    assert "--primitive: leaves out the algorithm of --supercop" in left_out
    assert "there is no such folder" in said(layout / "ref")
    (layout / "encrypt.c").unlink()
    assert "there is no source in it" in said(layout)


def test_sizes_that_the_compiler_knows_are_compared(layout: Path) -> None:
    written(layout, api_h=AEAD_API.replace("CRYPTO_ABYTES 16", "CRYPTO_ABYTES (8 + 4)"))
    assert "primitive.toml says 16 for tag_bytes" in said(layout, code=6)


def test_code_for_another_core_is_refused_or_told(layout: Path, tmp_path: Path) -> None:
    machines = layout / "architectures"
    machines.write_text("aarch64\narmeabi\narm\n")
    found = measured(layout, tmp_path, "--size", "17", "--operation", "encrypt")
    assert set(found) == {("ascon-aead128", "supercop-asconaead128v13-opt-32", "encrypt")}
    elsewhere = ("run", "--supercop", str(layout), "--board", "telosb")
    told = joulemark(*elsewhere, "--store", str(tmp_path / "t.db"), code=3).stderr
    assert "no implementation of ascon-aead128 is for telosb" in told
    machines.write_text("amd64\nx86\n")
    assert "it is for amd64, x86, and no board here is" in said(layout)
    other = written(layout.parent / "avr", api_h=AEAD_API, encrypt_c=AEAD, round_S="ldi r16, 1\n")
    told = said(other, "--size", "16", code=6)
    assert "round.S" in told
    assert "its assembly may be for another core than stm32vldiscovery's" in told


def test_the_bench_puts_it_beside_ours(layout: Path, tmp_path: Path) -> None:
    """Ours is not slower than its portable code, and what gives no figure is told."""
    wrong = written(tmp_path / "wrong", api_h=AEAD_API, encrypt_c=AEAD.replace("+ 16;", ";"))
    bench = [sys.executable, str(ROOT / "benches/beside.py"), "--board", "stm32vldiscovery"]
    done = subprocess.run(
        [*bench, str(layout), f"{wrong}=ascon-aead128"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    row = next(line for line in done.stdout.splitlines() if line.startswith("| `ascon-aead128`"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:3] == ["`armv7m`", "16 bytes"]
    assert "asconaead128v13, `Opt_32`" in cells[-1]
    for ours, theirs, ratio in (cells[3:6], cells[7:10]):
        fraction = int(ours.replace(",", "")) / int(theirs.replace(",", ""))
        assert float(ratio) == pytest.approx(fraction, abs=0.01)
        assert fraction < 1
    assert "Behind" not in done.stdout
    assert "no figure: stm32vldiscovery:" in done.stderr
    assert "returned an error, or wrote another length" in done.stderr
