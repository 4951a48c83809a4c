"""What every implementation must do on every target, asked over the image's protocol."""

import random

from joulemark.catalogue.kinds import OPERATIONS, Slot
from joulemark.catalogue.primitives import Algorithm, Implementation, Library, Vector
from joulemark.errors import InputError
from joulemark.oracle import Inputs, Output
from joulemark.runners.protocol import Device, Flag, RunResult, Status

LIBRARY = Library.load()
LENGTHS = [0, 1, 7, 8, 15, 16, 17, 31, 33, 55, 56, 63, 64, 65, 111, 127, 128, 129, 136, 137, 300]
LONGEST = 1024
PLACES = (Flag.NONE, Flag.IN_PLACE)
_FORWARD = {"hash": "hash", "mac": "mac", "identity": "nothing"}


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
            found += ways
    return found, wrong


IMPLEMENTATIONS, WRONG = discover()


class Subject:
    """An implementation in its image, on whatever runs it."""

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
        return _FORWARD.get(self.kind, "encrypt")

    @property
    def inverse(self) -> str | None:
        return next((o.name for o in OPERATIONS[self.kind] if o.inverse), None)


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


def lengths(subject: Subject) -> list[int]:
    """A few lengths around block sizes, and random ones."""
    source = random.Random(subject.algorithm.name)
    return [*LENGTHS, *(source.randrange(LONGEST + 1) for _ in range(12)), LONGEST]


def inputs_of(vector: Vector) -> Inputs:
    return Inputs(
        key=vector.key,
        nonce=vector.nonce,
        ad=vector.ad,
        message=vector.message,
        tag_bytes=len(vector.tag or b""),
    )


