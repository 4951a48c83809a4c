"""Captures of secure protocols, which others decrypt with the keys that are written beside them."""

import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from typer.testing import CliRunner

from joulemark.cli import app
from joulemark.errors import InputError

BOARD = "openmote-cc2538"
REQUEST, RESPONSE = b"0123456789012345", b"ABCDEFGHIJKLMNOP"


def captured(protocol: str, folder: Path) -> Path:
    path = folder / f"{protocol}.pcapng"
    told = ["--protocol", protocol, "--board", BOARD, "--pcap", str(path)]
    done = CliRunner().invoke(app, ["handshake", *told])
    assert done.exit_code == 0, done.output
    return path


def tshark(capture: Path, *options: str) -> list[list[str]]:
    """Return the fields of each packet that tshark shows."""
    command = ["tshark", "-r", str(capture), "-T", "fields", "-E", "aggregator=,", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.parametrize("protocol", ["edhoc-3-2", "oscore"])
def test_tshark_decrypts_oscore_with_the_context(protocol: str, tmp_path: Path) -> None:
    capture = captured(protocol, tmp_path)
    (context,) = capture.with_name(f"{capture.name}.oscore").read_text().splitlines()
    shown = ("-Y", "oscore", "-e", "udp.length", "-e", "data.data")
    rows = tshark(capture, "-o", f"uat:oscore_contexts:{context}", *shown)
    texts = [row[1].replace(":", "") for row in rows]
    assert sum(REQUEST.hex() in text for text in texts) == 2 + (protocol == "oscore")
    assert sum(RESPONSE.hex() in text for text in texts) == 2
    sealed = [row[1] for row in tshark(capture, *shown)]
    assert not any(REQUEST.hex() in text.replace(":", "") for text in sealed)
    # What the draft counts: above UDP, without the plain message; a token of a byte, a path of one.
    overheads = {int(row[0]) - 8 - len(REQUEST) for row in rows[-2:]}
    assert overheads == {(14 if protocol == "edhoc-3-2" else 13) + 8, 11 + 6}


def expand(secret: bytes, label: str, length: int) -> bytes:
    """RFC 8446, section 7.1, with RFC 9147's prefix."""
    name = b"dtls13" + label.encode()
    info = length.to_bytes(2) + bytes([len(name)]) + name + b"\0"
    return HKDFExpand(SHA256(), length, info).derive(secret)


def opened(record: bytes, secret: bytes) -> bytes:
    """Decrypt a record with a connection identifier, an 8-bit number and no length."""
    assert record[0] & 0b1111_1100 == 0b0011_0000
    text, head = record[3:], bytearray(record[:3])
    ecb = Cipher(algorithms.AES(expand(secret, "sn", 16)), modes.ECB()).encryptor()  # noqa: S305
    head[2] ^= ecb.update(text[:16])[0]
    iv = expand(secret, "iv", 12)
    nonce = iv[:-1] + bytes([iv[-1] ^ head[2]])
    key = AESCCM(expand(secret, "key", 16), tag_length=8)
    return key.decrypt(nonce, text, bytes(head)).rstrip(b"\0")


def test_dtls_is_decrypted_with_the_key_log(tmp_path: Path) -> None:
    """Not by tshark, whose version 4.0 does not decrypt DTLS 1.3; it finds the datagrams."""
    capture = captured("dtls13-psk", tmp_path)
    log = capture.with_name(f"{capture.name}.keylog").read_text().splitlines()
    secrets = {line.split()[0]: bytes.fromhex(line.split()[2]) for line in log}
    rows = tshark(
        capture, "-d", "udp.port==5684,data", "-Y", "udp", "-e", "udp.dstport", "-e", "data.data"
    )
    datagrams = [(row[0] == "5684", bytes.fromhex(row[1].replace(":", ""))) for row in rows]
    # As the draft counts them, and the acknowledgement that it leaves out.
    assert [len(data) for _, data in datagrams[:4]] == [136, 153, 56, 30]
    (randoms,) = {line.split()[1] for line in log}
    assert bytes.fromhex(randoms) in datagrams[0][1]
    handshake = "HANDSHAKE_TRAFFIC_SECRET", "TRAFFIC_SECRET_0"
    texts = []
    for is_client, data in datagrams[2:]:
        side = "CLIENT" if is_client else "SERVER"
        name = handshake[0] if data[0] & 3 == 2 else handshake[1]
        texts.append(opened(data, secrets[f"{side}_{name}"]))
    assert [text[-1] for text in texts] == [22, 26, 23, 23, 23, 23]
    assert all((REQUEST if n % 2 == 0 else RESPONSE) in text for n, text in enumerate(texts[2:]))


def test_a_capture_is_of_one_protocol(tmp_path: Path) -> None:
    told = ["--protocol", "oscore", "--protocol", "dtls13-psk", "--pcap", str(tmp_path / "a")]
    done = CliRunner().invoke(app, ["handshake", *told, "--board", BOARD])
    assert isinstance(done.exception, InputError)
    assert "give one --protocol" in str(done.exception)
