"""What every implementation must do on every target, checked over the image's protocol."""

import random
from functools import lru_cache

from joulemark.catalogue import instruction_sets
from joulemark.catalogue.kinds import Exchange, Kind
from joulemark.catalogue.primitives import Algorithm, Implementation, Vector, library
from joulemark.errors import InputError
from joulemark.oracle import Inputs
from joulemark.runners.protocol import Device, Flag, Status

LIBRARY = library()
LENGTHS = [0, 1, 7, 8, 15, 16, 17, 31, 33, 55, 56, 63, 64, 65, 111, 127, 128, 129, 136, 137, 300]
LONGEST = 1024


CORES = frozenset(instruction_sets.names())


def each_part_once(ways: list[Implementation]) -> list[Implementation]:
    """Keep each implementation of slow operations once per core that it runs on.

    A part of a composition, such as a hash, is tested by itself and with one of the implementations
    that use it. Implementations that run on most cores come first.
    """
    kept, covered = [], set[tuple[str, str]]()
    for way in sorted(ways, key=lambda way: -len(way.cores or CORES)):
        own = {(way.parts[0].name, core) for core in way.cores or CORES}
        if own - covered:
            kept.append(way)
            covered |= own
    return kept


def discover() -> tuple[list[Implementation], list[str]]:
    """Return everything that can be tested, and what is wrong with the rest."""
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
        if not vectors and algorithm.contract.results:
            wrong.append(f"{algorithm}: no vectors")
        if algorithm.contract.file.default:
            ways = each_part_once(ways)
        if algorithm.is_default or algorithm.vectors:
            found += ways
    return found, wrong


IMPLEMENTATIONS, WRONG = discover()


class Subject:
    """An implementation in its image, on any runner."""

    def __init__(self, implementation: Implementation, device: Device) -> None:
        self.implementation = implementation
        self.algorithm = implementation.algorithm
        self.contract = self.algorithm.contract
        self.measured = {
            name: operation
            for name, operation in self.contract.measured.items()
            if implementation.has(name)
        }
        self.device = device

    def load(self, put: Exchange) -> None:
        for slot, data in put.inputs.items():
            self.device.write(slot, data)

    def gives(self, operation: str, put: Exchange, flags: Flag = Flag.NONE, count: int = 1) -> None:
        """Run an operation on an exchange's inputs, and check that its outputs are as expected."""
        self.load(put)
        assert self.device.run(operation, flags, count).status is Status.OK, operation
        for slot, expected in put.expected.items():
            assert self.device.read(slot, len(expected)) == expected, (operation, slot, flags)

    def refuses(self, operation: str, put: Exchange, what: str) -> None:
        """Check that an exchange's inputs are refused, and nothing is released."""
        for flags in self.places:
            self.load(put)
            assert self.device.run(operation, flags).status is Status.BAD_TAG, what
            for slot, expected in put.expected.items():
                released = self.device.read(slot, len(expected))
                assert released == bytes(len(expected)), f"{slot} was released: {what}"

    def drawn(self, seed: int, length: int) -> dict[str, bytes]:
        """Return random inputs that fit the implementation, and the oracle's answer."""
        together, sizes = self.implementation.together, self.algorithm.sizes
        cheaply = self.algorithm.is_made_to_verify(self.measured)
        if together is None:
            return drawn(self.algorithm, seed, length, to_verify=cheaply)
        fixed = sum(sizes.get(name, 0) for name in together.sizes)
        return drawn(self.algorithm, seed, length, together.bytes_max - fixed)

    @property
    def places(self) -> tuple[Flag, ...]:
        """Places for results: elsewhere, and in place of the message."""
        in_place = {"message", "output"} <= set(self.contract.file.slot)
        return (Flag.NONE, Flag.IN_PLACE) if in_place else (Flag.NONE,)


def draw(algorithm: Algorithm, seed: int, length: int, most: int | None = None) -> Inputs:
    """Return random inputs of the algorithm's usual lengths.

    Args:
        algorithm: the algorithm.
        seed: seed of the random inputs.
        length: of the message.
        most: limit on the bytes of the message and its associated data together; None for no limit.
    """
    source = random.Random(f"{algorithm.name} {seed} {length}")
    if algorithm.whole_blocks:
        length = length // algorithm.sizes["block_bytes"] * algorithm.sizes["block_bytes"]
    sizes = {**algorithm.sizes, "message": length}
    sizes["ad"] = min(source.choice([0, 1, 13, 16, 21, 64, 250]), algorithm.room("ad"))
    if most is not None:
        sizes["ad"] = min(sizes["ad"], most)
        sizes["message"] = min(length, most - sizes["ad"])
    return Inputs(
        tag_bytes=sizes.get("tag_bytes", 0),
        **{
            name: source.randbytes(sizes[given.size])
            for name, given in algorithm.contract.file.input.items()
        },
    )


@lru_cache(maxsize=4096)
def _drawn(
    algorithm: Algorithm, seed: int, length: int, most: int | None, *, to_verify: bool
) -> dict[str, bytes]:
    inputs = draw(algorithm, seed, length, most)
    return {**algorithm.oracle(inputs, to_verify=to_verify), **inputs}


def drawn(
    algorithm: Algorithm,
    seed: int,
    length: int,
    most: int | None = None,
    *,
    to_verify: bool = False,
) -> dict[str, bytes]:
    """Return random inputs, and what the oracle gives for them: the same for all builds."""
    return dict(_drawn(algorithm, seed, length, most, to_verify=to_verify))


