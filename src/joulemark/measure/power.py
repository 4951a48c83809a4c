"""Modelled power of code: which instructions leak secrets through what toggles in the core.

The emulated core counts bits, cycle by cycle: ones and changes on its operand buses, its result,
its registers and the memory bus. A sample of modelled power is a weighted sum of them. It has no
noise, and nothing of what a chip has beside its core: all of this is graded `model`.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from joulemark._engine import ACTIVITY, EngineError, Image, Machine
from joulemark.analysis import side_channel
from joulemark.analysis.side_channel import Bytes, Floats, KeyByte
from joulemark.catalogue import chips, instruction_sets
from joulemark.catalogue.boards import Board
from joulemark.catalogue.kinds import BUDGET_CYCLES
from joulemark.catalogue.primitives import Implementation
from joulemark.errors import InputError, VerificationError
from joulemark.images import BuiltImage
from joulemark.measure import weights as weighing
from joulemark.measure.following import (
    Located,
    Place,
    _loaded,
    _never,
    _resolved_bytes,
    _resolved_function,
)
from joulemark.measure.leaks import _exchange
from joulemark.runners.emulator import EmulatedBoard
from joulemark.runners.protocol import Device, Status

GRADE = "model"
TRACES = 400
"""Traces if nothing is said: half with random secrets, a quarter with each of two fixed ones."""
LEAST_TRACES = 40
SURE = 6.0
"""From this |t| on, a leak is not tested again."""
MOST_BYTES = 500_000_000
"""Of counts that are kept."""
_EXECUTING = 8
"""Components before this one, and none after, are of the instruction that executes."""
_AES_BLOCK = 16
_AT_ONCE = 512
"""Cycles whose components are tested at once."""


@dataclass(frozen=True)
class Shared:
    """A secret in a program's memory, as one symbol or as shares whose exclusive or it is."""

    shares: tuple[str, ...]
    length: int

    def __str__(self) -> str:
        return "^".join(self.shares)


@dataclass(frozen=True)
class Recorded:
    """What toggled in one execution."""

    rows: Bytes
    """By cycle and component."""
    executes: npt.NDArray[np.uint32]
    transfers: npt.NDArray[np.uint32]


def _recorded(found: Sequence[bytes]) -> Recorded:
    rows, executes, transfers = found
    return Recorded(
        np.frombuffer(rows, np.uint8).reshape(-1, len(ACTIVITY)),
        np.frombuffer(executes, "<u4"),
        np.frombuffer(transfers, "<u4"),
    )


class Target(Protocol):
    """Code whose power is modelled."""

    places: Located

    def trace(self, number: int, fixed: str | None) -> Recorded | None:
        """Execute once; None if it refuses this secret.

        Args:
            number: of the trace; what is random depends on it alone.
            fixed: `zero` or `other` for one of two fixed secrets, None for a random one.
        """

    def attacked(self, number: int) -> tuple[Recorded, bytes] | None:
        """Execute with a fixed key and a random block; also return that, or None if it has none."""

    def key(self) -> bytes:
        """Return the fixed key of `attacked`."""

    def given(self, inputs: Mapping[str, bytes]) -> Recorded:
        """Execute with these inputs."""


@dataclass(frozen=True)
class Leaking:
    """An instruction that leaks, by the component that leaks most."""

    place: Place
    component: str
    t: float
    """Welch's t of the component where it is largest."""
    cycle: int
    """Its cycle since the start."""
    cycles: int
    """How many of its cycles leak."""

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"a secret shows in modelled power ({self.component})"

    @property
    def row(self) -> dict[str, Any]:
        """Names and numbers."""
        return {
            **asdict(self.place),
            "component": self.component,
            "t": round(self.t, 2),
            "cycle": self.cycle,
            "cycles": self.cycles,
        }

    def __str__(self) -> str:
        times = f", in {self.cycles} cycles" if self.cycles > 1 else ""
        return f"{self.component}, |t| {abs(self.t):.1f}{times}: {self.place}"


