"""Every implementation gives what the standards say and what an independent library says.

Each is built for this machine with sanitizers, inside the harness, and asked over the protocol.
One implementation: `pytest tests/test_vectors.py -k "aes-128/ttable"`.
"""

import random
from collections.abc import Iterator

import pytest

from joulemark.build import build_local
from joulemark.errors import InputError
from joulemark.kinds import OPERATIONS, Slot
from joulemark.oracle import Inputs, Output
from joulemark.primitives import Algorithm, Implementation, Library, operations
from joulemark.protocol import Device, Flag, RunResult, Status
from joulemark.runners.local import LocalLink

LIBRARY = Library.load()


def discover() -> tuple[list[Implementation], list[str]]:
    """Everything that can be tested, and what is wrong with the rest."""
    found, wrong = [], []
    for algorithm in LIBRARY.algorithms.values():
        try:
            vectors = LIBRARY.vectors(algorithm.primitive)
            ways = LIBRARY.implementations(algorithm)
        except InputError as error:
            wrong.append(str(error))
            continue
        if not ways:
            wrong.append(f"{algorithm}: no implementation")
        if not vectors and algorithm.kind != "identity":
            wrong.append(f"{algorithm}: no vectors")
        if algorithm.is_default or algorithm.vectors:
            found += [way for way in ways if way.runs_on("host")]
    return found, wrong


IMPLEMENTATIONS, WRONG = discover()
FORWARD = {"hash": "hash", "mac": "mac", "identity": "nothing"}
LENGTHS = [0, 1, 7, 8, 15, 16, 17, 31, 33, 55, 56, 63, 64, 65, 111, 127, 128, 129, 136, 137, 300]
LONGEST = 1024


class Primitive:
    """An implementation in its image."""

    def __init__(self, implementation: Implementation, device: Device) -> None:
        self.implementation = implementation
        self.algorithm = implementation.algorithm
        self.kind = self.algorithm.kind
        self.device = device

    def load(self, inputs: Inputs, tag: bytes | None = None) -> None:
        self.device.write(Slot.KEY, inputs.key)
        self.device.write(Slot.NONCE, inputs.nonce)
        self.device.write(Slot.AD, inputs.ad)
        self.device.write(Slot.MESSAGE, inputs.message)
        self.device.write(Slot.TAG, bytes(inputs.tag_bytes) if tag is None else tag)

    def result(self, inputs: Inputs) -> Output:
        """What is in the output and tag slots after an operation on these inputs."""
        data = tag = b""
        if self.kind == "hash":
            data = self.device.read(Slot.OUTPUT, self.algorithm.sizes["digest_bytes"])
        elif self.kind != "mac":
            data = self.device.read(Slot.OUTPUT, len(inputs.message))
        if self.kind == "mac":
            tag = self.device.read(Slot.TAG, self.algorithm.sizes["tag_bytes"])
        elif self.kind == "aead":
            tag = self.device.read(Slot.TAG, inputs.tag_bytes)
        return Output(data=data, tag=tag)

    def run(self, operation: str, flags: Flag = Flag.NONE, repetitions: int = 1) -> RunResult:
        return self.device.run(operation, flags, repetitions)

    @property
    def forward(self) -> str:
        return FORWARD.get(self.kind, "encrypt")

    @property
    def inverse(self) -> str | None:
        return next((o.name for o in OPERATIONS[self.kind] if o.inverse), None)


@pytest.fixture(scope="module", params=IMPLEMENTATIONS, ids=str)
def primitive(request: pytest.FixtureRequest) -> Iterator[Primitive]:
    image = build_local(request.param, sanitize=True)
    with LocalLink(image.path) as link:
        yield Primitive(request.param, Device(link))


