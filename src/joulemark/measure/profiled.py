"""Runs an image on a board and says where it spends its cycles, energy and stack."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from joulemark._engine import EngineError, Followed, Image, Machine, PowerInterval, Profile
from joulemark.analysis.spending import ASLEEP, Spending
from joulemark.catalogue import chips
from joulemark.catalogue.boards import Board, Grade
from joulemark.catalogue.primitives import library
from joulemark.errors import InputError, JoulemarkError
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import Occupancy, occupancy
from joulemark.runners.emulator import EmulatedBoard
from joulemark.runners.protocol import Device, Status
from joulemark.runners.whole import DEFAULT_MAX_CYCLES, RESETS, end_error, run_machine
from joulemark.subjects.primitive.choose import message_bytes


@dataclass(frozen=True)
class Profiled:
    """The profiled run, and how it ended if not as asked for."""

    costs: Profile
    followed: Followed
    times: Occupancy
    cycles: int
    instructions: int
    power: Mapping[str, Sequence[PowerInterval]] = field(default_factory=dict)
    """Power states of the board's parts; empty for a window."""
    failure: JoulemarkError | None = None

    def spending(self, board: Board) -> Spending:
        """Return its costs on the board."""
        return Spending(self.followed, ModelMeter(board), board.supply_v.value)

    def grade(self, board: Board) -> Grade | None:
        """Return the weakest grade of the currents behind its energy."""
        return ModelMeter(board).energy(self.times).grade

    def by_function(self, board: Board) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return a row per function, those with the most cycles first, and one of sleep, if any."""
        spending = self.spending(board)
        spent_nj = spending.by_function()
        nothing = [0.0] * len(spending.parts)
        asleep_nj = spent_nj.pop(ASLEEP, nothing)
        parts = [
            n for n in range(len(nothing)) if asleep_nj[n] or any(nj[n] for nj in spent_nj.values())
        ]
        functions = sorted(self.costs.functions, key=lambda f: -f.self_cycles)
        cycles = sum(f.self_cycles for f in functions) or 1
        names = {n: spending.parts[n] for n in parts} if len(parts) > 1 else {}

        def energies(parts_nj: list[float]) -> dict[str, float]:
            each = {f"{name} µJ": parts_nj[n] / 1e3 for n, name in names.items()}
            return {"energy µJ": sum(parts_nj) / 1e3} | each

        rows: list[dict[str, Any]] = [
            {
                "function": f.name,
                "calls": f.calls,
                "self cycles": f.self_cycles,
                "%": 100 * f.self_cycles / cycles,
                "total cycles": f.total_cycles,
                "stack B": f.stack_bytes,
            }
            | energies(spent_nj.get(f.name, nothing))
            for f in functions
        ]
        if not any(asleep_nj) or not rows:
            return rows, []
        return rows, [dict.fromkeys(rows[0]) | {"function": ASLEEP} | energies(asleep_nj)]


def whole(
    program: Image,
    board: Board,
    *,
    entry: int | None = None,
    until: int | None = None,
    max_cycles: int | None = None,
    settings: Mapping[str, int] | None = None,
) -> Profiled:
    """Profile an image from its start to its end.

    Args:
        program: the image.
        board: the board that it runs on.
        entry: its start address, if not the usual one.
        until: stop before the instruction at this address.
        max_cycles: the budget; a default one if not given.
        settings: initial values of the chip's settings.

    Raises:
        InputError: the image or a setting does not suit the chip.
    """
    budget = DEFAULT_MAX_CYCLES if max_cycles is None else max_cycles
    try:
        machine = Machine(
            chips.load_chip(board.chip),
            program,
            wiring=board.wiring,
            entry=entry,
            profile=True,
            trace=True,
            follow=True,
            resets=RESETS,
            settings=dict(settings) if settings else None,
        )
    except EngineError as error:
        raise InputError(str(error)) from error
    stop = run_machine(machine, until, budget)
    return Profiled(
        costs=machine.profile,
        followed=machine.followed,
        times=occupancy(machine.power_tracks, 0, machine.time_ps),
        power=machine.power_tracks,
        cycles=machine.cycles,
        instructions=machine.instructions,
        failure=end_error(
            stop, awaited=until is not None, budget=max_cycles is not None, max_cycles=budget
        ),
    )


def window(program: Image, board: Board, operation: str, asked: int | None = None) -> Profiled:
    """Profile one operation of an image that speaks the project's protocol, with random inputs.

    Args:
        program: the image.
        board: the board that it runs on.
        operation: the operation.
        asked: size of the message; the usual one if not given, where there is a message.

    Raises:
        InputError: the operation or the size is not one of the image's.
    """
    try:
        machine = EmulatedBoard(
            chips.load_chip(board.chip),
            program,
            wiring=board.wiring,
            marker=board.marker.pin,
            port=board.serial.port,
            profile=True,
            follow=True,
        )
    except EngineError as error:
        raise InputError(str(error)) from error
    device = Device(machine, attempts=1)
    algorithm = library()[device.description["primitive"]]
    size = message_bytes(algorithm.contract, [operation], asked)
    if algorithm.contract.sized([operation]) and not algorithm.takes_message(size):
        raise InputError(
            f"{algorithm.name} takes no message of {size} bytes",
            "--size",
            f"give {algorithm.messages_taken}",
        )
    random_bytes = random.Random(0).randbytes
    exchange = algorithm.contract.exchange(
        operation,
        sizes={**algorithm.sizes, "message": size},
        forward=algorithm.oracle,
        secret=random_bytes,
        public=random_bytes,
    )
    for slot, data in exchange.inputs.items():
        device.write(slot, data)
    result = device.run(operation)
    if result.status is not Status.OK:
        raise InputError(f"{operation} of {size} bytes {result.status}", "--size")
    window = machine.take_window()
    assert window.profile is not None  # noqa: S101
    assert window.followed is not None  # noqa: S101
    return Profiled(
        window.profile, window.followed, window.times, window.cycles, window.instructions
    )
