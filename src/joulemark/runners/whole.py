"""Runs any image to its end, without a harness in it."""

from typing import TYPE_CHECKING, Protocol

from joulemark.errors import BudgetError, FaultError, InputError, JoulemarkError

if TYPE_CHECKING:
    from joulemark._engine import Fault, Machine, Stop

DEFAULT_MAX_CYCLES = 4_000_000_000
"""Some ten seconds of emulation, and more than eight minutes of an 8 MHz chip."""

RESETS = 16
"""A program that resets more often is taken to reset for ever."""

_SLICE_CYCLES = 50_000_000
"""The engine runs this many cycles at a time, so that Ctrl-C is noticed."""


class Wires(Protocol):
    """Carries a program's output and input."""

    slice_cycles: int
    """Cycles between two pumps."""

    @property
    def due_ps(self) -> int | None:
        """When there is input; None if none is known of."""

    def pump(self) -> None:
        """Carry whatever is pending."""

    def semihosted(self, stop: "Stop") -> bool:
        """Return whether a stop was for semihosting, which was done."""


def run_machine(
    machine: "Machine", until: int | None, max_cycles: int, wires: "Wires | None" = None
) -> "Stop":
    """Run until an address, an end or a budget, responding to Ctrl-C on the way.

    Args:
        machine: the machine to run.
        until: stop before the instruction at this address.
        max_cycles: the budget.
        wires: carry the program's output and input on the way.
    """
    from joulemark._engine import EngineError

    end = machine.cycles + max_cycles
    while True:
        due_ps = None if wires is None else wires.due_ps
        slice_cycles = _SLICE_CYCLES if wires is None else wires.slice_cycles
        budget = min(slice_cycles, end - machine.cycles)
        try:
            stop = machine.run(
                until=until, until_asleep=due_ps is None, until_ps=due_ps, max_cycles=budget
            )
        except EngineError as error:
            raise InputError(str(error), "--stop-at") from error
        if wires is not None:
            wires.pump()
            if wires.semihosted(stop):
                continue
        if due_ps is not None and stop.reason == "time":
            continue
        if stop.reason != "cycles" or machine.cycles >= end:
            return stop


def fault_text(fault: "Fault") -> str:
    """Describe a fault with the calls that led to it."""
    frames = [f"{f.symbol}+{f.offset:#x} ({f.address:#06x})" for f in fault.call_stack]
    return "\n  called from ".join(
        [f"{fault.kind}: {fault.message}\n  in {frames[0]}", *frames[1:]]
        if frames
        else [f"{fault.kind}: {fault.message}"]
    )


def end_error(
    stop: "Stop", *, awaited: bool, budget: bool, max_cycles: int
) -> JoulemarkError | None:
    """Return the error that the end of a run amounts to, or None.

    Args:
        stop: how the run ended.
        awaited: an address to stop at was given.
        budget: a number of cycles to run was given.
        max_cycles: the budget in force.
    """
    if stop.fault is not None:
        return FaultError(f"the program faulted: {fault_text(stop.fault)}")
    if stop.reason == "cycles" and (awaited or not budget):
        return BudgetError(
            f"{max_cycles:,} cycles are spent at {stop.address:#06x} and the program has not ended",
            None,
            "give more with --max-cycles, or check --stop-at and --entry",
        )
    if stop.reason == "asleep" and awaited:
        return BudgetError(
            f"the core sleeps at {stop.address:#06x}, nothing can wake it, "
            "and --stop-at was not reached",
            None,
            "check --stop-at and --entry",
        )
    return None
