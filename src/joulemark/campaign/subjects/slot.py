"""A time slot: a frame and its acknowledgement at a security level, by a strategy."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from joulemark.campaign.subjects import About, Subject

Strategy = Literal["software", "hybrid", "hardware"]
STRATEGIES: tuple[Strategy, ...] = ("software", "hybrid", "hardware")
Ahead = Literal["", "keystream", "frame"]
AHEAD: tuple[Ahead, ...] = ("", "keystream", "frame")
LEVELS = ("none", "mic-32", "mic-64", "mic-128", "enc", "enc-mic-32", "enc-mic-64", "enc-mic-128")
"""Security levels of IEEE 802.15.4 by their numbers (table 9-6 of the standard)."""


@dataclass(frozen=True, kw_only=True)
class SlotSubject(Subject):
    """The shortest slot for a frame of 127 bytes."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    strategy: str
    """Of CCM*: "software", "hybrid" or "hardware"; empty without security."""
    level: int
    key_id_mode: int = 1
    counter_carried: bool = False
    """The frame counter is in the header as well, though the nonce has the slot's number."""
    cipher: str = ""
    """Implementation of AES, where software does it."""
    keys_stay: bool = False
    """A key that was expanded, or loaded into the radio, stays there."""
    streamed: bool = False
    """A frame is unsecured while it still arrives."""
    ahead: Ahead = ""
    """Work done before it is needed: the key stream of all frames of a slot, while a mote waits;
    or all of a frame as well, in an idle slot before its own."""
    brief: bool = False
    """Acknowledgements name nobody: whose they are, the slot tells."""
    guard_ticks: Annotated[int, Field(ge=1)] = 36
    """How early or late a frame may come."""
    ack_guard_ticks: Annotated[int, Field(ge=1)] = 13
    dma: bool = False
    """Bytes go to and from a radio on a bus by the DMA controller."""
    plain: bool = False
    """Security is plain: each byte on a bus is waited for, a frame that the radio secures goes
    there and back for that alone, an engine takes one block after the other, and in memory
    frames are gathered in buffers and combined byte by byte."""
    motes: Annotated[int, Field(ge=0, le=200)] = 0
    """Size of the network whose tables of devices are looked up, and that is run with the slot: a
    root and its leaves; 0: a table of ten, and nothing but the two motes that prove the slot."""

    def __str__(self) -> str:
        if self.level == 0:
            return "slot without security" + (f", network of {self.motes}" if self.motes else "")
        cipher = f" ({self.cipher})" if self.cipher else ""
        what = [f"slot {LEVELS[self.level]} in {self.strategy}{cipher}"]
        what.append(f"key mode {self.key_id_mode}" + (" and counter" * self.counter_carried))
        if self.keys_stay:
            what.append("keys stay")
        if self.streamed:
            what.append("streamed")
        if self.ahead:
            what.append(f"{self.ahead} ahead")
        if self.brief:
            what.append("brief acknowledgements")
        if (self.guard_ticks, self.ack_guard_ticks) != (36, 13):
            what.append(f"guards of {self.guard_ticks} and {self.ack_guard_ticks} ticks")
        if self.dma:
            what.append("bus by DMA")
        if self.plain:
            what.append("plain driver")
        if self.motes:
            what.append(f"network of {self.motes}")
        return ", ".join(what)

    def about(self) -> About:
        """A slot has no standing of its own: its frames are a standard's."""
        return About(title=f"TSCH slot, {LEVELS[self.level]}", group="Time slots", main=True)