@dataclass(frozen=True)
class Modelled:
    """What modelled power says of an operation."""

    operation: str
    traces: int
    cycles: int
    """Modelled cycles: as many as all traces have in common."""
    diverges: Place | None
    """Where traces with different secrets part; None if they never do."""
    weights: str
    """The name of the weights."""
    t1: float
    """The largest |t| of first order."""
    t2: float
    """The largest |t| of second order, among cycles that do not leak in first order."""
    leaking1: int
    """Cycles that leak in first order."""
    leaking2: int
    """Cycles that leak in second order and not in first."""
    instructions: tuple[Leaking, ...] = ()
    """What leaks in first order, most first."""
    key_bytes: tuple[KeyByte, ...] = ()
    """What a correlation attack finds of AES's key; empty where there is none."""
    attack_traces: int = 0
    attack_places: tuple[Place, ...] = field(default=(), compare=False)
    """Where each key byte shows most."""
    fitted: "weighing.Fitted | None" = None

    @property
    def recovered(self) -> int:
        """Number of key bytes of which the right value is first."""
        return sum(each.rank == 1 for each in self.key_bytes)

    @property
    def attack_needs(self) -> int | None:
        """Traces from which on all key bytes are first; None if they never are."""
        counts = [each.traces for each in self.key_bytes]
        return max((c for c in counts if c is not None), default=None) if all(counts) else None

    @property
    def row(self) -> dict[str, Any]:
        """Names and numbers."""
        attack = None
        if self.key_bytes:
            attack = {
                "target": "AES, first round, weight of the S-box's output",
                "traces": self.attack_traces,
                "recovered": self.recovered,
                "needs": self.attack_needs,
                "bytes": [
                    {
                        "rank": each.rank,
                        "correlation": round(each.correlation, 3),
                        "traces": each.traces,
                        "place": asdict(place),
                    }
                    for each, place in zip(self.key_bytes, self.attack_places, strict=True)
                ],
            }
        return {
            "operation": self.operation,
            "grade": GRADE,
            "weights": self.weights,
            "traces": self.traces,
            "cycles": self.cycles,
            "diverges": None if self.diverges is None else asdict(self.diverges),
            "threshold": side_channel.THRESHOLD,
            "t1": round(self.t1, 2),
            "t2": round(self.t2, 2),
            "leaking_cycles": self.leaking1,
            "leaking_cycles_second_order": self.leaking2,
            "instructions": [each.row for each in self.instructions],
            "attack": attack,
            "fit": None if self.fitted is None else self.fitted.row,
        }


def weights_of(text: str | None) -> str | Path:
    """Return the weights that an option names: a file, if it looks like one.

    Raises:
        InputError: there are none of that name.
    """
    if text is not None and (text.endswith(".npz") or "/" in text):
        return Path(text)
    weighing.named(text or weighing.EQUAL)
    return text or weighing.EQUAL


