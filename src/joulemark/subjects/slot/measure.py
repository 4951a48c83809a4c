"""Shortens time slots: one task per case."""

import hashlib
from collections.abc import Iterable
from functools import partial

from joulemark.campaign.job import Point
from joulemark.conduct import Means, Records, Task, Work, of_tasks
from joulemark.errors import JoulemarkError
from joulemark.measure.side_by_side import side_by_side
from joulemark.subjects.slot.case import SlotCase
from joulemark.subjects.slot.options import SlotOptions
from joulemark.subjects.slot.record import key, record
from joulemark.subjects.slot.tune import tune

_QUICKEST = ("", "hardware", "hybrid", "software")
"""Strategies from the least to the most work to emulate."""


def plan(options: SlotOptions, means: Means) -> Work:
    """Expand options to cases and build their images.

    Raises:
        InputError: a board cannot be found, or has no such clock or cipher.
    """
    return work(options.cases(), options.slots, means)


def work(cases: Iterable[SlotCase], proof_slots: int, means: Means) -> Work:
    """Return the work of cases.

    A case whose stored proof covers fewer slots than asked for is measured again.

    Args:
        cases: the cases.
        proof_slots: how many slots to run without a missed moment.
        means: its workers do the work.
    """
    distinct = {case.case.digest: case for case in cases}
    tasks = {
        case.case.digest: task
        for case, task in side_by_side(
            partial(_task, case, proof_slots) for case in distinct.values()
        )
    }
    longest = sorted(distinct.values(), key=lambda case: -_QUICKEST.index(case.subject.strategy))
    return of_tasks([tasks[case.case.digest] for case in longest], means)


def _task(case: SlotCase, proof_slots: int) -> tuple[SlotCase, Task]:
    try:
        digest = key(case)
    except JoulemarkError as error:
        digest = hashlib.sha256(f"{case.case.digest}{error}".encode()).hexdigest()
        return case, Task(points=(Point(case=case.case, trials=0, key=digest),), measure=error)
    point = Point(case=case.case, trials=proof_slots, key=digest, least_trials=proof_slots)
    return case, Task(points=(point,), measure=partial(_measure, case, proof_slots))


def _measure(case: SlotCase, proof_slots: int) -> Records:
    return [record(tune(case, proof_slots=proof_slots))]
