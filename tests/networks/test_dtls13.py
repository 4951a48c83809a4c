"""DTLS 1.3 between two sides of ours, with sanitizers, beside an independent witness."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from dtls13 import FUZZER, LABEL, Seen, Variant, build, counts, run, witnessed
from fuzzers import run_fuzzer
from joulemark.errors import VerificationError
from joulemark.reference.dtls13 import ACK, APPLICATION_DATA, HANDSHAKE, VERIFY

PSK = Variant("none")
LONG_TAG = (("DTLS13_TAG_BYTES", 16),)
PSK_X25519 = Variant("x25519", macros=(("DTLS13_COOKIE", 1), *LONG_TAG), suite="gcm")
PSK_P256 = Variant("ecdh-p256")
RPK_ED25519 = Variant("x25519", "ed25519")
RPK_P256 = Variant("ecdh-p256", "ecdsa-p256")
X509_P256 = Variant("ecdh-p256", "ecdsa-p256", macros=(("DTLS13_X509", 1),))
X509_ED25519 = Variant("x25519", "ed25519", macros=(("DTLS13_X509", 1),))
VARIANTS = {
    "psk": PSK,
    "psk-x25519": PSK_X25519,
    "psk-p256": PSK_P256,
    "rpk-ed25519": RPK_ED25519,
    "rpk-p256": RPK_P256,
    "x509-p256": X509_P256,
}
MLKEM_768 = (("MLKEM_K", 3), ("MLKEM_ETA1", 2), ("MLKEM_DU", 10), ("MLKEM_DV", 4))
HYBRID = Variant("x25519mlkem768", macros=(*MLKEM_768, ("DTLS13_MESSAGE_BYTES", 1472), *LONG_TAG))
TAG_BYTES = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dtls13")


@pytest.fixture(scope="module", params=VARIANTS)
def built(request: pytest.FixtureRequest, folder: Path) -> tuple[Variant, Path]:
    variant = VARIANTS[request.param]
    return variant, build(variant, folder / request.param)


def seen_by_witness(built: tuple[Variant, Path], **options: int) -> Seen:
    variant, program = built
    return witnessed(variant, run(program, show=1, **options))


@pytest.mark.parametrize(
    "options",
    [
        {"cid": 1},
        {"cid": 0, "sequence": 2},
        {"mtu": 110, "loss": 10, "repeat": 10, "delay": 100, "cid": 1, "seed": 7},
    ],
    ids=["connection identifiers", "long record numbers", "fragments, lost and late"],
)
def test_every_byte_is_the_witness_s(built: tuple[Variant, Path], options: dict[str, int]) -> None:
    if built[0].macro("DTLS13_COOKIE") and "mtu" in options:
        options = options | {"mtu": 250}  # no cookie for a ClientHello in pieces: nothing is kept
    seen = seen_by_witness(built, records=3, **options)
    assert seen.witness.finished == {"client", "server"}
    assert seen.keys == [seen.witness.export(LABEL)] * 2
    data = [r for r in seen.records if r.type == APPLICATION_DATA]
    assert {r.content[:2] for r in data} == {bytes([s, i]) for s in b"cs" for i in range(3)}


def test_a_witness_refuses_what_is_altered(built: tuple[Variant, Path]) -> None:
    variant, program = built
    lines = run(program, show=1, records=1)
    sent = [i for i, line in enumerate(lines) if line.split()[0] in ("client", "server")]
    for number in sent:
        side, text = lines[number].split()
        data = bytearray.fromhex(text)
        data[-1] ^= 1
        with pytest.raises(VerificationError):
            witnessed(variant, [*lines[:number], f"{side} {data.hex()}", *lines[number + 1 :]])


def test_all_conversations_end_well_on_a_lossy_link(built: tuple[Variant, Path]) -> None:
    count = 100 if built[0] == PSK else 20
    harsh = {"loss": 20, "repeat": 10, "delay": 200, "count": count, "cid": 1}
    # No cookie for a ClientHello in pieces; a flight has 16 pieces at most.
    narrow = 250 if built[0].macro("DTLS13_COOKIE") else 110 if built[0] == X509_P256 else 90
    for mtu in (narrow, 1200):
        assert counts(run(built[1], mtu=mtu, **harsh))["failed"] == 0


def test_what_is_kept_is_not_sent_again(folder: Path) -> None:
    """Where records overtake others, and all arrive."""
    keeps = replace(X509_P256, macros=(*X509_P256.macros, ("DTLS13_EARLY_BYTES", 400)))
    made = []
    for variant, name in ((X509_P256, "x509-p256"), (keeps, "x509-p256-keeps")):
        program = folder / name
        if not program.is_file():
            build(variant, program)
        late = run(program, mtu=300, delay=20, count=20, records=0)
        assert counts(late)["failed"] == 0
        made.append(counts(late)["datagrams"])
    assert made[1] < 0.9 * made[0]
    narrow = {"mtu": 110, "loss": 10, "repeat": 10, "delay": 100, "cid": 1, "records": 3}
    seen = seen_by_witness((keeps, program), **narrow, seed=7)
    assert seen.witness.finished == {"client", "server"}
    assert counts(run(program, **narrow, count=20))["failed"] == 0
    altered = {"alter": 100, "plain": 0, "records": 20, "repeat": 20, "delay": 100, "mtu": 200}
    assert counts(run(program, **altered, count=10))["failed"] == 0


def test_nothing_altered_is_accepted(built: tuple[Variant, Path]) -> None:
    count = 300 if built[0] == PSK else 10
    lines = run(built[1], alter=100, plain=0, records=20, count=count, repeat=20, delay=100)
    # What is encrypted cannot even be hindered; a plain message can be forged, and then the sides
    # do not agree on keys, or one refuses.
    assert counts(lines)["failed"] == 0
    run(built[1], alter=100, records=3, count=count)


def test_a_certificate_of_another_name_is_refused(folder: Path) -> None:
    program = folder / "x509-p256"
    if not program.is_file():
        build(X509_P256, program)
    assert counts(run(program, count=2, stranger=1))["connected"] == 0


DRAFT = {
    # Figures of draft-ietf-iotops-security-protocol-comparison with CCM_8: variant, connection
    # identifier, the three flights.
    "psk": (PSK, 1, (136, 153, 56)),
    "psk-p256": (PSK_P256, 1, (219, 226, 56)),
    "rpk-p256": (RPK_P256, 1, (185, 454, 255)),
    "psk, no identifier": (PSK, 0, (130, 146, 55)),
    "psk-p256, no identifier": (PSK_P256, 0, (213, 219, 55)),
    "rpk-p256, no identifier": (RPK_P256, 0, (179, 447, 254)),
    "rpk-ed25519, no identifier": (RPK_ED25519, 0, (146, 360, 200)),
}
CERTIFICATES = {
    # Of which the draft has none by value: docs/dtls.md.
    "x509-p256": (X509_P256, 1, (173, 696, 490)),
    "x509-p256, no identifier": (X509_P256, 0, (167, 689, 489)),
}
SELECTED_TYPES = 2
"""The draft gives the server's two choices of a certificate type a length byte each. RFC 7250,
section 3, has a list in the client's extensions only."""
MEAN_SIGNATURE_BYTES = 75
"""The draft's CertificateVerify with ECDSA: the DER of two numbers has a varying length."""
ACK_BYTES = 29
"""The server acknowledges the last flight (RFC 9147, section 7.1); the draft leaves that out."""


