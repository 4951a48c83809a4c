"""Runs cases one after another or in parallel; serves them from the store where possible."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import cast

from joulemark.errors import JoulemarkError
from joulemark.measure.pool import in_processes
from joulemark.measure.side_by_side import side_by_side
from joulemark.records.record import Record
from joulemark.records.store import Store
from joulemark.subjects.slot import SlotSubject
from joulemark.subjects.slot.case import SlotCase
from joulemark.subjects.slot.record import SlotRecord, key, record
from joulemark.subjects.slot.tune import tune

_QUICKEST = ("", "hardware", "hybrid", "software")
"""Strategies from the least to the most work to emulate."""


def measured(
    cases: Sequence[SlotCase], store: Store, *, proof_slots: int, jobs: int
) -> Iterator[tuple[SlotCase, SlotRecord | JoulemarkError]]:
    """Yield the records of cases: the store's where nothing has changed, else new ones, stored.

    A case whose stored proof covers fewer slots than asked for is measured again. Stored records
    come first, the others as they are done.

    Args:
        cases: the cases.
        store: the store of records.
        proof_slots: how many slots to run without a missed moment.
        jobs: how many cases to run at a time.

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
    # The longest first, so that none is left running alone at the end.
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