def draw(algorithm: Algorithm, seed: int, length: int) -> Inputs:
    """Random inputs of the algorithm's usual lengths."""
    source = random.Random(f"{algorithm.name} {seed} {length}")
    if algorithm.whole_blocks:
        length = length // algorithm.sizes["block_bytes"] * algorithm.sizes["block_bytes"]
    sizes = algorithm.sizes
    nonce = sizes.get("iv_bytes" if algorithm.kind == "mode" else "nonce_bytes", 0)
    with_ad = algorithm.kind == "aead"
    if algorithm.kind == "identity":
        return Inputs()
    return Inputs(
        key=source.randbytes(sizes.get("key_bytes", 0)),
        nonce=source.randbytes(nonce),
        ad=source.randbytes(source.choice([0, 1, 13, 16, 21, 64, 250])) if with_ad else b"",
        message=source.randbytes(length),
        tag_bytes=sizes.get("tag_bytes", 0),
    )


def checked(result: RunResult) -> None:
    assert result.status is Status.OK


def lengths(primitive: Primitive) -> list[int]:
    """A few lengths around block sizes, and random ones."""
    source = random.Random(primitive.algorithm.name)
    return [*LENGTHS, *(source.randrange(LONGEST + 1) for _ in range(12)), LONGEST]


def test_every_primitive_is_whole() -> None:
    assert WRONG == []


def test_image_describes_itself(primitive: Primitive) -> None:
    description = primitive.device.description
    assert description["primitive"] == primitive.algorithm.name
    assert description["implementation"] == primitive.implementation.name
    assert tuple(primitive.device.operations) == operations(primitive.kind)
    measured = [o.name for o in OPERATIONS[primitive.kind]]
    assert primitive.device.operations[: len(measured)] == measured


def test_published_vectors(primitive: Primitive) -> None:
    vectors = LIBRARY.vectors(primitive.algorithm.primitive)
    for vector in (v for v in vectors if v.variant == primitive.algorithm.name):
        tag = vector.tag or b""
        inputs = Inputs(
            key=vector.key,
            nonce=vector.nonce,
            ad=vector.ad,
            message=vector.message,
            tag_bytes=len(tag),
        )
        primitive.load(inputs)
        checked(primitive.run(primitive.forward))
        result = primitive.result(inputs)
        if vector.output is not None:
            assert result.data.hex() == vector.output.hex(), vector.origin
        if vector.tag is not None:
            # A MAC always gives its whole tag; standards also publish shortened ones.
            assert result.tag[: len(tag)].hex() == tag.hex(), vector.origin
        assert primitive.algorithm.oracle(inputs).data == (vector.output or b""), vector.origin
        if primitive.inverse is not None and vector.output is not None:
            sealed = Inputs(key=vector.key, nonce=vector.nonce, ad=vector.ad, message=vector.output)
            primitive.load(sealed, tag)
            checked(primitive.run(primitive.inverse))
            assert primitive.result(sealed).data.hex() == vector.message.hex(), vector.origin


def test_random_inputs_against_the_oracle(primitive: Primitive) -> None:
    for number, length in enumerate(lengths(primitive)):
        inputs = draw(primitive.algorithm, number, length)
        expected = primitive.algorithm.oracle(inputs)
        primitive.load(inputs)
        for operation in OPERATIONS[primitive.kind]:
            if operation.inverse:
                continue
            checked(primitive.run(operation.name))
            assert primitive.result(inputs) == expected, (operation.name, length)
        if primitive.inverse is not None:
            primitive.load(
                Inputs(key=inputs.key, nonce=inputs.nonce, ad=inputs.ad, message=expected.data),
                expected.tag,
            )
            checked(primitive.run(primitive.inverse))
            assert primitive.result(inputs).data == inputs.message, length


