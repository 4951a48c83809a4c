"""Cases one after another, or several at a time: served from the store or measured."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import cast

from joulemark.campaign.subjects.slot import SlotSubject
from joulemark.errors import JoulemarkError
from joulemark.measure.pool import in_processes
from joulemark.measure.side_by_side import side_by_side
from joulemark.measure.slot.case import SlotCase
from joulemark.measure.slot.record import SlotRecord, key, record
from joulemark.measure.slot.tune import tune
from joulemark.records.record import Record
from joulemark.records.store import Store

_QUICKEST = ("", "hardware", "hybrid", "software")
"""Strategies by how much there is to emulate."""


def measured(
    cases: Sequence[SlotCase], store: Store, *, proof_slots: int, jobs: int
) -> Iterator[tuple[SlotCase, SlotRecord | JoulemarkError]]:
    """Records of cases: the store's, where nothing has changed; else measured and kept.

    One whose proof is shorter than is asked for is measured again. Those that are in the store
    come first, the others as they are done.

    Args:
        cases: which.
        store: of records.
        proof_slots: how many slots are run without a missed moment.
        jobs: how many cases at a time.

    Raises:
        StoreError: the store cannot be read or written.
    """
    keys: dict[str, SlotCase] = {}
    for case, known in side_by_side(partial(_keyed, case) for case in cases):
        if isinstance(known, str):
            keys[known] = case
        else:
            yield case, known
    served = store.served(keys)
    for found in store.load(one.id for one in served.values()):
        enough = isinstance(found.subject, SlotSubject) and (found.trials or 0) >= proof_slots
        if enough:
            yield keys.pop(found.key), cast("SlotRecord", found)
    # What takes longest comes first, so that no core is left alone with it at the end.
    longest = sorted(keys.values(), key=lambda case: -_QUICKEST.index(case.subject.strategy))
    for case, made in in_processes(partial(_measure, proof_slots), longest, jobs):
        if isinstance(made, Record):
            store.append(made)
        yield case, made


def _keyed(case: SlotCase) -> tuple[SlotCase, str | JoulemarkError]:
    try:
        return case, key(case)
    except JoulemarkError as error:
        return case, error


def _measure(proof_slots: int, case: SlotCase) -> SlotRecord | JoulemarkError:
    try:
        return record(tune(case, proof_slots=proof_slots))
    except JoulemarkError as error:
        return error
