"""Scenarios: what a device does all day, and its battery."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from joulemark.catalogue import datafile

# Wide enough for every device, and narrow enough that no sum or quotient overflows.
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
    """Voltage down to which the maker states the capacity."""
    cutoff_v: Positive
    """Voltage at which the device stops."""
    curve: list[Annotated[tuple[float, float], Field(strict=False)]] = Field([])
    """Discharge curve: voltage, and the fraction of the capacity drawn when it is reached."""
    self_discharge_per_year: Fraction
    source: Annotated[str, Field(min_length=1)]

    @classmethod
    def of_mah(cls, capacity_mah: float, source: str) -> Self:
        """Return a battery of which only the usable capacity is known: it loses 3% a year."""
        return cls(
            capacity_ah=capacity_mah / 1000,
            capacity_tolerance=0.0,
            capacity_to_v=0.1,
            cutoff_v=0.1,
            self_discharge_per_year=0.03,
            source=source,
        )

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
        """Charge that can be drawn before the cut-off voltage."""
        if not self.curve:
            return self.capacity_ah
        for (high, before), (low, after) in zip(self.curve, self.curve[1:]):  # noqa: B905
            if high >= self.cutoff_v >= low:
                drawn = before + (after - before) * (high - self.cutoff_v) / (high - low)
                break
        return self.capacity_ah * drawn


class Sleep(datafile.DataModel):
    """Sleep state of the device: a power state of its chip, or a load."""

    state: str | None = None
    load: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.state is not None and self.load is not None:
            raise ValueError("state or load, not both")
        return self


class Sense(datafile.DataModel):
    """A periodic activity of the board."""

    activity: str
    every_s: Positive
    executions: Count = 1


class AlwaysOn(datafile.DataModel):
    """A load of the board, and its duty cycle."""

    name: str
    duty: Annotated[float, Field(gt=0, le=1)] = 1.0


class Step(datafile.DataModel):
    """A step of security processing whose cost was measured.

    It is either a primitive's operation in the results store, or an activity in the board's file.
    """

    primitive: str | None = None
    operation: str | None = None
    message_bytes: Bytes = 0
    ad_bytes: Bytes = 0
    implementation: str | None = None
    """Implementation; the fastest if not given."""
    optimisation: str | None = None
    """Optimisation level, such as "Os"; any measured one if not given."""
    max_flash_bytes: Count | None = None
    """Limit on the build's flash."""
    secret_independent: bool = True
    """The build must claim that neither time nor addresses depend on secrets, and no trial may have
    shown otherwise, as for `choose`; false takes any build."""
    activity: str | None = None
    executions: Count = 1

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.primitive is None) == (self.activity is None):
            raise ValueError("primitive (from the store) or activity (of the board), one of them")
        if (self.primitive is None) != (self.operation is None):
            raise ValueError("a primitive needs an operation, an activity none")
        chosen = {"implementation", "optimisation", "max_flash_bytes", "secret_independent"}
        if self.primitive is None and chosen & self.model_fields_set:
            raise ValueError("an activity is as it is: how it is built is a primitive's to say")
        return self


class Message(datafile.DataModel):
    """A message that is sent periodically."""

    every_s: Positive
    payload_bytes: Bytes
    security_bytes: Bytes = 0
    """Bytes that protection adds on air: tag, nonce, counter, security header."""
    retransmissions: NotNegative = 0.0
    """Mean number of retransmissions per message."""
    protection: list[Step] = Field([])


class RadioUse(datafile.DataModel):
    """How the device uses its radio."""

    transmit: str
    """State of the radio in which it transmits."""
    receive: str = "rx"
    """State of the radio in which it listens."""
    processor: str | None = None
    """Power state of the chip while the radio is on, for radio states that do not include the
    board."""
    listen_s: NotNegative = 0.0
    """Time of listening per transmission: clear channel assessment, acknowledgement."""
    message: str | None = None
    """Activity that sends a message; the airtime of security bytes is added to it."""
    checks_per_s: NotNegative = 0.0
    """How often the channel is checked for frames."""
    check_s: NotNegative = 0.0
    """Duration of a check."""
    check: str | None = None
    """Activity that is a check, instead of `check_s`."""


class Handshake(datafile.DataModel):
    """A periodic key agreement."""

    every_s: Positive
    sent_bytes: list[Bytes] = Field([])
    """Payload of each sent frame."""
    received_bytes: list[Bytes] = Field([])
    processing: list[Step] = Field([])


class Protocol(datafile.DataModel):
    """A secure protocol that the device speaks: docs/protocols.md."""

    name: str
    side: Literal["client", "server"] = "client"
    handshakes_per_day: NotNegative = 1.0
    """Handshakes, each with a first request and response."""
    records_per_hour: NotNegative = 0.0
    """Further requests with their responses."""
    request_bytes: Annotated[int, Field(ge=0, le=64)] = 16
    response_bytes: Annotated[int, Field(ge=0, le=64)] = 16
    loss: Annotated[float, Field(ge=0, le=0.9)] = 0.0
    """Part of the frames that is lost."""


class WhatIf(datafile.DataModel):
    """Changes to try, one at a time."""

    primitive: list[str] = Field([])
    """Names or globs of primitives to replace the scenario's first one with."""
    security_bytes: list[Bytes] = Field([])
    transmit: list[str] = Field([])
    message_every_s: list[Positive] = Field([])
    checks_per_s: list[NotNegative] = Field([])
    protocol: list[str] = Field([])
    """Names of protocols in place of the scenario's."""
    loss: list[Annotated[float, Field(ge=0, le=0.9)]] = Field([])
    records_per_hour: list[NotNegative] = Field([])


class Scenario(datafile.DataModel):
    """A scenario file."""

    title: Annotated[str, Field(min_length=1)]
    description: str = ""
    board: str
    clock: str | None = None
    tolerance: Fraction
    """Assumed bound on the relative error of a constant whose source states none."""
    battery: Battery
    sleep: Sleep = Sleep()
    load: list[AlwaysOn] = Field([])
    sense: list[Sense] = Field([])
    message: list[Message] = Field([])
    radio: RadioUse | None = None
    handshake: Handshake | None = None
    protocol: Protocol | None = None
    what_if: WhatIf = WhatIf()

    _path: Path | None = PrivateAttr(default=None)

    def where(self, key: str) -> str:
        """Return the file and a key, for errors."""
        return f"{self._path or self.title}, key {key}"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.radio is None and (self.message or self.handshake):
            raise ValueError("messages and handshakes need [radio]")
        asked = self.what_if
        if self.protocol is None and (asked.protocol or asked.loss or asked.records_per_hour):
            raise ValueError("what_if: protocol, loss and records_per_hour need [protocol]")
        return self

    def protocols(self) -> "list[Protocol]":
        """Return the protocol with each of its changes."""
        if self.protocol is None:
            return []
        asked = self.what_if
        changes: list[dict[str, object]] = [{}]
        changes += [{"name": name} for name in asked.protocol]
        changes += [{"loss": loss} for loss in asked.loss]
        changes += [{"records_per_hour": often} for often in asked.records_per_hour]
        return [self.protocol.model_copy(update=change) for change in changes]


def read(path: Path) -> Scenario:
    """Read a scenario file.

    Raises:
        InputError: the file is invalid; the error names it and the key.
    """
    scenario = datafile.read(path, Scenario)
    scenario._path = path
    return scenario
