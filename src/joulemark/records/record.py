"""A record: one case's result with all of its conditions.

Units are in the names. A value that was not obtained is None; a failed record has no number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Status = Literal["ok", "failed"]
Grade = Literal["measured", "datasheet", "inferred"]


@dataclass(frozen=True, kw_only=True)
class Record:
    """One measured case.

    The raw samples are kept; `cycles` and `instructions` are their means per execution of the
    operation, with the empty window subtracted. Each sample is one trial with its own random
    inputs, so the range of `cycles` over the samples is also the evidence for or against
    secret-independence.
    """

    # Identity
    key: str
    """Digest of everything that the result depends on; an equal key is an unchanged case."""
    case_digest: str
    """Digest of the case alone; records of one case over time share it."""
    measured_at: str
    """UTC, ISO 8601."""
    status: Status
    failure: str | None = None
    """Why the record is failed: the message of the error."""

    # Case
    board: str
    clock: str
    """Name of the board's clock profile."""
    clock_hz: int
    chip: str
    kind: str
    primitive: str
    """Variant or composition: "aes-128", "aes-128-ctr"."""
    implementation: str
    operation: str
    message_bytes: int
    ad_bytes: int
    tag_bytes: int
    compiler: str
    """Family: "clang" or "gcc"."""
    optimisation: str
    """Such as "O3"."""
    repetitions: int

    # Cost
    samples: Sequence[Mapping[str, int | str]] = field(default_factory=list)
    """Per trial: window_cycles, window_instructions, and the address trace's digest."""
    exact: bool | None = None
    """Deterministic runner and all samples equal."""
    window_cycles: int | None = None
    """First sample's window, gross."""
    empty_cycles: int | None = None
    """The same window with a step that does nothing."""
    cycles: float | None = None
    """Net, per execution."""
    cycles_min: float | None = None
    cycles_max: float | None = None
    window_instructions: int | None = None
    empty_instructions: int | None = None
    instructions: float | None = None
    time_ps: int | None = None
    """`cycles` over `clock_hz`."""
    timer_time_ps: int | None = None
    """The first sample's gross window by the chip's own timer; None where it overflowed."""
    energy_gross_nj: float | None = None
    energy_gross_half_width_nj: float | None = None
    """Half width of the 95% interval, where an instrument measured."""
    energy_net_nj: float | None = None
    """Net of what the board would have drawn idle for the same time."""
    energy_net_half_width_nj: float | None = None
    energy_grade: Grade | None = None
    """The weakest grade among the currents that went into the energy."""
    power_states_ps: Mapping[str, int] = field(default_factory=dict)
    """Time in each power state in the first sample's window."""
    flash_bytes: int | None = None
    """Sections of the primitive in the image."""
    ram_bytes: int | None = None
    flash_wiring_bytes: int | None = None
    """Image with the primitive minus image without."""
    ram_wiring_bytes: int | None = None
    stack_bytes: int | None = None
    """High-water mark seen by the emulator."""
    stack_painted_bytes: int | None = None
    """High-water mark found by the image itself in painted stack."""
    trials: int | None = None
    """Executions with fresh random inputs, each one's output verified."""
    addresses_equal: bool | None = None
    """All trials touched the same addresses in the same order."""
    memories_keep_state: bool | None = None
    """The chip has a cache or line buffers: equal work can take unequal times."""
    secret_independent_claim: bool | None = None
    """The implementation claims that time and addresses do not depend on secrets; else it claims
    nothing."""
    notes: Sequence[str] = field(default_factory=list)
    """What a reader must know to judge the number, such as inferred constants."""

    # Conditions
    seed: int
    """The random inputs derive from it."""
    unit: str
    """Which specimen: "emulated", or a board's serial number."""
    runner: str
    meter: str
    board_digest: str
    chip_digest: str
    compiler_version: str | None = None
    flags: str | None = None
    image_digest: str | None = None
    build_id: str | None = None
    project_commit: str | None = None
    """With "+dirty" when the tree differed from the commit."""
    engine_version: str | None = None
    host: str

    @property
    def finding(self) -> str | None:
        """What the trials showed about secrets, or None where there were fewer than two."""
        if self.status != "ok" or self.trials is None or self.trials < 2:
            return None
        if self.addresses_equal is None:
            return None  # A real board's timer and clock vary by themselves.
        if self.cycles_min != self.cycles_max and not self.memories_keep_state:
            return "time depends on data"
        if self.addresses_equal is False:
            return "addresses depend on data"
        if self.cycles_min != self.cycles_max:
            return "addresses independent of data"
        return "independent of data"
