"""The one loop that measures: it serves cases from the store, and measures what is left.

A subject's `measure.py` says what there is to do: its function `plan(options, means)` expands a
table of a campaign to `Work`. Each record is stored as it is made.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from joulemark import subjects
from joulemark.campaign.job import Point
from joulemark.campaign.options import Options
from joulemark.campaign.versions import project_commit
from joulemark.catalogue import boards
from joulemark.errors import JoulemarkError, ToolError
from joulemark.measure.bench import Bench, Workers
from joulemark.measure.recorded import on_board, recorded
from joulemark.records.record import Record
from joulemark.records.store import Served, Store
from joulemark.subjects import Subject

Records = Sequence[Record[Subject]]


def _silently(_: str) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Called while images are built."""

    building: Callable[[int, int, int], None] = lambda _images, _cases, _long: None
    """Before the first, with the numbers of images, of cases, and of those that may take long."""
    built: Callable[[], None] = lambda: None
    """After each image."""


@dataclass(frozen=True, kw_only=True)
class Means:
    """What builds images and measures cases."""

    workers: Workers
    bench: Bench = field(default_factory=Bench)
    tell: Callable[[str], None] = _silently
    """Says something to the user."""
    progress: Progress = field(default_factory=Progress)


@dataclass(frozen=True, kw_only=True)
class Task:
    """Cases that are measured together, in any process that has the same Joulemark."""

    points: tuple[Point, ...]
    measure: "Callable[[], Records] | JoulemarkError"
    """A partial application of a module's function; or why there is nothing to measure."""

    def done(self) -> "Records | JoulemarkError":
        """Return the records, or why there are none."""
        if isinstance(self.measure, JoulemarkError):
            return self.measure
        try:
            return self.measure()
        except JoulemarkError as error:
            return error


@dataclass(frozen=True, kw_only=True)
class Work:
    """Cases, and what measures them."""

    points: Sequence[Point]
    measure: Callable[[Collection[str]], Iterator[Records]]
    """Measures the cases with these keys, and yields records in batches as they are made."""
    notices: Sequence[str] = ()
    """What a user is told afterwards, such as cases that are left out."""
    errors: dict[str, JoulemarkError] = field(default_factory=dict)
    """Why cases of tasks failed, by key; filled while they are measured."""


def of_tasks(tasks: Sequence[Task], means: Means, notices: Sequence[str] = ()) -> Work:
    """Return the work of tasks, which workers do side by side.

    A task that fails leaves a failed record of each of its cases.

    Args:
        tasks: the longest first, so that none is left running alone at the end.
        means: its workers do the tasks.
        notices: of the work.
    """
    errors: dict[str, JoulemarkError] = {}

    def measure(left: Collection[str]) -> Iterator[Records]:
        wanted = [task for task in tasks if any(point.key in left for point in task.points)]
        for task, made in means.workers.each(Task.done, wanted):
            if isinstance(made, JoulemarkError):
                errors.update(dict.fromkeys((point.key for point in task.points), made))
                yield [_failed(point, made) for point in task.points]
                continue
            if {record.key for record in made} - {point.key for point in task.points}:
                what = "a worker built something else than was planned"
                mend = "install the same compilers on all machines"
                raise ToolError(what, str(task.points[0].case), mend)
            yield made

    points = [point for task in tasks for point in task.points]
    return Work(points=points, measure=measure, notices=notices, errors=errors)


def joined(works: Sequence[Work]) -> Work:
    """Return several works as one, done one after the other."""

    def measure(left: Collection[str]) -> Iterator[Records]:
        for work in works:
            yield from work.measure(left)
            errors.update(work.errors)

    errors: dict[str, JoulemarkError] = {}
    return Work(
        points=[point for work in works for point in work.points],
        measure=measure,
        notices=[notice for work in works for notice in work.notices],
        errors=errors,
    )


def _failed(point: Point, error: JoulemarkError) -> Record[Subject]:
    where = point.case.conditions
    circumstances = on_board(boards.load_board(where.board), where.clock, 0, project_commit())
    return recorded(point.key, point.case.subject, point.case, circumstances, str(error))


@dataclass(frozen=True, kw_only=True)
class Found:
    """What became of the cases of some work."""

    work: Work
    served: Mapping[str, Served]
    """Cases that the store had, by key."""
    measured: Records
    """New records, failed ones included."""

    def records(self, store: Store, keys: Iterable[str] | None = None) -> list[Record[Subject]]:
        """Return the records of all cases, in the work's order; without those that have none.

        Args:
            store: the store that served them.
            keys: only these cases.
        """
        wanted = [p.key for p in self.work.points] if keys is None else list(keys)
        new = {record.key: record for record in self.measured}
        old = store.load(self.served[k].id for k in wanted if k in self.served and k not in new)
        known = {record.key: record for record in old} | new
        return [known[key] for key in dict.fromkeys(wanted) if key in known]


def plan(options: Options, means: Means) -> Work:
    """Expand a table of a campaign: see `plan` of the subject's `measure.py`.

    Raises:
        InputError: a name matches nothing, or something else runs the images.
        ToolError: a tool is missing.
    """
    means.bench.check(type(options))
    work: Work = subjects.module(options.type, "measure").plan(options, means)
    return work


def conduct(
    work: Work,
    store: Store,
    *,
    fresh: bool = False,
    begun: Callable[[int], None] = lambda _: None,
    made: Callable[[Records], None] = lambda _: None,
) -> Found:
    """Measure the cases that the store does not have, and store each record as it is made.

    Args:
        work: the cases.
        store: serves records and receives the new ones, failures included.
        fresh: measure everything again.
        begun: called with the number of cases that are left.
        made: called with new records, after they are stored.

    Raises:
        JoulemarkError: a failure that is not a single case's.
        StoreError: the store cannot be read or written.
    """
    least = {point.key: point.least_trials for point in work.points}
    seeds = {point.key: point.seed for point in work.points}
    found = {} if fresh else store.served(seeds)
    served = {key: one for key, one in found.items() if one.trials >= least[key]}
    store.renew(one.id for one in served.values())
    left = least.keys() - served.keys()
    measured: list[Record[Subject]] = []
    begun(len(left))
    for records in work.measure(left) if left else ():
        store.append(*records)
        measured += records
        made(records)
    return Found(work=work, served=served, measured=measured)
