"""Certificates of the parties that device programs are, the same bytes each time.

Their secret keys are published and protect nothing: a byte 32 times, 1 for the client, 2 for the
server, and 3 for the authority that signs both certificates. The certificates are as small as
RFC 7925, section 4.4, allows: a name, a key, and what the key is for.
"""

import datetime
import hashlib
from dataclasses import dataclass
from functools import cached_property

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import NameOID

from joulemark.errors import VerificationError

CLIENT, SERVER, AUTHORITY = 1, 2, 3
NAMES = {CLIENT: "02-00-00-FF-FE-00-00-01", SERVER: "server.example", AUTHORITY: "Joulemark CA"}
"""A device is called by its EUI-64, a server by its domain (RFC 7925, section 4.4)."""
_SINCE = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
_UNTIL = datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)
"""No well-defined expiration (RFC 5280, section 4.1.2.5): a device has no clock."""

SecretKey = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


@dataclass(frozen=True)
class Parties:
    """A client, a server and their authority, with keys of one kind."""

    scheme: str
    """`ecdsa-p256` or `ed25519`."""

    def secret_key(self, party: int) -> SecretKey:
        """Return a party's key."""
        secret = bytes([party]) * 32
        if self.scheme == "ed25519":
            return ed25519.Ed25519PrivateKey.from_private_bytes(secret)
        return ec.derive_private_key(int.from_bytes(secret, "big"), ec.SECP256R1())

    def public_key(self, party: int) -> bytes:
        """Return what a device keeps of a key: the two numbers of a point, or Ed25519's bytes."""
        public = self.secret_key(party).public_key()
        if isinstance(public, ed25519.Ed25519PublicKey):
            return public.public_bytes_raw()
        point = serialization.PublicFormat.UncompressedPoint
        return public.public_bytes(serialization.Encoding.X962, point)[1:]

    def sign(self, builder: x509.CertificateBuilder) -> x509.Certificate:
        """Return a certificate that the authority signs; ECDSA as RFC 6979 says."""
        key = self.secret_key(AUTHORITY)
        if isinstance(key, ed25519.Ed25519PrivateKey):
            return builder.sign(key, None)
        return builder.sign(key, hashes.SHA256(), ecdsa_deterministic=True)

    def builder(self, party: int) -> x509.CertificateBuilder:
        """Return a party's certificate, unsigned and without extensions."""
        serial = int.from_bytes(hashlib.sha256(NAMES[party].encode()).digest()[:8], "big") >> 1
        return (
            x509.CertificateBuilder()
            .serial_number(serial)
            .issuer_name(_named(AUTHORITY))
            .not_valid_before(_SINCE)
            .not_valid_after(_UNTIL)
            .subject_name(_named(party))
            .public_key(self.secret_key(party).public_key())
        )

    def certificate(self, party: int) -> x509.Certificate:
        """Return a party's certificate."""
        made = self.builder(party)
        is_authority = party == AUTHORITY
        usage = x509.KeyUsage(
            digital_signature=not is_authority,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=is_authority,
            crl_sign=False,
            encipher_only=False,
            decipher_only=False,
        )
        made = made.add_extension(usage, critical=True)
        if is_authority:
            made = made.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        elif party == SERVER:
            name = x509.DNSName(NAMES[SERVER])
            made = made.add_extension(x509.SubjectAlternativeName([name]), critical=False)
        return self.sign(made)

    @cached_property
    def anchor(self) -> x509.Certificate:
        """The authority's own certificate."""
        return self.certificate(AUTHORITY)


def _named(party: int) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAMES[party])])


def der(certificate: x509.Certificate) -> bytes:
    """Return a certificate as it is sent."""
    return certificate.public_bytes(serialization.Encoding.DER)


def name_of(certificate: x509.Certificate) -> str:
    """Return whom a certificate is of: its dNSName, or else its subject's commonName.

    Raises:
        VerificationError: there is none, or several.
    """
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        names = found.value.get_values_for_type(x509.DNSName)
    except x509.ExtensionNotFound:
        names = []
    if not names:
        of = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        names = [str(each.value) for each in of]
    if len(names) != 1:
        raise VerificationError(f"a certificate has {len(names)} names")
    return names[0]
