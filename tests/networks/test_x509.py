"""Certificates as a device reads them, beside `cryptography`: built, altered, and signed anew."""

import datetime
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

import certificates_header
from dtls13 import X509_FUZZER, X509_HOST, Variant, build
from fuzzers import run_fuzzer
from joulemark.reference.certificates import AUTHORITY, CLIENT, NAMES, SERVER, Parties, der, name_of

PARTIES = Parties("ecdsa-p256")
VARIANT = Variant("ecdh-p256", "ecdsa-p256", macros=(("DTLS13_X509", 1),))
ROLES = {CLIENT: "client", SERVER: "server"}
REFUSED = "refused"
ALTERNATIVE_NAME = bytes.fromhex("0603551d11")
NO_LOG = ("-UDTLS13_KEY_LOG",)
LONGEST = 64


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(VARIANT, tmp_path_factory.mktemp("x509") / "host", *NO_LOG, harness=X509_HOST)


def judged(program: Path, party: int, certificates: Sequence[bytes]) -> list[str]:
    """Return what a device says of each certificate."""
    text = "".join(f"{ROLES[party]} {each.hex()}\n" for each in certificates)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_the_header_is_what_its_tool_writes() -> None:
    assert certificates_header.PATH.read_text() == certificates_header.header()


@pytest.mark.parametrize("party", ROLES)
def test_a_party_s_certificate_is_read(program: Path, party: int) -> None:
    expected = f"{NAMES[party].encode().hex()} {PARTIES.public_key(party).hex()}"
    assert judged(program, party, [der(PARTIES.certificate(party))]) == [expected]


@pytest.mark.parametrize("party", ROLES)
def test_no_bit_may_be_another(program: Path, party: int) -> None:
    right = der(PARTIES.certificate(party))
    wrong = [
        right[:at] + bytes([right[at] ^ 1 << at * 5 % 8]) + right[at + 1 :]
        for at in range(len(right))
    ]
    wrong += [right[:at] for at in range(0, len(right), 9)] + [right + b"\0"]
    assert set(judged(program, party, wrong)) == {REFUSED}


