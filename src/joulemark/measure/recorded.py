"""Makes all records: from an outcome or a failure, and the circumstances they share."""

import datetime
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from joulemark._engine import Image
from joulemark.campaign.case import Case
from joulemark.campaign.versions import engine_digest, engine_version, host, project_commit
from joulemark.catalogue import accuracy, chips
from joulemark.catalogue.boards import Board
from joulemark.images import BuiltImage
from joulemark.records.record import Provenance, Quantity, Record, Sample
from joulemark.subjects import Subject

SubjectT = TypeVar("SubjectT", bound=Subject)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Outcome of measuring a case."""

    quantities: Sequence[Quantity]
    samples: Sequence[Sample] = ()
    repetitions: int = 1
    """Executions in one window."""
    trials: int | None = None
    """Executions whose output was verified; the number of samples if None."""
    addresses_equal: bool | None = None
    notes: Sequence[str] = ()


def recorded(
    key: str,
    subject: SubjectT,
    case: Case,
    provenance: Provenance,
    outcome: Outcome | str,
) -> Record[SubjectT]:
    """Make the record of a case.

    Args:
        key: digest of all that the result depends on.
        subject: the case's subject.
        case: what was measured, how it was built, where and under which conditions.
        provenance: all other circumstances.
        outcome: its numbers, or why there are none.
    """
    failure = outcome if isinstance(outcome, str) else None
    made = None if isinstance(outcome, str) else outcome
    return Record(
        key=key,
        measured_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        status="failed" if made is None else "ok",
        failure=failure,
        subject=subject,
        build=case.build,
        conditions=case.conditions,
        about=subject.about(),
        provenance=provenance,
        repetitions=case.conditions.repetitions if made is None else made.repetitions,
        trials=None if made is None else made.trials or len(made.samples) or None,
        addresses_equal=None if made is None else made.addresses_equal,
        quantities=() if made is None else tuple(made.quantities),
        samples=() if made is None else tuple(made.samples),
        notes=() if made is None else tuple(made.notes),
    )


def key_of(case: Case, *digests: str) -> str:
    """Return the digest of a case and all else that its result depends on, the engine included."""
    return hashlib.sha256("\0".join([case.digest, *digests, engine_digest()]).encode()).hexdigest()


def on_board(board: Board, clock: str, seed: int, commit: str | None) -> Provenance:
    """Return the circumstances of a run on a board, before anything is known of its image.

    Args:
        board: the board.
        clock: its clock profile.
        seed: the seed of the random inputs.
        commit: the project's.
    """
    return Provenance(
        seed=seed,
        host=host(),
        clock_hz=board.clock_profile(clock).hz,
        chip=board.chip,
        board_title=board.title,
        board_digest=board.digest,
        chip_digest=chips.digest(board.chip),
        timing_note=accuracy.of_clock(board, clock),
        memories_keep_state=board.keeps_state(clock),
        project_commit=commit,
        engine_version=engine_version(),
    )


def of_image(board: Board, clock: str, seed: int, image: BuiltImage | None) -> Provenance:
    """Return the circumstances of an image that runs on an emulated board.

    Args:
        board: the board.
        clock: its clock profile.
        seed: the seed of the random inputs.
        image: the image; None if the result depends on no image.
    """
    provenance = on_board(board, clock, seed, project_commit())
    if image is None:
        return provenance
    return replace(
        provenance,
        compiler_version=image.compiler,
        flags=image.flags,
        build_id=image.build_id,
        image_digest=Image.load(image.path).digest,
    )