def check_published_vector(subject: Subject, vector: Vector) -> None:
    """A published vector in both directions, out of place and in place; wrong tags are refused."""
    tag = vector.tag or b""
    inputs = inputs_of(vector)
    for flags in PLACES:
        subject.load(inputs)
        checked(subject.run(subject.forward, flags))
        result = subject.result(inputs)
        if vector.output is not None:
            assert result.data.hex() == vector.output.hex(), (vector.origin, flags)
        # A MAC always gives its whole tag; standards also publish shortened ones.
        assert result.tag[: len(tag)].hex() == tag.hex(), (vector.origin, flags)
    if subject.inverse is None or vector.output is None:
        return
    sealed = Inputs(key=vector.key, nonce=vector.nonce, ad=vector.ad, message=vector.output)
    for flags in PLACES:
        subject.load(sealed, tag)
        checked(subject.run(subject.inverse, flags))
        opened = subject.result(sealed).data
        assert opened.hex() == vector.message.hex(), (vector.origin, flags)
    if subject.kind == "aead" and tag:  # CCM* without a tag authenticates nothing
        wrong = bytearray(tag)
        bit = random.Random(vector.origin).randrange(8 * len(tag))
        wrong[bit // 8] ^= 1 << bit % 8
        subject.load(sealed, bytes(wrong))
        check_refused(subject, len(vector.output), f"{vector.origin}: tag with bit {bit} flipped")


def check_refused(subject: Subject, length: int, what: str) -> None:
    """Decryption of what is loaded is refused, and releases nothing."""
    for flags in PLACES:
        assert subject.run("decrypt", flags).status is Status.BAD_TAG, what
        released = subject.device.read(Slot.OUTPUT, length)
        assert released == bytes(length), f"plaintext was released: {what}"


def check_random_inputs(subject: Subject) -> None:
    """All operations on random inputs of many lengths give what the oracle gives."""
    for number, length in enumerate(lengths(subject)):
        inputs = draw(subject.algorithm, number, length)
        expected = subject.algorithm.oracle(inputs)
        subject.load(inputs)
        for operation in OPERATIONS[subject.kind]:
            if operation.inverse:
                continue
            checked(subject.run(operation.name))
            assert subject.result(inputs) == expected, (operation.name, length)
        if subject.inverse is not None:
            subject.load(
                Inputs(key=inputs.key, nonce=inputs.nonce, ad=inputs.ad, message=expected.data),
                expected.tag,
            )
            checked(subject.run(subject.inverse))
            assert subject.result(inputs).data == inputs.message, length


def check_splits(subject: Subject) -> None:
    """Any split of a message gives the same."""
    splits = [o for o in subject.device.operations if o.endswith("-split")]
    source = random.Random(subject.algorithm.name)
    unit = subject.algorithm.sizes["block_bytes"] if subject.algorithm.whole_blocks else 1
    for number in range(20):
        inputs = draw(subject.algorithm, number, source.choice([0, 1, 64, 200, 333]))
        expected = subject.algorithm.oracle(inputs)
        longest = source.choice([1, 5, 16, 64, 150])
        pieces = [unit * source.randrange(longest + 1) for _ in range(source.randrange(60))]
        for operation in splits:
            inverse = operation.startswith("decrypt")
            subject.load(inputs)
            if inverse:
                subject.device.write(Slot.MESSAGE, expected.data)
            subject.device.write(Slot.AD, b"".join(p.to_bytes(2, "little") for p in pieces))
            checked(subject.run(operation))
            got = subject.result(inputs)
            assert got == (Output(data=inputs.message) if inverse else expected), pieces


def check_in_place(subject: Subject) -> None:
    """Writing where it reads gives the same."""
    for number, length in enumerate([0, 1, 16, 100, 240, LONGEST]):
        inputs = draw(subject.algorithm, number, length)
        expected = subject.algorithm.oracle(inputs)
        subject.load(inputs)
        checked(subject.run(subject.forward, Flag.IN_PLACE))
        assert subject.result(inputs) == expected
        if subject.inverse is not None:
            subject.device.write(Slot.MESSAGE, expected.data)
            subject.device.write(Slot.TAG, expected.tag)
            checked(subject.run(subject.inverse, Flag.IN_PLACE))
            assert subject.result(inputs).data == inputs.message


def check_repetitions(subject: Subject) -> None:
    """An operation that is repeated leaves what one execution leaves."""
    inputs = draw(subject.algorithm, 0, 96)
    expected = subject.algorithm.oracle(inputs)
    for operation in OPERATIONS[subject.kind]:
        if not operation.inverse:
            subject.load(inputs)
            checked(subject.run(operation.name, repetitions=3))
            assert subject.result(inputs) == expected, operation.name


def check_forgeries(subject: Subject) -> None:
    """A changed bit anywhere is refused, and nothing is released."""
    source = random.Random(subject.algorithm.name)
    for number in range(12):
        inputs = draw(subject.algorithm, number, source.choice([1, 16, 40, 129]))
        sealed = subject.algorithm.oracle(inputs)
        parts = {
            "tag": bytearray(sealed.tag),
            "message": bytearray(sealed.data),
            "ad": bytearray(inputs.ad),
            "nonce": bytearray(inputs.nonce),
            "key": bytearray(inputs.key),
        }
        for name in ("tag", "tag", "message", "ad", "nonce", "key"):
            if not parts[name]:
                continue
            forged = {k: bytearray(v) for k, v in parts.items()}
            forged[name][source.randrange(len(forged[name]))] ^= 1 << source.randrange(8)
            subject.load(
                Inputs(
                    key=bytes(forged["key"]),
                    nonce=bytes(forged["nonce"]),
                    ad=bytes(forged["ad"]),
                    message=bytes(forged["message"]),
                ),
                bytes(forged["tag"]),
            )
            check_refused(subject, len(sealed.data), f"forged {name}")


def check_partial_blocks(subject: Subject) -> None:
    """What takes whole blocks only refuses anything else."""
    block = subject.algorithm.sizes["block_bytes"]
    inputs = draw(subject.algorithm, 0, 4 * block)
    for extra in range(1, block):
        odd = Inputs(key=inputs.key, nonce=inputs.nonce, message=inputs.message + bytes(extra))
        subject.load(odd)
        for operation in ("encrypt", "decrypt"):
            assert subject.run(operation).status is Status.BAD_LENGTH


CHECKS = {
    "random-inputs": check_random_inputs,
    "any-split": check_splits,
    "in-place": check_in_place,
    "repetitions": check_repetitions,
    "forgeries": check_forgeries,
    "partial-blocks": check_partial_blocks,
}


def applicable(implementation: Implementation) -> list[str]:
    """Names of the checks that say something about an implementation."""
    algorithm = implementation.algorithm
    names = ["random-inputs", "in-place", "repetitions"]
    if algorithm.kind in {"hash", "mac", "mode", "stream-cipher"}:
        names.append("any-split")
    if algorithm.kind == "aead":
        names.append("forgeries")
    if algorithm.whole_blocks:
        names.append("partial-blocks")
    return names
