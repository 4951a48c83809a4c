"""The slot to be shortened, and a template with far more time than it needs."""

from dataclasses import dataclass, replace

from joulemark.campaign.case import Build, Case, Conditions
from joulemark.catalogue.boards import Board
from joulemark.subjects.slot import SlotSubject
from joulemark.subjects.slot.template import Template

WIDE = Template(slot=14_000, tx_offset=5000, tx_ack_delay=7000)
"""427 ms: enough even for unoptimised software at half the clock."""


@dataclass(frozen=True, kw_only=True)
class SlotCase:
    """The slot to be shortened."""

    board: Board
    clock: str
    subject: SlotSubject
    build: Build

    @property
    def wide(self) -> Template:
        """A template with far more time than is needed."""
        subject = self.subject
        return replace(WIDE, guard=subject.guard_ticks, ack_guard=subject.ack_guard_ticks)

    @property
    def case(self) -> Case:
        """The case as records know it."""
        return Case(
            subject=self.subject,
            build=self.build,
            conditions=Conditions(
                board=self.board.name,
                clock=self.clock,
                runner="emulator",
                meter="model",
                unit="emulated",
            ),
        )
