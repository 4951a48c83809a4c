"""Measures primitives: on emulated boards, on a real one, or on this machine."""

from collections.abc import Callable, Collection, Iterable, Iterator

from joulemark.campaign.plan import Plan
from joulemark.campaign.plan import plan as planned
from joulemark.catalogue.primitives import Implementation, library
from joulemark.conduct import Means, Records, Work
from joulemark.subjects.primitive.cases import left_out
from joulemark.subjects.primitive.options import PrimitiveOptions


def plan(
    options: PrimitiveOptions, means: Means, able: Callable[[Implementation], bool] = lambda _: True
) -> Work:
    """Build the images of a campaign and find its cases.

    Args:
        options: the campaign.
        means: what builds and measures.
        able: filters implementations.

    Raises:
        InputError: a name matches nothing, or a file is invalid.
        ToolError: tools are missing; the error names all of them.
    """
    todo = planned(
        options,
        means.bench.setup,
        builder=means.workers,
        building=means.progress.building,
        built=means.progress.built,
        able=able,
    )
    named = options.kind or options.primitive or options.implementation
    on_request = [] if named else _on_request(todo)
    return of_plan(todo, means, (*on_request, *left_out(todo.beyond)))


def of_plan(todo: Plan, means: Means, notices: Iterable[str] = ()) -> Work:
    """Return the work of a plan."""

    def measure(left: Collection[str]) -> Iterator[Records]:
        return means.bench.measure(todo.only(left), means.workers, means.tell)

    return Work(points=todo.points, measure=measure, notices=tuple(notices))


def _on_request(todo: Plan) -> list[str]:
    """Return notes on what a campaign that names nothing leaves out, by core."""
    left: dict[str, set[str]] = {}
    for firmware in (job.firmware for job in todo.jobs):
        if firmware.board is None:
            continue
        core = firmware.board.instruction_set
        for implementation in library().implementations(library()[firmware.primitive]):
            some = {p.name for p in implementation.parts if p.is_on_request(core)}
            left.setdefault(core, set()).update(some)
    return [
        f"on {core} on request only: {', '.join(sorted(names))}; --implementation 'NAME*' chooses"
        for core, names in sorted(left.items())
        if names
    ]