def model(
    target: Target,
    operation: str,
    *,
    traces: int = TRACES,
    weights: str | Path = weighing.EQUAL,
    save: Path | None = None,
) -> Modelled:
    """Model traces of an operation, and look for what tells a fixed secret from a random one.

    Args:
        target: what is executed.
        operation: its name.
        traces: number of traces.
        weights: a name, or a file of recorded traces that they are fitted to.
        save: a file for the modelled traces, `.npz`.

    Raises:
        InputError: something that was asked for is not possible.
    """
    if traces < LEAST_TRACES:
        raise InputError(f"{traces} are too few", "--traces", f"give {LEAST_TRACES} or more")
    fitted = None
    if isinstance(weights, Path):
        fitted = weighing.fitted(weights, lambda inputs: target.given(inputs).rows)
        by, name = fitted.weights, f"fitted to {weights.name}"
    else:
        by, name = weighing.named(weights), weights
    rows, path = _groups(target, traces)
    samples = {fixed: _weighed(group, by) for fixed, group in rows.items()}
    t = _tested(samples)
    leaks = np.abs(t) >= side_channel.THRESHOLD
    if (leaks & (np.abs(t) < SURE)).any():
        fresh, path = _groups(target, traces, first=traces, path=path)
        again = _tested({fixed: _weighed(group, by) for fixed, group in fresh.items()})
        t, leaks = t[:, : again.shape[1]], leaks[:, : again.shape[1]]
        leaks &= (np.abs(t) >= SURE) | (t * again > 0) & (np.abs(again) >= side_channel.THRESHOLD)
    cycles = t.shape[1]
    samples = {fixed: group[:, :cycles] for fixed, group in samples.items()}
    leaking = leaks.any(axis=0)
    squares = {f: side_channel.centred_squares(group) for f, group in samples.items()}
    second = np.where(leaking, 0.0, np.abs(_tested(squares)).max(axis=0, initial=0.0))
    counted, blocks = _attack(target, traces // 2, cycles)
    attack = None if counted is None else _weighed(counted, by)
    if save is not None:
        attacked = None if attack is None else (attack, blocks, target.key())
        _save(save, samples, path.executes, attacked)
    found = () if attack is None else tuple(side_channel.attack_aes(attack, blocks, target.key()))
    return Modelled(
        operation,
        traces,
        cycles,
        None if path.diverges is None else target.places[path.diverges],
        name,
        float(np.abs(t).max(initial=0.0)),
        float(second.max(initial=0.0)),
        int(leaking.sum()),
        int((second >= side_channel.THRESHOLD).sum()),
        _instructions(rows, np.flatnonzero(leaking), by, path, target.places),
        found,
        0 if attack is None else len(attack),
        () if counted is None else _attacked_at(found, counted, blocks, target, path),
        fitted,
    )


@dataclass
class _Path:
    """The instructions that all traces have in common."""

    executes: npt.NDArray[np.uint32]
    transfers: npt.NDArray[np.uint32]
    diverges: int | None = None
    """The instruction where they part."""

    def meet(self, other: Recorded) -> None:
        """Cut off what another trace does not have."""
        length = min(len(self.executes), len(other.executes))
        differ = (self.executes[:length] != other.executes[:length]) | (
            self.transfers[:length] != other.transfers[:length]
        )
        if differ.any():
            length = int(differ.argmax())
        if length < max(len(self.executes), len(other.executes)):
            before = self.executes[:length]
            begun = before[before != 0]
            self.diverges = int(begun[-1]) if begun.size else int(other.executes[0])
        self.executes, self.transfers = self.executes[:length], self.transfers[:length]

    def at(self, cycle: int, component: int) -> int:
        """Return the instruction that a component's count in a cycle belongs to."""
        if component >= _EXECUTING and self.transfers[cycle]:
            return int(self.transfers[cycle])
        begun = self.executes[: cycle + 1]
        begun = begun[begun != 0]
        return int(begun[-1]) if begun.size else 0


def _weighed(rows: Bytes, by: Floats) -> Floats:
    """Return samples by trace and cycle; trace by trace, because counts are bytes."""
    return np.stack([each @ by for each in rows])


def _tested(samples: Mapping[str | None, Floats]) -> Floats:
    """Return t of each fixed group against the random one, by cycle."""
    return np.stack(
        [side_channel.welch(samples[f], samples[None]) for f in samples if f is not None]
    )


def _groups(
    target: Target, traces: int, *, first: int = 0, path: _Path | None = None
) -> tuple[dict[str | None, Bytes], _Path]:
    """Execute with fixed and random secrets; return rows by group, and what all have in common.

    Args:
        target: what is executed.
        traces: how many.
        first: the number of the first trace, less 1.
        path: what earlier ones have in common.
    """
    groups: dict[str | None, list[Bytes]] = {"zero": [], "other": [], None: []}
    wanted = {"zero": traces // 4, "other": traces // 4, None: traces - 2 * (traces // 4)}
    for fixed, group in groups.items():
        number = first
        while len(group) < wanted[fixed]:
            number += 1
            one = target.trace(number, fixed)
            if one is None:
                if fixed == "zero":
                    break
                continue
            if path is None:
                path = _Path(one.executes, one.transfers)
                _check_room(one, traces)
            path.meet(one)
            group.append(one.rows)
    if path is None:
        raise InputError("no secret is accepted", "--operation")
    if not groups["zero"]:
        del groups["zero"]
    length = len(path.executes)
    return {f: np.stack([rows[:length] for rows in g]) for f, g in groups.items()}, path


def _check_room(one: Recorded, traces: int) -> None:
    """Refuse traces that are too long to keep so many."""
    if one.rows.nbytes * traces <= MOST_BYTES:
        return
    most = MOST_BYTES // one.rows.nbytes
    what = f"{traces} traces of {len(one.rows):,} cycles are too many to keep"
    mend = (
        f"give {most} or fewer"
        if most >= LEAST_TRACES
        else "model a shorter operation, or call a function of it"
    )
    raise InputError(what, "--traces", mend)


def _stacked(group: list[Bytes]) -> Bytes:
    shortest = min(map(len, group))
    return np.stack([rows[:shortest] for rows in group])


def _strongest(rows: Mapping[str | None, Bytes], cycles: npt.NDArray[np.int64]) -> Floats:
    """Return t by cycle and component, of the fixed group that differs more."""
    each = _tested({f: group[:, cycles].astype(np.float64) for f, group in rows.items()})
    more = np.abs(each).argmax(axis=0)
    found: Floats = np.take_along_axis(each, more[None], axis=0)[0]
    return found


def _instructions(
    rows: Mapping[str | None, Bytes],
    cycles: npt.NDArray[np.int64],
    by: Floats,
    path: _Path,
    places: Located,
) -> tuple[Leaking, ...]:
    """Name the instructions of cycles that leak, each by the component that leaks most."""
    if not cycles.size:
        return ()
    t = np.concatenate(
        [_strongest(rows, some) for some in np.array_split(cycles, 1 + len(cycles) // _AT_ONCE)]
    ) * (by > 0)
    best: dict[int, tuple[float, int, int]] = {}
    times: Counter[int] = Counter()
    for at, cycle in enumerate(cycles):
        component = int(np.abs(t[at]).argmax())
        address = path.at(int(cycle), component)
        times[address] += 1
        here = (float(t[at, component]), component, int(cycle))
        if abs(here[0]) > abs(best.get(address, (0.0, 0, 0))[0]) or address not in best:
            best[address] = here
    ordered = sorted(best.items(), key=lambda item: -abs(item[1][0]))
    return tuple(
        Leaking(places[address], ACTIVITY[component], value, cycle, times[address])
        for address, (value, component, cycle) in ordered
    )


def _attack(target: Target, count: int, cycles: int) -> tuple[Bytes | None, Bytes]:
    """Return counts with a fixed key and random blocks, and the blocks; None if it has none."""
    rows, blocks = [], []
    for number in range(count):
        done = target.attacked(number)
        if done is None:
            return None, np.zeros((0, _AES_BLOCK), np.uint8)
        rows.append(done[0].rows[:cycles])
        blocks.append(np.frombuffer(done[1], np.uint8))
    return _stacked(rows), np.stack(blocks)


def _attacked_at(
    found: Sequence[KeyByte], counted: Bytes, blocks: Bytes, target: Target, path: _Path
) -> tuple[Place, ...]:
    """Return the instruction that shows each key byte most."""
    places = []
    for number, each in enumerate(found):
        right = np.array([target.key()[number]], np.uint8)
        weights = side_channel.aes_weights(blocks, number, right)
        here = counted[:, each.column].astype(np.float64)
        component = int(np.abs(side_channel.correlations(weights, here)[0]).argmax())
        places.append(target.places[path.at(each.column, component)])
    return tuple(places)


def _save(
    path: Path,
    samples: Mapping[str | None, Floats],
    instructions: npt.NDArray[np.uint32],
    attacked: tuple[Floats, Bytes, bytes] | None,
) -> None:
    """Write modelled traces."""
    names = {"zero": "fixed_zero", "other": "fixed_other", None: "random"}
    arrays: dict[str, npt.NDArray[Any]] = {
        names[fixed]: group.astype(np.float32) for fixed, group in samples.items()
    }
    arrays["instruction"] = instructions
    if attacked is not None:
        traces, arrays["textin"], key = attacked
        arrays["traces"] = traces.astype(np.float32)
        arrays["key"] = np.frombuffer(key, np.uint8)
    try:
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
    except OSError as error:
        raise InputError(str(error.strerror), str(path)) from error


class OfPrimitive:
    """An operation of a primitive's build.

    Args:
        implementation: the implementation that the image was built from.
        board: the board it runs on.
        image: the image.
        operation: its name.
    """

    def __init__(
        self, implementation: Implementation, board: Board, image: BuiltImage, operation: str
    ) -> None:
        self._implementation, self._operation = implementation, operation
        program = Image.load(image.path)
        self.places = Located(image.path, board.core, program.symbols)
        self._machine = EmulatedBoard(
            chips.load_chip(board.chip),
            program,
            wiring=board.wiring if implementation.accelerators else None,
            marker=board.marker.pin,
            port=board.serial.port,
            cold=True,
            budget_cycles=implementation.cycles_max(operation),
        )
        self._machine.count_activity()
        self._device = Device(self._machine, attempts=1)
        self._is_warm = False

    def _run(self, inputs: Mapping[str, bytes], expected: Mapping[str, bytes]) -> Recorded:
        for slot, data in inputs.items():
            self._device.write(slot, data)
        # Fetches in flight when a window begins arrive later the first time.
        for _ in range(1 if self._is_warm else 2):
            self._machine.take_activity()
            status = self._device.run(self._operation).status
        self._is_warm = True
        found = _recorded(self._machine.take_activity())
        if status is not Status.OK:
            raise VerificationError(f"{self._implementation} {self._operation} refused its inputs")
        for slot, right in expected.items():
            if self._device.read(slot, len(right)) != right:
                what = f"{self._implementation} {self._operation} gave a wrong {slot}"
                raise VerificationError(what)
        return found

    def trace(self, number: int, fixed: str | None) -> Recorded | None:
        """Execute once; see `Target`."""
        algorithm = self._implementation.algorithm
        source = random.Random(f"{algorithm} {'fixed' if fixed else number}")
        try:
            put = _exchange(
                algorithm, self._operation, bytes if fixed == "zero" else source.randbytes
            )
        except ValueError:
            return None
        return self._run(put.inputs, put.expected)

    def attacked(self, number: int) -> tuple[Recorded, bytes] | None:
        """Execute with a random block; see `Target`."""
        algorithm = self._implementation.algorithm
        if algorithm.contract.name != "block-cipher" or self._operation != "encrypt":
            return None
        if not algorithm.name.startswith("aes-"):
            return None
        source = random.Random(f"{algorithm} block {number}")
        secrets = iter([self.key()])
        put = _exchange(
            algorithm, self._operation, lambda size: next(secrets, None) or source.randbytes(size)
        )
        return self._run(put.inputs, put.expected), put.inputs["message"][:_AES_BLOCK]

    def key(self) -> bytes:
        """Return the key of attacks."""
        algorithm = self._implementation.algorithm
        return random.Random(f"{algorithm} key").randbytes(algorithm.sizes["key_bytes"])

    def given(self, inputs: Mapping[str, bytes]) -> Recorded:
        """Execute with these inputs; see `Target`."""
        slots = self._implementation.algorithm.contract.operation(self._operation).takes
        missing = [slot for slot in slots if slot not in inputs]
        if missing:
            raise InputError(f"no array '{missing[0]}'", "--weights", weighing.FORMAT)
        return self._run({slot: inputs[slot] for slot in slots}, {})


class OfProgram:
    """A function of somebody's own program, called again and again from the same state.

    Args:
        path: the program's ELF file.
        board: the board that it is for.
        function: the function's symbol.
        secrets: what is fixed in some traces and random in others.
        fresh: symbols or addresses with numbers of bytes: random in all traces.
        plaintext: where a block of 16 bytes is that an attacker knows, for an attack on AES whose
            key is the first secret.
        max_cycles: cycles for the program to get there, and for the function to return.

    Raises:
        InputError: something is not there.
        BudgetError: the function is not called, or does not return.
        FaultError: the program faulted.
    """

    def __init__(
        self,
        path: Path,
        board: Board,
        function: str,
        secrets: Sequence[Shared],
        *,
        fresh: Sequence[tuple[str, int]] = (),
        plaintext: str | None = None,
        max_cycles: int = BUDGET_CYCLES,
    ) -> None:
        program = _loaded(path)
        self._function, self._max_cycles = function, max_cycles
        self._secrets = [
            (
                [
                    _resolved_bytes(path, program, share, each.length, "--secret")
                    for share in each.shares
                ],
                each.length,
            )
            for each in secrets
        ]
        self._fresh = [
            (_resolved_bytes(path, program, name, length, "--random"), length)
            for name, length in fresh
        ]
        self._plaintext = (
            None
            if plaintext is None
            else _resolved_bytes(path, program, plaintext, _AES_BLOCK, "--plaintext")
        )
        if plaintext is not None and self._secrets[0][1] < _AES_BLOCK:
            what = f"{secrets[0]} has {secrets[0].length} bytes, and a key of AES 16 or more"
            raise InputError(what, "--secret", "let the first one be the key")
        _refuse_overlaps(
            [
                *(
                    (share, "--secret", at, length)
                    for each, (places, length) in zip(secrets, self._secrets, strict=True)
                    for share, at in zip(each.shares, places, strict=True)
                ),
                *(
                    (name, "--random", at, length)
                    for (name, _), (at, length) in zip(fresh, self._fresh, strict=True)
                ),
                *(
                    [(plaintext, "--plaintext", self._plaintext, _AES_BLOCK)]
                    if plaintext is not None and self._plaintext is not None
                    else []
                ),
            ]
        )
        self._named = {str(each): at for each, (at, _) in zip(secrets, self._secrets, strict=True)}
        if plaintext is not None and self._plaintext is not None:
            self._named[plaintext] = [self._plaintext]
        self.places = Located(path, board.core, program.symbols)
        start = _resolved_function(path, program, function, board)
        calls = instruction_sets.calls(board.core)
        chip = chips.load_chip(board.chip)
        try:
            machine = Machine(chip, program, wiring=board.wiring)
            stop = machine.run(until=start, until_asleep=True, max_cycles=max_cycles)
        except EngineError as error:
            raise InputError(str(error), str(path)) from error
        if stop.reason != "address":
            raise _never(stop, function, machine.cycles, self.places, called=False)
        self._machine = machine
        self._registers = machine.registers
        named = {name.upper(): value for name, value in self._registers.items()}
        self._stack = named["SP"]
        self._back = (
            int.from_bytes(machine.read_memory(self._stack, 2), "little")
            if calls.returns_to is None
            else named[calls.returns_to] & ~1
        )
        rams = [memory for memory in chip.memories if memory.kind == "ram"]
        self._memory = [(ram.start, machine.read_memory(ram.start, ram.size)) for ram in rams]
        self._is_warm = False

    def _run(self, written: Mapping[int, bytes]) -> Recorded:
        """Call the function with these bytes in memory."""
        found = self._once(written)
        if not self._is_warm:
            # What ran before the first call is still in the pipeline.
            self._is_warm = True
            found = self._once(written)
        return found

    def _once(self, written: Mapping[int, bytes]) -> Recorded:
        machine = self._machine
        for start, data in self._memory:
            machine.write_memory(start, data)
        for name, value in self._registers.items():
            machine.set_register(name, value)
        try:
            for address, data in written.items():
                machine.write_memory(address, data)
        except EngineError as error:
            raise InputError(str(error)) from error
        machine.forget_memory()
        machine.count_activity(True)
        begin = machine.cycles
        while True:
            left = max(begin + self._max_cycles - machine.cycles, 1)
            stop = machine.run(until=self._back, until_asleep=True, max_cycles=left)
            if stop.reason != "address":
                cycles = machine.cycles - begin
                raise _never(stop, self._function, cycles, self.places, called=True)
            if {name.upper(): value for name, value in machine.registers.items()}[
                "SP"
            ] >= self._stack:
                break
        found = _recorded(machine.take_activity())
        machine.count_activity(False)
        return found

    def _written(self, source: random.Random, fixed: str | None) -> dict[int, bytes]:
        constant = random.Random("fixed")
        written: dict[int, bytes] = {}
        for shares, length in self._secrets:
            secret = source.randbytes(length)
            other = constant.randbytes(length)
            if fixed is not None:
                secret = bytes(length) if fixed == "zero" else other
            written |= _shared(secret, shares, source)
        written |= {at: source.randbytes(length) for at, length in self._fresh}
        return written

    def trace(self, number: int, fixed: str | None) -> Recorded:
        """Execute once; see `Target`."""
        return self._run(self._written(random.Random(f"{fixed} {number}"), fixed))

    def attacked(self, number: int) -> tuple[Recorded, bytes] | None:
        """Execute with a random block; see `Target`."""
        if self._plaintext is None:
            return None
        source = random.Random(f"block {number}")
        block = source.randbytes(_AES_BLOCK)
        return self._run(self._written(source, "other") | {self._plaintext: block}), block

    def key(self) -> bytes:
        """Return the fixed key."""
        return random.Random("fixed").randbytes(self._secrets[0][1])

    def given(self, inputs: Mapping[str, bytes]) -> Recorded:
        """Execute with these inputs; see `Target`."""
        source = random.Random("given")
        written = {at: source.randbytes(length) for at, length in self._fresh}
        for name, shares in self._named.items():
            if name not in inputs:
                raise InputError(f"no array '{name}'", "--weights", weighing.FORMAT)
            written |= _shared(inputs[name], shares, source)
        return self._run(written)


def _refuse_overlaps(ranges: Sequence[tuple[str, str, int, int]]) -> None:
    """Refuse bytes that are given twice: what is written last would replace the secret.

    Args:
        ranges: name, option, address and number of bytes of each.

    Raises:
        InputError: two have a byte in common.
    """
    for number, (name, option, at, length) in enumerate(ranges):
        for other, of, start, size in ranges[:number]:
            if at < start + size and start < at + length:
                what = f"{name} and {other} of {of} have bytes in common"
                mend = "each byte is a secret, a share of one, random or the block"
                raise InputError(what, option, mend)


def _shared(secret: bytes, shares: Sequence[int], source: random.Random) -> dict[int, bytes]:
    """Return a secret divided into shares, by address."""
    written = {}
    left = int.from_bytes(secret, "big")
    for at in shares[1:]:
        share = source.randbytes(len(secret))
        left ^= int.from_bytes(share, "big")
        written[at] = share
    return {**written, shares[0]: left.to_bytes(len(secret), "big")}