def wrapped(body: bytes) -> bytes:
    """Return a certificate of what is to be signed, whether or not it makes sense."""
    key = PARTIES.secret_key(AUTHORITY)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    signature = key.sign(body, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
    algorithm = bytes.fromhex("300a06082a8648ce3d040302")
    bits = bytes([3, len(signature) + 1, 0]) + signature
    whole = body + algorithm + bits
    return b"\x30\x82" + len(whole).to_bytes(2, "big") + whole


def altered(body: bytes, rng: random.Random) -> bytes:
    """Return a body with one byte changed, put in or left out."""
    at, way = rng.randrange(len(body)), rng.randrange(4)
    byte = bytes([rng.choice([body[at] ^ 1 << rng.randrange(8), rng.randrange(256)])])
    return body[:at] + (b"" if way == 0 else byte) + body[at + (way != 1) :]


def x962(key: object) -> bytes:
    assert isinstance(key, ec.EllipticCurvePublicKey)
    point = serialization.PublicFormat.UncompressedPoint
    return key.public_bytes(serialization.Encoding.X962, point)


@pytest.mark.parametrize("party", ROLES)
def test_what_an_authority_signed_is_read_as_others_read_it(program: Path, party: int) -> None:
    rng = random.Random(party)
    right = PARTIES.certificate(party)
    body = right.tbs_certificate_bytes
    assert wrapped(body) == der(right)
    signed = [wrapped(altered(body, rng)) for _ in range(3000)]
    answers = judged(program, party, signed)
    taken = [(d, a) for d, a in zip(signed, answers, strict=True) if a != REFUSED]
    assert len(taken) > 100  # names, serial numbers, dates, keys
    for each, answer in taken:
        try:
            certificate = x509.load_der_x509_certificate(each)
        except ValueError as error:
            if "Validity" not in str(error):
                raise
            continue  # a device judges no days
        certificate.verify_directly_issued_by(PARTIES.anchor)
        assert certificate.version == x509.Version.v3
        assert certificate.serial_number > 0
        name, key = answer.split()
        if party == SERVER and ALTERNATIVE_NAME not in each:
            continue  # an extension that a device does not read
        assert bytes.fromhex(name).decode() == name_of(certificate)
        try:
            public = x962(certificate.public_key())
        except ValueError:
            continue  # no point of the curve: nobody can prove to have its key
        assert bytes.fromhex(key) == public[1:]


UNKNOWN = x509.UnrecognizedExtension(ObjectIdentifier("1.3.6.1.4.1.32473.1"), b"\x05\x00")
CN, ORGANIZATION = NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME
_OTHER_USAGES = [
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
]


def subject(*attributes: tuple[ObjectIdentifier, str]) -> x509.Name:
    return x509.Name([x509.NameAttribute(oid, value) for oid, value in attributes])


def usage(*, digital_signature: bool) -> x509.KeyUsage:
    others = dict.fromkeys(_OTHER_USAGES, False)
    return x509.KeyUsage(digital_signature=digital_signature, key_agreement=True, **others)


def names(*given: x509.GeneralName) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName(given)


def purposes(*given: ObjectIdentifier) -> x509.ExtendedKeyUsage:
    return x509.ExtendedKeyUsage(given)


A, B = x509.DNSName("a.example"), x509.DNSName("b.example")
MAIL = x509.RFC822Name("a@a.example")
OF_MAIL, OF_SERVER = ExtendedKeyUsageOID.EMAIL_PROTECTION, ExtendedKeyUsageOID.SERVER_AUTH
OF_CLIENT, OF_ANY = ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE
NO_AUTHORITY = x509.BasicConstraints(ca=False, path_length=None)
AN_AUTHORITY = x509.BasicConstraints(ca=True, path_length=None)
EXTENDED: dict[str, tuple[list[tuple[x509.ExtensionType, bool]], str]] = {
    # Extensions of a server's certificate, whether they are critical, and the name that is read.
    "none": ([], REFUSED),
    "a key for signatures": ([(usage(digital_signature=True), True)], "x"),
    "a key that must not sign": ([(usage(digital_signature=False), True)], REFUSED),
    "a server's purpose": ([(purposes(OF_MAIL, OF_SERVER), True)], "x"),
    "any purpose": ([(purposes(OF_ANY), False)], "x"),
    "a client's purpose": ([(purposes(OF_CLIENT), False)], REFUSED),
    "no authority": ([(NO_AUTHORITY, True)], "x"),
    "an authority": ([(AN_AUTHORITY, True)], REFUSED),
    "unknown": ([(UNKNOWN, False)], "x"),
    "unknown and critical": ([(UNKNOWN, True)], REFUSED),
    "a name": ([(names(A), False), (UNKNOWN, False)], "a.example"),
    "two names": ([(names(A, B), False)], REFUSED),
    "a name beside an address": ([(names(MAIL, A), True)], "a.example"),
    "an address alone": ([(names(MAIL), False)], "x"),
}


def signed(extensions: Sequence[tuple[x509.ExtensionType, bool]], **others: object) -> bytes:
    """Return a server's certificate, with what differs from the usual."""
    fields = {
        "serial_number": 7,
        "issuer_name": PARTIES.anchor.subject,
        "not_valid_before": datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
        "not_valid_after": datetime.datetime(2049, 12, 31, tzinfo=datetime.UTC),
        "subject_name": subject((CN, "x")),
        "public_key": PARTIES.secret_key(SERVER).public_key(),
    } | others
    builder = x509.CertificateBuilder()
    for name, value in fields.items():
        builder = getattr(builder, name)(value)
    for extension, is_critical in extensions:
        builder = builder.add_extension(extension, critical=is_critical)
    return der(PARTIES.sign(builder))


def name_read(program: Path, certificate: bytes) -> str:
    (answer,) = judged(program, SERVER, [certificate])
    return answer if answer == REFUSED else bytes.fromhex(answer.split()[0]).decode()


@pytest.mark.parametrize("what", EXTENDED)
def test_extensions(program: Path, what: str) -> None:
    extensions, expected = EXTENDED[what]
    assert name_read(program, signed(extensions)) == expected


FIELDS: dict[str, tuple[dict[str, object], str]] = {
    "an organisation": ({"subject_name": subject((ORGANIZATION, "X"), (CN, "y"))}, "y"),
    "two common names": ({"subject_name": subject((CN, "x"), (CN, "y"))}, REFUSED),
    "no common name": ({"subject_name": subject((ORGANIZATION, "X"))}, REFUSED),
    "another curve": (
        {"public_key": ec.derive_private_key(5, ec.SECP256K1()).public_key()},
        REFUSED,
    ),
    "another issuer": ({"issuer_name": subject((CN, "Another CA"))}, REFUSED),
    "the longest serial number": ({"serial_number": (1 << 159) - 1}, "x"),
    "no expiration": (
        {"not_valid_after": datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)},
        "x",
    ),
}


@pytest.mark.parametrize("what", FIELDS)
def test_fields(program: Path, what: str) -> None:
    others, expected = FIELDS[what]
    assert name_read(program, signed([(UNKNOWN, False)], **others)) == expected


def test_another_authority_of_the_same_name_is_none(program: Path) -> None:
    builder = PARTIES.builder(CLIENT).add_extension(UNKNOWN, critical=False)
    forged = builder.sign(ec.derive_private_key(9, ec.SECP256R1()), hashes.SHA256())
    assert judged(program, CLIENT, [der(forged), der(PARTIES.sign(builder))])[0] == REFUSED


def fuzzer(folder: Path) -> Path:
    """Build the libFuzzer target."""
    options = ("-fsanitize=fuzzer", *NO_LOG)
    return build(VARIANT, folder / "fuzzer", *options, harness=X509_FUZZER)


@pytest.mark.slow
def test_anything_is_read_within_its_bounds(tmp_path: Path) -> None:
    run_fuzzer(fuzzer(tmp_path), 20_000, LONGEST)
