"""Proofs of slots, kept in a file, and the proof repeated from it.

A certificate holds the shortest template of each case, how many slots it passed, and what fails
with a tick less. Checking it builds the current firmware, and neither derives nor searches: the
template must pass and every template that is a tick shorter must fail, or the check says which
does not.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, cast, get_args

from pydantic import Field, ValidationError

from joulemark.campaign.case import Build
from joulemark.catalogue import boards
from joulemark.catalogue.datafile import DataModel, wrong
from joulemark.errors import InputError, UnsatisfiedError
from joulemark.subjects.slot import SlotSubject
from joulemark.subjects.slot.case import SlotCase
from joulemark.subjects.slot.proof import BINDING, TRIED_SLOTS, Bench, shorter
from joulemark.subjects.slot.record import SlotRecord
from joulemark.subjects.slot.template import Template, ps_of
from joulemark.wholefile import write_whole

Ticks = Annotated[int, Field(ge=1, le=0xFFFF)]
Part = Literal["tx-offset", "tx-ack-delay", "slot-end"]


class Failure(DataModel):
    """A template that is a tick too short."""

    slots: int
    """Slots run until one missed a moment."""
    late: Mapping[str, int]
    """Missed moments by name, and how often each was missed."""


class Proved(DataModel):
    """A case and its shortest template."""

    board: str
    clock: str
    compiler: str
    optimisation: str
    subject: SlotSubject
    slot_ticks: Ticks
    tx_offset_ticks: Ticks
    tx_ack_delay_ticks: Ticks
    proof_slots: Annotated[int, Field(ge=1)]
    """Slots that were run without a missed moment."""
    a_tick_less_of: Mapping[Part, Failure]
    image: str
    """Digest of the root's image with the template that is far too long."""
    commit: str | None
    """The project's, when the slot was proved."""

    @property
    def template(self) -> Template:
        """The template, as the firmware takes it."""
        return Template(
            slot=self.slot_ticks,
            tx_offset=self.tx_offset_ticks,
            tx_ack_delay=self.tx_ack_delay_ticks,
            guard=self.subject.guard_ticks,
            ack_guard=self.subject.ack_guard_ticks,
        )

    @property
    def slot_ms(self) -> float:
        """Length of the slot."""
        return ps_of(self.slot_ticks) / 1e9

    @property
    def case(self) -> SlotCase:
        """The case to run.

        Raises:
            InputError: there is no such board or clock.
        """
        board = boards.load_board(self.board)
        board.clock_profile(self.clock)
        return SlotCase(
            board=board,
            clock=self.clock,
            subject=self.subject,
            build=Build(compiler=self.compiler, optimisation=self.optimisation),
        )


class Certificate(DataModel):
    """Slots with their proofs."""

    joulemark_slots: Literal[1] = 1
    """The format's version."""
    proved: Sequence[Proved]


def certificate(records: Sequence[SlotRecord]) -> Certificate:
    """Return the certificate of what records prove."""
    return Certificate(proved=[_proved(one) for one in records])


def _proved(found: SlotRecord) -> Proved:
    def whole(name: str, part: str = "") -> int:
        value = found.value(name, part)
        if value is None:
            raise KeyError(name, part)
        return int(value)

    def failure(part: Part) -> Failure:
        where = f"a tick less of {part}"
        late = {
            quantity.name.removeprefix("late "): int(quantity.value)
            for quantity in found.quantities
            if quantity.part == where and quantity.name.startswith("late ")
        }
        return Failure(slots=whole("slots", where), late=late)

    build = cast("Build", found.build)  # a slot's record has one
    return Proved(
        board=found.conditions.board,
        clock=found.conditions.clock,
        compiler=build.compiler,
        optimisation=build.optimisation,
        subject=found.subject,
        slot_ticks=whole("slot_ticks"),
        tx_offset_ticks=whole("tx_offset"),
        tx_ack_delay_ticks=whole("tx_ack_delay"),
        proof_slots=found.trials or 0,
        a_tick_less_of={part: failure(part) for part in get_args(Part)},
        image=found.provenance.image_digest or "",
        commit=found.provenance.project_commit,
    )


def write(made: Certificate, path: Path) -> None:
    """Write the file.

    Raises:
        InputError: it cannot be written.
    """
    write_whole(path, (made.model_dump_json(indent=1) + "\n").encode(), "the certificate")


def read(path: Path) -> Certificate:
    """Read the file.

    Raises:
        InputError: it cannot be read, or is no certificate.
    """
    try:
        return Certificate.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from error
    except ValidationError as error:
        first = wrong(error)[0]
        mend = "write it with slot --certificate"
        raise InputError(first.what, f"{path}, key {first.key}", mend) from error


def check(proved: Proved, *, slots: int) -> Iterator[str]:
    """Repeat the proof of a case with the current firmware and emulator.

    Args:
        proved: the case and its template.
        slots: how many to run with the template.

    Yields:
        A line for each part of the proof that holds.

    Raises:
        BuildError: an image cannot be built.
        InputError: there is no such board.
        UnsatisfiedError: the slot is too short now, or no longer the shortest.
        VerificationError: a frame was wrong.
    """
    case, template = proved.case, proved.template
    bench = Bench(case, slots)
    proof = bench.proof(template, slots)
    if proof.late or proof.lost:
        missed = ", ".join(f"{name} {count} times" for name, count in proof.late.items())
        what = f"{proved.slot_ms:.3f} ms is too short now: {proof.slots:,} slots miss " + (
            missed or f"{proof.lost} acknowledgements"
        )
        raise UnsatisfiedError(what, str(case.case))
    yield f"{proof.slots:,} slots of {template.slot} ticks miss no moment"
    for part, stated in proved.a_tick_less_of.items():
        # What was late once in many slots takes as many to show again.
        failure = bench.tried(shorter(template)[part], max(TRIED_SLOTS, 2 * stated.slots))
        if not BINDING[part] & set(failure.late):
            what = f"{proved.slot_ms:.3f} ms is not the shortest now: a tick less of {part} "
            what += f"misses {', '.join(failure.late) or 'nothing'} in {failure.slots} slots"
            raise UnsatisfiedError(what, str(case.case), "measure it again")
        missed = ", ".join(f"{name} {count} times" for name, count in failure.late.items())
        yield f"a tick less of {part} misses {missed} within {failure.slots} slots"