@pytest.mark.parametrize("name", DRAFT | CERTIFICATES)
def test_bytes_of_the_draft(name: str, folder: Path) -> None:
    variant, cid, expected = (DRAFT | CERTIFICATES)[name]
    program = folder / next(key for key, each in VARIANTS.items() if each == variant)
    if not program.is_file():
        build(variant, program)
    seen = seen_by_witness((variant, program), cid=cid, records=0)
    sizes = [size for _, size in seen.flights]
    if variant.credential == "ecdsa-p256":
        for record in seen.records:
            sizes[1 if record.sender == "server" else 2] += sum(
                MEAN_SIGNATURE_BYTES - len(m.part) for m in record.messages if m.type == VERIFY
            )
    if variant in (RPK_P256, RPK_ED25519):
        sizes[1] += SELECTED_TYPES
    assert tuple(sizes[:3]) == expected
    assert sizes[3:] == [ACK_BYTES + cid]
    assert seen.records[-1].type == ACK


def test_bytes_a_record(folder: Path) -> None:
    program = folder / "psk"
    if not program.is_file():
        build(PSK, program)
    for cid in (0, 1):
        seen = seen_by_witness((PSK, program), cid=cid, records=12)
        data = [r for r in seen.records if r.type == APPLICATION_DATA]
        # The mask of record numbers needs 16 bytes of ciphertext (RFC 9147, section 4.2.3): short
        # data is padded, which the draft does not count.
        assert all(r.padding == max(0, 16 - TAG_BYTES - 1 - len(r.content)) for r in data)
        assert {r.size - len(r.content) - r.padding for r in data} == {11 + cid}


