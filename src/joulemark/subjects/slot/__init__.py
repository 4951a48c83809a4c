"""A time slot: a frame and its acknowledgement at a security level, secured by a strategy."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field

from joulemark.subjects import About, Subject

Strategy = Literal["software", "hybrid", "hardware"]
STRATEGIES: tuple[Strategy, ...] = ("software", "hybrid", "hardware")
Ahead = Literal["", "keystream", "frame"]
AHEAD: tuple[Ahead, ...] = ("", "keystream", "frame")
Level = Literal[
    "none", "mic-32", "mic-64", "mic-128", "enc", "enc-mic-32", "enc-mic-64", "enc-mic-128"
]
LEVELS: tuple[Level, ...] = get_args(Level)
"""Security levels of IEEE 802.15.4 by number (table 9-6 of the standard)."""


@dataclass(frozen=True, kw_only=True)
class SlotSubject(Subject):
    """The shortest slot for a frame of 127 bytes."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    strategy: str
    """Who computes CCM*: "software", "hybrid" or "hardware"; empty without security."""
    level: int
    key_id_mode: int = 1
    counter_carried: bool = False
    """The header carries the frame counter too, although the nonce has the slot's number."""
    cipher: str = ""
    """Implementation of AES, if software computes it."""
    keys_stay: bool = False
    """A key that was expanded, or loaded into the radio, is kept there."""
    streamed: bool = False
    """A frame is unsecured while it is still arriving."""
    ahead: Ahead = ""
    """Work done in advance. "keystream": the key stream of all frames of a slot, while a mote
    waits. "frame": also the whole frame, in an idle slot before its own."""
    brief: bool = False
    """Acknowledgements carry no addresses: the slot identifies their sender and receiver."""
    guard_ticks: Annotated[int, Field(ge=1)] = 36
    """How early or late a frame may arrive."""
    ack_guard_ticks: Annotated[int, Field(ge=1)] = 13
    """How early or late an acknowledgement may arrive."""
    dma: bool = False
    """The DMA controller moves bytes to and from a radio on a bus."""
    plain: bool = False
    """A simple driver: it waits for each byte on a bus, sends a frame to the radio and back just to
    secure it, gives an engine one block at a time, and in memory gathers frames in buffers and
    combines them byte by byte."""
    motes: Annotated[int, Field(ge=0, le=200)] = 0
    """Size of the network, a root and its leaves, that is run with the slot and whose device tables
    are searched. 0: a table of ten devices, and only the two motes that prove the slot."""

    def __str__(self) -> str:
        if self.level == 0:
            network = f", network of {self.motes}" if self.motes else ""
            return "slot without security" + ", plain driver" * self.plain + network
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
        """Describe a slot by its level; it has no status because its frames follow a standard."""
        return About(title=f"TSCH slot, {LEVELS[self.level]}", group="Time slots", main=True)
