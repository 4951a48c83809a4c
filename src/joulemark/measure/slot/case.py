"""The slot to be shortened, and the template that is much longer than it needs."""

from dataclasses import dataclass, replace

from joulemark.analysis.slot import Template
from joulemark.campaign.case import Build, Case, Conditions
from joulemark.campaign.subjects.slot import SlotSubject
from joulemark.catalogue.boards import Board

WIDE = Template(slot=14_000, tx_offset=5000, tx_ack_delay=7000)
"""427 ms: software without optimisation at half the clock has time enough."""


@dataclass(frozen=True, kw_only=True)
class SlotCase:
    """The slot to be shortened."""

    board: Board
    clock: str
    subject: SlotSubject
    build: Build

    @property
    def wide(self) -> Template:
        """Much longer than is needed."""
        subject = self.subject
        return replace(WIDE, guard=subject.guard_ticks, ack_guard=subject.ack_guard_ticks)

    @property
    def case(self) -> Case:
        """As records know it."""
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