def test_a_hybrid_exchange_in_fragments(tmp_path: Path) -> None:
    program = build(HYBRID, tmp_path / "hybrid")
    seen = witnessed(HYBRID, run(program, show=1, cid=1, mtu=1232))
    assert seen.witness.finished == {"client", "server"}
    assert seen.keys == [seen.witness.export(LABEL)] * 2
    assert counts(run(program, mtu=400, loss=10, delay=50, count=20))["failed"] == 0


def test_a_cookie_makes_the_handshake_longer(folder: Path) -> None:
    program = folder / "psk-x25519"
    if not program.is_file():
        build(PSK_X25519, program)
    seen = seen_by_witness((PSK_X25519, program), records=0)
    names = [m.name for r in seen.records if r.type == HANDSHAKE for m in r.messages]
    assert names[:4] == ["ClientHello", "ServerHello", "ClientHello", "ServerHello"]


LONGEST = 400


def fuzzer(variant: Variant, folder: Path) -> Path:
    """Build the libFuzzer target of a variant."""
    options = ("-fsanitize=fuzzer", "-UDTLS13_KEY_LOG")
    return build(variant, folder / "fuzzer", *options, harness=FUZZER)


@pytest.mark.slow
def test_no_datagram_but_the_peer_s_is_taken(tmp_path: Path) -> None:
    run_fuzzer(fuzzer(PSK, tmp_path), 20_000, LONGEST)


WOLFSSL = os.environ.get("JOULEMARK_WOLFSSL", "")
"""A folder with wolfSSL's library and headers; docs/dtls.md has its settings."""


def build_with_wolfssl(variant: Variant, to: Path) -> Path:
    """Compile the harness with wolfSSL."""
    options = ["-DWITH_WOLFSSL", "-DWOLFSSL_USER_SETTINGS", f"-isystem{WOLFSSL}/include"]
    return build(variant, to, *options, f"{WOLFSSL}/libwolfssl.a", "-lm")


@pytest.mark.skipif(not WOLFSSL, reason="JOULEMARK_WOLFSSL names no folder: docs/dtls.md")
@pytest.mark.parametrize("name", ["psk", "psk-x25519", "psk-p256", "rpk-p256", "x509-p256"])
def test_conversations_with_wolfssl(name: str, tmp_path: Path) -> None:
    program = build_with_wolfssl(VARIANTS[name], tmp_path / name)
    for role in ("client", "server"):
        for loss in (0, 10):
            lossy = {"count": 50, "loss": loss, "delay": 20, "repeat": loss, "cid": 1}
            lines = run(program, **{role: "wolfssl"}, **lossy)
            assert counts(lines)["failed"] == 0, f"wolfSSL is the {role}"