def lengths(subject: Subject) -> list[int]:
    """Return a few lengths around block sizes and random ones; only one without a message."""
    if "message" not in subject.contract.file.input:
        return [0]
    if subject.contract.file.default:
        return [0, 55, 300]  # Slow operations; only a hash sees the message.
    source = random.Random(subject.algorithm.name)
    return [*LENGTHS, *(source.randrange(LONGEST + 1) for _ in range(12)), LONGEST]


def inputs_of(algorithm: Algorithm, vector: Vector) -> Inputs:
    return Inputs(
        tag_bytes=len(vector.values.get("tag", b"")),
        **{
            name: vector.values.get(name, b"")
            for name, given in algorithm.contract.file.input.items()
            # A secret key is not published with every signature, and associated data may be absent.
            if name in vector.values or not algorithm.sizes.get(given.size)
        },
    )


def check_published_vector(subject: Subject, vector: Vector) -> None:
    """Check a published vector in all directions, out of place and in place, and wrong tags."""
    values = {**inputs_of(subject.algorithm, vector), **vector.values}
    tried = 0
    for name, operation in subject.measured.items():
        has_all = {*operation.takes.values(), *operation.gives.values()} <= set(values)
        if not has_all or not subject.implementation.has(name):
            continue
        tried += 1
        put = subject.contract.put(name, values)
        for flags in subject.places:
            # A MAC always gives its whole tag; standards also publish truncated ones.
            subject.gives(name, put, flags)
        # CCM* without a tag authenticates nothing.
        if operation.refuses and put.inputs[operation.refuses[-1]]:
            slot = operation.refuses[-1]
            what = f"{vector.origin}: changed {slot}"
            subject.refuses(name, changed(put, slot, random.Random(vector.origin)), what)
    assert tried, f"{vector.origin}: no operation can be tried with it"


def changed(put: Exchange, slot: str, source: random.Random) -> Exchange:
    """Return an exchange with one bit flipped in what is written into a slot."""
    data = bytearray(put.inputs[slot])
    data[source.randrange(len(data))] ^= 1 << source.randrange(8)
    return Exchange({**put.inputs, slot: bytes(data)}, put.expected)


def check_random_inputs(subject: Subject) -> None:
    """Check that all operations on random inputs of many lengths agree with the oracle."""
    for number, length in enumerate(lengths(subject)):
        values = subject.drawn(number, length)
        for name in subject.measured:
            subject.gives(name, subject.contract.put(name, values))


def check_splits(subject: Subject) -> None:
    """Check that any split of a message gives the same."""
    source = random.Random(subject.algorithm.name)
    unit = subject.algorithm.sizes["block_bytes"] if subject.algorithm.whole_blocks else 1
    for number in range(20):
        values = subject.drawn(number, source.choice([0, 1, 64, 200, 333]))
        longest = source.choice([1, 5, 16, 64, 150])
        pieces = [unit * source.randrange(longest + 1) for _ in range(source.randrange(60))]
        subject.device.write("pieces", b"".join(p.to_bytes(2, "little") for p in pieces))
        for name in _splits(subject.contract):
            subject.gives(name, subject.contract.put(name, values))


def _splits(contract: Kind) -> list[str]:
    return [name for name, operation in contract.file.operation.items() if operation.split]


def check_in_place(subject: Subject) -> None:
    """Check that writing where it reads gives the same."""
    for number, length in enumerate([0, 1, 16, 100, 240, LONGEST]):
        values = subject.drawn(number, length)
        for name, operation in subject.measured.items():
            if operation.sized:
                subject.gives(name, subject.contract.put(name, values), Flag.IN_PLACE)


def check_repetitions(subject: Subject) -> None:
    """Check that a repeated operation leaves what one execution leaves."""
    values = subject.drawn(0, 96)
    count = 2 if subject.contract.file.default else 3
    for name in subject.measured:
        subject.gives(name, subject.contract.put(name, values), count=count)


def check_forgeries(subject: Subject) -> None:
    """Check that a changed bit anywhere is refused, and nothing is released."""
    source = random.Random(subject.algorithm.name)
    for number in range(2 if subject.contract.file.default else 12):
        values = subject.drawn(number, source.choice([1, 16, 40, 129]))
        for name, operation in subject.measured.items():
            put = subject.contract.put(name, values)
            # Twice for the last one, the tag.
            for slot in (*operation.refuses, *operation.refuses[-1:]):
                if put.inputs[slot]:
                    subject.refuses(name, changed(put, slot, source), f"forged {slot}")


def check_partial_blocks(subject: Subject) -> None:
    """Check that what takes only whole blocks refuses anything else."""
    block = subject.algorithm.sizes["block_bytes"]
    inputs = draw(subject.algorithm, 0, 4 * block)
    for extra in range(1, block):
        for name, data in inputs.items():
            subject.device.write(name, data)
        subject.device.write("message", inputs.message + bytes(extra))
        for name, operation in subject.measured.items():
            if operation.sized:
                assert subject.device.run(name).status is Status.BAD_LENGTH


CHECKS = {
    "random-inputs": check_random_inputs,
    "any-split": check_splits,
    "in-place": check_in_place,
    "repetitions": check_repetitions,
    "forgeries": check_forgeries,
    "partial-blocks": check_partial_blocks,
}


def applicable(implementation: Implementation) -> list[str]:
    """Return the names of the checks that apply to an implementation."""
    algorithm = implementation.algorithm
    contract = algorithm.contract
    names = ["random-inputs", "repetitions"]
    if {"message", "output"} <= set(contract.file.slot):
        names.append("in-place")
    if _splits(contract):
        names.append("any-split")
    if any(operation.refuses for operation in contract.measured.values()):
        names.append("forgeries")
    if algorithm.whole_blocks:
        names.append("partial-blocks")
    return names
