"""EDHOC: invalid messages are refused, two boards agree, and the ledger has the costs."""

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from emulated import ARM, BOARD, BuildOf
from joulemark.cli import app
from joulemark.errors import InputError
from joulemark.images import build_local
from joulemark.oracle import Output
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device, Status
from vectors import LIBRARY, drawn

NAMES = ["edhoc-3-2-aes-128", "edhoc-0-0-aes-128"]
X = "741a13d7ba048fbb615e94386aa3b61bea5b3d8f65f32620b749bee8d278efa9"
# RFC 9529, section 4: what the responder gets as message 1 with suite 2; and the method and suite
# that the RFC's initiator sends there.
INVALID_1 = {
    "an array": f"8403025820{X}0e",
    "a connection as bytes": f"03025820{X}410e",
    "one suite in an array": f"0381025820{X}0e",
    "text": "0302782020616972207370656564206f6620616e20756e6c6164656e207377616c6c6f77200e",
    "another suite": f"03820218185820{X}0e",
    "x from p up": "03025820ffffffff00000001000000000000000000000000ffffffffffffffffffffffff0e",
    "no point": "03025820a04e73601df544a70ba7ea1e57030f7d4b4eb7f673924e58d54ca77a5e7d4d4a0e",
    "a short point": "0302581fd9697725d23a688b12d1c7e0108a08c9f71a85a09c20814976ab21122248fc0e",
    "a long method": f"190003025820{X}0e",
    "an endless array": f"039f0602ff5820{X}0e",
    "another method": f"00025820{X}0e",
    "nothing": "",
    "an end": f"03025820{X}",
    "a value without a label": f"03025820{X}0e40",
    "a label in two bytes": f"03025820{X}0e1801",
    "a value that ends early": f"03025820{X}0e0142aa",
    "a critical item that nobody knows": f"03025820{X}0e2140",
    "one after what is known": f"03025820{X}0e2041aa21",
}
LOW_ORDER = "00005820edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f0e"


@pytest.fixture(scope="module", params=NAMES)
def side(request: pytest.FixtureRequest) -> Iterator[tuple[Device, dict[str, bytes]]]:
    algorithm = LIBRARY[request.param]
    image = build_local(LIBRARY.implementation(algorithm, "portable"), sanitize=True)
    with closing(LocalLink(image.path)) as link:
        yield Device(link), drawn(algorithm, 1, 0)


def run(device: Device, name: str, operation: str, values: dict[str, bytes]) -> Status:
    put = LIBRARY[name].contract.put(operation, values)
    for slot, data in put.inputs.items():
        device.write(slot, data)
    return device.run(operation).status


# RFC 9528, section 3.8: items with label 1, which the image knows, and others; padding of 1, 2, 3
# and 27 bytes.
TAKEN_1 = {
    "known": ("0141aa", "aa"),
    "known and critical": ("2041aa", "aa"),
    "without a value": ("01", ""),
    "others that need not be known": ("0241bb1941004155", ""),
    "padding": ("00", ""),
    "padding of three lengths": (
        "000041e90058181122334455667788112233445566778811223344556677882041aa00",
        "aa",
    ),
    "two known": ("0141aa2041bb", "aabb"),
}


@pytest.mark.parametrize("what", TAKEN_1)
def test_external_authorization_data_of_message_1(what: str) -> None:
    """RFC 9528, section 3.8: what the application gets of it; the key is still the oracle's."""
    items, heard = (bytes.fromhex(text) for text in TAKEN_1[what])
    algorithm = LIBRARY[NAMES[0]]
    values = drawn(algorithm, 1, 0)
    image = build_local(LIBRARY.implementation(algorithm, "portable"), sanitize=True)
    with closing(LocalLink(image.path)) as link:
        device = Device(link)
        message = values["message_1"][:39] + items
        given = {**values, "message_1": message, "ad": b""}
        assert run(device, NAMES[0], "message-2", given) is Status.OK
        assert device.read("heard", len(heard)) == heard


