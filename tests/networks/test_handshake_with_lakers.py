"""EDHOC with another implementation, lakers (PyPI: lakers-python), independent of ours.

Method 3, suite 2; ours is each side in turn. All four messages have external authorization data.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing

import lakers
import pytest

from joulemark.images import build_local
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device, Status
from vectors import LIBRARY, drawn

ALGORITHM = LIBRARY["edhoc-3-2-aes-128"]
AD = b"20 bytes of anything"
EAD_BYTES = 3 + len(AD)
"""Padding, label and a head of one byte."""
LENGTHS = {1: 39 + EAD_BYTES, 2: 45 + EAD_BYTES, 3: 20 + EAD_BYTES, 4: 10 + EAD_BYTES}
"""Lengths of ours: RFC 9529's plus data; messages 3 and 4 have a head of one byte more."""


@pytest.fixture(scope="module")
def ours() -> Iterator[Device]:
    image = build_local(LIBRARY.implementation(ALGORITHM, "portable"), sanitize=True)
    with closing(LocalLink(image.path)) as link:
        yield Device(link)


@pytest.fixture
def values() -> dict[str, bytes]:
    return {**drawn(ALGORITHM, 3, 0), "ad": AD}


def does(device: Device, operation: str, values: dict[str, bytes]) -> Status:
    for slot, data in ALGORITHM.contract.put(operation, values).inputs.items():
        device.write(slot, data)
    return device.run(operation).status


def said(*, label: int = 1, critical: bool = True) -> list[lakers.EADItem]:
    return [lakers.EADItem(label, critical, AD)]


def heard(items: Sequence[lakers.EADItem]) -> list[tuple[int, bool, bytes | None]]:
    return [(item.label(), item.is_critical(), item.value()) for item in items]


OURS = [(0, False, None), (1, True, AD)]
"""Padding, and what the image sends."""


def credential(values: dict[str, bytes], side: str) -> lakers.Credential:
    return lakers.Credential(values[f"{side}_credential"])


def test_we_respond(ours: Device, values: dict[str, bytes]) -> None:
    theirs = lakers.EdhocInitiator()
    values["message_1"] = theirs.prepare_message_1(b"\x37", said())
    assert does(ours, "message-2", values) is Status.OK
    assert ours.read("heard", len(AD)) == AD
    connection, identity, items = theirs.parse_message_2(ours.read("sent", LENGTHS[2]))
    assert (connection, identity) == (b"\x27", values["responder_identity"])
    assert heard(items) == OURS
    own, peer = credential(values, "initiator"), credential(values, "responder")
    theirs.verify_message_2(values["initiator_key"], own, peer)
    by_reference = lakers.CredentialTransfer.ByReference
    values["message_3"], key = theirs.prepare_message_3(by_reference, said())
    assert does(ours, "finish", values) is Status.OK
    assert ours.read("heard", len(AD)) == AD
    assert ours.read("key", 32) == key
    assert does(ours, "message-4", values) is Status.OK
    assert heard(theirs.process_message_4(ours.read("sent", LENGTHS[4]))) == OURS


def test_we_initiate(ours: Device, values: dict[str, bytes]) -> None:
    own, peer = credential(values, "responder"), credential(values, "initiator")
    theirs = lakers.EdhocResponder(values["responder_key"], own)
    assert does(ours, "message-1", values) is Status.OK
    connection, items = theirs.process_message_1(ours.read("sent", LENGTHS[1]))
    assert connection == values["initiator_connection"][-1:]
    assert heard(items) == OURS
    by_reference = lakers.CredentialTransfer.ByReference
    values["message_2"] = theirs.prepare_message_2(by_reference, b"\x27", said())
    assert does(ours, "message-3", values) is Status.OK
    assert ours.read("heard", len(AD)) == AD
    key = ours.read("key", 32)
    identity, items = theirs.parse_message_3(ours.read("sent", LENGTHS[3]))
    assert identity == values["initiator_identity"]
    assert heard(items) == OURS
    assert theirs.verify_message_3(peer) == key
    values["message_4"] = theirs.prepare_message_4(said())
    assert does(ours, "confirm", values) is Status.OK
    assert (ours.read("heard", len(AD)), ours.read("key", 32)) == (AD, key)
    # OSCORE's secret and salt from the key after an update (RFC 9528, appendices A.1 and H).
    assert does(ours, "update", values) is Status.OK
    theirs.edhoc_key_update(values["update_context"])
    oscore = theirs.edhoc_exporter(0, b"", 16) + theirs.edhoc_exporter(1, b"", 8)
    assert ours.read("key", 24) == oscore


@pytest.mark.parametrize(("critical", "status"), [(True, Status.BAD_TAG), (False, Status.OK)])
def test_what_is_not_understood(
    ours: Device, values: dict[str, bytes], critical: bool, status: Status
) -> None:
    """RFC 9528, section 3.8: a critical item ends the session, in each message."""
    theirs = lakers.EdhocInitiator()
    items = said(label=2, critical=critical)
    message_1 = theirs.prepare_message_1(b"\x37", items)
    assert does(ours, "message-2", {**values, "message_1": message_1}) is status

    own = credential(values, "responder")
    responder = lakers.EdhocResponder(values["responder_key"], own)
    assert does(ours, "message-1", values) is Status.OK
    responder.process_message_1(ours.read("sent", LENGTHS[1]))
    by_reference = lakers.CredentialTransfer.ByReference
    message_2 = responder.prepare_message_2(by_reference, b"\x27", items)
    assert does(ours, "message-3", {**values, "message_2": message_2}) is status

    theirs = lakers.EdhocInitiator()
    values["message_1"] = theirs.prepare_message_1(b"\x37", said())
    assert does(ours, "message-2", values) is Status.OK
    theirs.parse_message_2(ours.read("sent", LENGTHS[2]))
    theirs.verify_message_2(values["initiator_key"], credential(values, "initiator"), own)
    message_3, _ = theirs.prepare_message_3(by_reference, items)
    assert does(ours, "finish", {**values, "message_3": message_3}) is status
