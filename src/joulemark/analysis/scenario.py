"""A scenario: what a device does all day, and the battery that it does it on."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from joulemark.catalogue import datafile

# Wide enough for every device, and narrow enough that no sum or quotient leaves what a float holds.
Positive = Annotated[float, Field(ge=1e-9, le=1e9, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Count = Annotated[int, Field(gt=0, le=10**9)]
Fraction = Annotated[float, Field(ge=0, lt=1)]
Bytes = Annotated[int, Field(ge=0, le=65535)]


class Battery(datafile.DataModel):
    """A battery of one or more cells in series."""

    capacity_ah: Positive
    capacity_tolerance: Fraction
    """Bound on the capacity's relative error."""
    capacity_to_v: Positive
    """The maker states the capacity down to this voltage."""
    cutoff_v: Positive
    """The device stops here."""
    curve: list[Annotated[tuple[float, float], Field(strict=False)]] = Field([])
    """Voltage and the fraction of the capacity that was drawn when it fell so far."""
    self_discharge_per_year: Fraction
    source: Annotated[str, Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.cutoff_v < self.capacity_to_v:
            raise ValueError("cutoff_v is below capacity_to_v, down to which the maker states it")
        if self.cutoff_v > self.capacity_to_v and not self.curve:
            raise ValueError(
                "cutoff_v is above capacity_to_v: curve has to say how much is left in the "
                "battery, as pairs [volt, fraction drawn]"
            )
        falls = all(v > w and d < e for (v, d), (w, e) in zip(self.curve, self.curve[1:]))  # noqa: B905
        inside = not self.curve or self.curve[0][0] >= self.cutoff_v >= self.curve[-1][0]
        if not falls or not inside or not all(0 <= d <= 1 for _, d in self.curve):
            raise ValueError(
                "curve has to fall in voltage, rise within 0 to 1 in what was drawn, and hold "
                "cutoff_v"
            )
        return self

    @property
    def usable_ah(self) -> float:
        """Charge that can be drawn before the cut-off."""
        if not self.curve:
            return self.capacity_ah
        for (high, before), (low, after) in zip(self.curve, self.curve[1:]):  # noqa: B905
            if high >= self.cutoff_v >= low:
                drawn = before + (after - before) * (high - self.cutoff_v) / (high - low)
                break
        return self.capacity_ah * drawn


class Sleep(datafile.DataModel):
    """State of the idle device: a power state of its chip, or a load."""

    state: str | None = None
    load: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.state is not None and self.load is not None:
            raise ValueError("state or load, not both")
        return self


class Sense(datafile.DataModel):
    """An activity of the board, done again and again."""

    activity: str
    every_s: Positive
    executions: Count = 1


class AlwaysOn(datafile.DataModel):
    """A load of the board, and how much of the time it is on."""

    name: str
    duty: Annotated[float, Field(gt=0, le=1)] = 1.0


class Step(datafile.DataModel):
    """A step of security processing: an operation whose cost was measured.

    Either a primitive's, from the results store, or an activity of the board file.
    """

    primitive: str | None = None
    operation: str | None = None
    message_bytes: Bytes = 0
    ad_bytes: Bytes = 0
    implementation: str | None = None
    """The one that takes least time when not given."""
    optimisation: str | None = None
    """Such as "Os"; any that was measured when not given."""
    max_flash_bytes: Count | None = None
    """Of the build that is taken, at most."""
    secret_independent: bool = False
    """The build claims that neither time nor addresses depend on secrets, and no trial showed
    otherwise."""
    activity: str | None = None
    executions: Count = 1

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.primitive is None) == (self.activity is None):
            raise ValueError("primitive (from the store) or activity (of the board), one of them")
        if (self.primitive is None) != (self.operation is None):
            raise ValueError("a primitive needs an operation, an activity none")
        chosen = (self.implementation, self.optimisation, self.max_flash_bytes)
        if self.primitive is None and (self.secret_independent or chosen != (None, None, None)):
            raise ValueError("an activity is as it is: how it is built is a primitive's to say")
        return self


class Message(datafile.DataModel):
    """A message that is sent again and again."""

    every_s: Positive
    payload_bytes: Bytes
    security_bytes: Bytes = 0
    """Bytes that protection adds on air: tag, nonce, counter, security header."""
    retransmissions: NotNegative = 0.0
    """How often a message is sent again on average."""
    protection: list[Step] = Field([])


class RadioUse(datafile.DataModel):
    """How the device uses its radio."""

    transmit: str
    """State of the radio in which it transmits."""
    receive: str = "rx"
    """State of the radio in which it listens."""
    processor: str | None = None
    """Power state of the chip while the radio is on, where a state does not hold the board."""
    listen_s: NotNegative = 0.0
    """Listening with each transmission: clear channel, acknowledgement."""
    message: str | None = None
    """Activity that sends a message; security bytes come on top of it, over the bit rate."""
    checks_per_s: NotNegative = 0.0
    """How often the channel is looked at for frames."""
    check_s: NotNegative = 0.0
    """How long that takes."""
    check: str | None = None
    """Or the activity that it is."""


class Handshake(datafile.DataModel):
    """Keys are agreed on again and again."""

    every_s: Positive
    sent_bytes: list[Bytes] = Field([])
    """Payload of each frame sent."""
    received_bytes: list[Bytes] = Field([])
    processing: list[Step] = Field([])


class WhatIf(datafile.DataModel):
    """Changes to try, one thing at a time."""

    primitive: list[str] = Field([])
    """In place of the first primitive of each message: names or globs."""
    security_bytes: list[Bytes] = Field([])
    transmit: list[str] = Field([])
    message_every_s: list[Positive] = Field([])
    checks_per_s: list[NotNegative] = Field([])


class Scenario(datafile.DataModel):
    """A scenario file."""

    title: Annotated[str, Field(min_length=1)]
    description: str = ""
    board: str
    clock: str | None = None
    tolerance: Fraction
    """Bound taken for the relative error of a constant whose source states none."""
    battery: Battery
    sleep: Sleep = Sleep()
    load: list[AlwaysOn] = Field([])
    sense: list[Sense] = Field([])
    message: list[Message] = Field([])
    radio: RadioUse | None = None
    handshake: Handshake | None = None
    what_if: WhatIf = WhatIf()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.radio is None and (self.message or self.handshake):
            raise ValueError("messages and handshakes need [radio]")
        return self


def read(path: Path) -> Scenario:
    """Read a scenario file.

    Raises:
        InputError: it is wrong; names the file and the key.
    """
    return datafile.read(path, Scenario)