def test_message_1_that_is_none(side: tuple[Device, dict[str, bytes]]) -> None:
    device, values = side
    two = len(values["initiator_connection"]) == 4
    for what, text in (INVALID_1 if two else {"low order": LOW_ORDER}).items():
        message = bytes.fromhex(text)
        name = NAMES[0] if two else NAMES[1]
        status = run(device, name, "message-2", {**values, "message_1": message})
        assert status is Status.BAD_TAG, what
        length = len(values["message_2"])
        assert device.read("sent", length) == bytes(length), what


@pytest.mark.parametrize("operation", ["message-2", "message-3", "finish", "confirm"])
def test_anything_is_taken_safely(side: tuple[Device, dict[str, bytes]], operation: str) -> None:
    """Truncated, extended, changed and made up: no wrong one of the three messages is accepted."""
    device, values = side
    name = NAMES[0] if len(values["initiator_connection"]) == 4 else NAMES[1]
    taken = LIBRARY[name].contract.operation(operation).takes["received"]
    source = random.Random(operation)
    right = values[taken]
    for _ in range(40):
        kind, wrong = source.randrange(4), bytearray(right)
        if kind == 0:
            del wrong[source.randrange(len(right)) :]
        elif kind == 1:
            wrong += source.randbytes(source.randrange(1, 20))
        elif kind == 2:
            wrong[source.randrange(min(4, len(right)))] ^= 1 << source.randrange(8)
        else:
            at = source.randrange(len(right))
            wrong[at:] = source.randbytes(len(right) - at)
        if bytes(wrong) == right:
            continue
        status = run(device, name, operation, {**values, taken: bytes(wrong)})
        if operation != "message-2":  # message 1 authenticates nothing by itself
            assert status is Status.BAD_TAG, wrong.hex()
        assert status in {Status.OK, Status.BAD_TAG}


def test_two_boards_agree() -> None:
    """A Cortex-M3 begins, an MSP430 answers; each knows of the other only what the line carries."""
    algorithm = LIBRARY[NAMES[0]]
    values: dict[str, bytes] = dict(drawn(algorithm, 2, 0))
    expected = Output(**values)
    _, initiator = BuildOf(LIBRARY.implementation(algorithm, "armv7m"), "gcc", "Os", ARM).start()
    way = LIBRARY.implementation(algorithm, "msp430")
    _, responder = BuildOf(way, "clang", "Os", BOARD).start()
    for message in ("message_1", "message_2", "message_3", "message_4", "key"):
        del values[message]
    for device, operation, sent in (
        (initiator, "message-1", "message_1"),
        (responder, "message-2", "message_2"),
        (initiator, "message-3", "message_3"),
        (responder, "finish", None),
        (responder, "message-4", "message_4"),
        (initiator, "confirm", None),
    ):
        contract = algorithm.contract.operation(operation)
        for name, value in contract.takes.items():
            device.write(name, values[value])
        assert device.run(operation).status is Status.OK
        if sent:
            values[sent] = device.read("sent", len(expected[sent]))
        if "key" in contract.gives:
            assert device.read("key", 32) == expected["key"]
    assert values["message_4"] == expected["message_4"]


def test_an_update_follows_what_carried_authorization_data(tmp_path: Path) -> None:
    """Both are cases of one image, in this order, on the board with the least room."""
    chosen = ["--board", "telosb", "--primitive", NAMES[1], "--store", f"{tmp_path}/a.db"]
    operations = [word for name in ("message-1", "update") for word in ("--operation", name)]
    done = CliRunner().invoke(app, ["run", *chosen, *operations])
    assert done.exit_code == 0, done.output
    assert "measured 3," in done.output


def test_ledger() -> None:
    chosen = ["--board", "stm32vldiscovery", "--primitive", NAMES[1], "--per-day", "24"]
    done = CliRunner().invoke(app, ["handshake", *chosen])
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.output.splitlines()]
    sums = {row[0]: row for row in rows if row[1:2] == ["all"]}
    assert sums["initiator"][2:4] == ["127", "B"]
    assert sums["responder"][2:4] == ["116", "B"]
    assert [row[0] for row in rows[-2:]] == ["responder:", "errors,"]
    wrong = CliRunner().invoke(app, ["handshake", "--primitive", "x25519"])
    assert isinstance(wrong.exception, InputError)