def test_any_split_gives_the_same(primitive: Primitive) -> None:
    splits = [o for o in primitive.device.operations if o.endswith("-split")]
    if not splits:
        assert not {"hash", "mac", "mode", "stream-cipher"} & {primitive.kind}
        return
    source = random.Random(primitive.algorithm.name)
    unit = primitive.algorithm.sizes["block_bytes"] if primitive.algorithm.whole_blocks else 1
    for number in range(20):
        inputs = draw(primitive.algorithm, number, source.choice([0, 1, 64, 200, 333]))
        expected = primitive.algorithm.oracle(inputs)
        longest = source.choice([1, 5, 16, 64, 150])
        pieces = [unit * source.randrange(longest + 1) for _ in range(source.randrange(60))]
        for operation in splits:
            inverse = operation.startswith("decrypt")
            primitive.load(inputs)
            if inverse:
                primitive.device.write(Slot.MESSAGE, expected.data)
            primitive.device.write(Slot.AD, b"".join(p.to_bytes(2, "little") for p in pieces))
            checked(primitive.run(operation))
            got = primitive.result(inputs)
            assert got == (Output(data=inputs.message) if inverse else expected), pieces


def test_in_place_gives_the_same(primitive: Primitive) -> None:
    for number, length in enumerate([0, 1, 16, 100, 240, LONGEST]):
        inputs = draw(primitive.algorithm, number, length)
        expected = primitive.algorithm.oracle(inputs)
        primitive.load(inputs)
        checked(primitive.run(primitive.forward, Flag.IN_PLACE))
        assert primitive.result(inputs) == expected
        if primitive.inverse is not None:
            primitive.device.write(Slot.MESSAGE, expected.data)
            primitive.device.write(Slot.TAG, expected.tag)
            checked(primitive.run(primitive.inverse, Flag.IN_PLACE))
            assert primitive.result(inputs).data == inputs.message


def test_repetitions_give_the_same(primitive: Primitive) -> None:
    inputs = draw(primitive.algorithm, 0, 96)
    expected = primitive.algorithm.oracle(inputs)
    for operation in OPERATIONS[primitive.kind]:
        if not operation.inverse:
            primitive.load(inputs)
            checked(primitive.run(operation.name, repetitions=3))
            assert primitive.result(inputs) == expected, operation.name


def test_forgeries_are_rejected_and_nothing_is_released(primitive: Primitive) -> None:
    if primitive.kind != "aead":
        pytest.skip("authenticates nothing")
    source = random.Random(primitive.algorithm.name)
    for number in range(12):
        inputs = draw(primitive.algorithm, number, source.choice([1, 16, 40, 129]))
        sealed = primitive.algorithm.oracle(inputs)
        parts = {
            "tag": bytearray(sealed.tag),
            "message": bytearray(sealed.data),
            "ad": bytearray(inputs.ad),
            "nonce": bytearray(inputs.nonce),
            "key": bytearray(inputs.key),
        }
        if not any(map(len, parts.values())):
            continue
        for name in ("tag", "tag", "message", "ad", "nonce", "key"):
            if not parts[name]:
                continue
            forged = {k: bytearray(v) for k, v in parts.items()}
            forged[name][source.randrange(len(forged[name]))] ^= 1 << source.randrange(8)
            primitive.load(
                Inputs(
                    key=bytes(forged["key"]),
                    nonce=bytes(forged["nonce"]),
                    ad=bytes(forged["ad"]),
                    message=bytes(forged["message"]),
                ),
                bytes(forged["tag"]),
            )
            for flags in (Flag.NONE, Flag.IN_PLACE):
                assert primitive.run("decrypt", flags).status is Status.BAD_TAG, name
                assert primitive.device.read(Slot.OUTPUT, len(sealed.data)) == bytes(
                    len(sealed.data)
                ), f"plaintext of a forged {name} was released"


def test_lengths_that_are_not_allowed_are_refused(primitive: Primitive) -> None:
    if not primitive.algorithm.whole_blocks or primitive.kind == "identity":
        pytest.skip("takes any length")
    block = primitive.algorithm.sizes["block_bytes"]
    inputs = draw(primitive.algorithm, 0, 4 * block)
    for extra in range(1, block):
        odd = Inputs(key=inputs.key, nonce=inputs.nonce, message=inputs.message + bytes(extra))
        primitive.load(odd)
        for operation in ("encrypt", "decrypt"):
            assert primitive.run(operation).status is Status.BAD_LENGTH
