"""A device's current budget: average current, shares, lifetime.

The energy of each contribution is its power times its duration (daidone-2014, section IV-D); the
airtime of bytes is their bits over the bit rate (section IV-C). Uncertainties are propagated to
first order (JCGM 100:2008, section 5), with correlations between uses of the same constant.
"""

import difflib
import math
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, TypeVar

from uncertainties import (  # type: ignore[import-untyped]
    nominal_value,
    std_dev,
    ufloat,
    umath,
)

from joulemark.analysis.scenario import Battery, Message, Protocol, Scenario, Step
from joulemark.catalogue import accuracy, boards, chips
from joulemark.catalogue.boards import Activity, Board, Load, Radio, RadioState, Stated
from joulemark.errors import InputError
from joulemark.meters import model
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import ACTIVE
from joulemark.records.record import DEPENDENT, PrimitiveRecord

PARTS = (
    "sleep",
    "sensing",
    "loads",
    "radio",
    "security processing",
    "security bytes",
    "handshake",
    "protocol",
)
DAY_S = 86_400.0
_YEAR_DAYS = 365.25
_YEAR_S = _YEAR_DAYS * DAY_S
SHELF_LIFE_YEARS = 10
"""Beyond this, ageing limits a battery whatever the current. Assumed from what makers of alkaline
and lithium primary cells commonly state for storage, as a scenario does not state it.
"""
_NORMAL_95 = 1.959963984540054

AnyStated = TypeVar("AnyStated", bound=Stated)


def _plain(value: float) -> str:
    """Format with four significant digits, or as an integer if it is large."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


@dataclass(frozen=True)
class Interval:
    """A value, and half the width of its 95% interval."""

    value: float
    half_width_95: float

    @classmethod
    def of(cls, quantity: Any) -> "Interval":
        """Return the interval of a normally distributed quantity; zero width for a plain number."""
        return cls(nominal_value(quantity), _NORMAL_95 * std_dev(quantity))

    def rounded(self, factor: float = 1.0) -> tuple[str, str]:
        """Format value and half width, times a factor, to two significant digits of the latter."""
        value, half_width = self.value * factor, self.half_width_95 * factor
        if half_width <= 0:
            return _plain(value), "0"
        places = 1 - math.floor(math.log10(half_width))
        return tuple(f"{round(v, places):.{max(places, 0)}f}" for v in (value, half_width))  # type: ignore[return-value]


@dataclass(frozen=True)
class MessageCost:
    """Cost of security for a message that is sent once (daidone-2014, sections IV-B to IV-D)."""

    payload_bytes: int
    security_bytes: int
    air_s: float
    """Airtime of the security bytes."""
    air_j: Interval
    processing_s: float
    processing_j: Interval


@dataclass(frozen=True)
class Budget:
    """A current budget."""

    current_a: Interval
    parts_a: dict[str, Interval]
    lifetime_days: Interval
    messages: list[MessageCost]
    sources: list[str]
    """Every constant that was used."""
    flash_bytes: int
    """Flash of all primitives' builds; code that they share is counted in each."""
    flash_size_bytes: int
    """Flash of the chip."""
    deep_sleep: str
    """The state in which it sleeps if that takes less than the board's idle state; else empty."""
    idle_state: str
    """The board's idle state."""

    @property
    def lifetime_text(self) -> str:
        """The lifetime in words; also in years from two years on."""
        days = self.lifetime_days
        value, half_width = days.rounded()
        if days.value < 2 * _YEAR_DAYS:
            return f"{value} days ± {half_width} (95%)"
        value, half_width = days.rounded(1 / _YEAR_DAYS)
        return f"{value} years ± {half_width} (95%), {_plain(days.value)} days"

    @property
    def mah_a_year(self) -> Interval:
        """Charge drawn per year, in mAh."""
        hours = 24 * _YEAR_DAYS * 1e3
        current = self.current_a
        return Interval(current.value * hours, current.half_width_95 * hours)

    @property
    def outlives_battery(self) -> bool:
        """Whether the lifetime exceeds the battery's shelf life."""
        return self.lifetime_days.value > SHELF_LIFE_YEARS * _YEAR_DAYS

    def share(self, part: str) -> float:
        """Return a part's fraction of the average current."""
        return self.parts_a[part].value / self.current_a.value


@dataclass(frozen=True)
class Variant:
    """An answer to "what if"."""

    label: str
    budget: Budget
    lifetime_change: float
    """Change of the lifetime, as a fraction of the scenario's."""


def flash_size(board: Board) -> int:
    """Return the bytes of the flash of a board's chip that holds programs, its largest."""
    chip = chips.load_chip(board.chip)
    return max(m.size for m in chip.memories if m.kind == "flash")


def warnings(base: Budget, others: Iterable[Variant], left_out: Iterable[str] = ()) -> list[str]:
    """Return warnings for readers of the budget; `left_out` are those that `variants` returns."""
    named = [("as the scenario says", base), *((v.label, v.budget) for v in others)]
    result = [f"left out: {reason}" for reason in left_out]
    result += [
        f"{label}: it sleeps in {each.deep_sleep}, below {each.idle_state}, in which a timer of "
        f"the board wakes it: that anything wakes it in time from there is assumed"
        for label, each in named[:1]
        if each.deep_sleep
    ]
    result += [
        f"{label}: the builds take {each.flash_bytes:,} bytes of flash together, and the chip has "
        f"{each.flash_size_bytes:,}: name smaller ones by `implementation`"
        for label, each in named
        if each.flash_bytes > each.flash_size_bytes
    ]
    long = [label for label, each in named if each.outlives_battery]
    if not long:
        return result
    return [
        *result,
        f"longer than {SHELF_LIFE_YEARS} years: {', '.join(long)}. A battery ages within such a "
        "time, whatever is drawn from it: its shelf life decides, and this lifetime is a bound",
    ]


def life_text(seconds: float) -> str:
    """Format a lifetime, in years from two on; beyond the battery's shelf life it is a bound."""
    days = seconds / DAY_S
    if days < 2 * _YEAR_DAYS:
        return f"{days:.3g} days"
    years = days / _YEAR_DAYS
    beyond = f" (a bound: its age decides beyond {SHELF_LIFE_YEARS})"
    return f"{years:.3g} years" + (beyond if years > SHELF_LIFE_YEARS else "")


def airtime_s(bytes_on_air: float, bit_rate_hz: float) -> float:
    """Return the airtime of bytes (daidone-2014, section IV-C)."""
    return 8.0 * bytes_on_air / bit_rate_hz


def best(stated: Iterable[AnyStated], name: str, what: str, board: Board) -> AnyStated:
    """Return the statement of a name that has the best grade.

    A current of the radio alone is preferred to one of the whole board, so states are comparable.

    Raises:
        InputError: nothing of that name is stated.
    """
    known = list(stated)
    named = [s for s in known if s.name == name]
    if not named:
        names = sorted({s.name for s in known})
        near = difflib.get_close_matches(name, names, 3) or names
        mend = f"there are {', '.join(near)}" if names else f"add it to boards/{board.name}.toml"
        raise InputError(f"board {board.name} has no {what} {name}", None, mend)
    grades = ("measured", "datasheet", "inferred")
    return min(
        named,
        key=lambda s: (isinstance(s, RadioState) and s.whole_board, grades.index(s.grade)),
    )


def security_of(message: MessageCost) -> str:
    """Describe the cost of security for a message."""
    air, processing = (" ± ".join(j.rounded(1e6)) for j in (message.air_j, message.processing_j))
    return (
        f"A message of {message.payload_bytes} bytes: {message.security_bytes} bytes of security "
        f"take {message.air_s * 1e6:.4g} µs on air and {air} µJ, processing "
        f"{message.processing_s * 1e6:,.4g} µs and {processing} µJ."
    )


KEEPING = " by a build that keeps its secrets"
"""What is said of measurements that are missing where such builds are demanded."""


@dataclass(frozen=True)
class ProtocolCost:
    """What a side of a protocol takes, with its waiting: time and energy of core and radio."""

    first_s: float
    first_j: Interval
    """The handshake with its first request and response."""
    record_s: float
    record_j: Interval
    """A further request with its response."""


def key_of(protocol: Protocol) -> tuple[object, ...]:
    """Return what a protocol's cost depends on."""
    sizes = protocol.request_bytes, protocol.response_bytes
    return protocol.name, protocol.side, *sizes, protocol.loss


class Costs:
    """The measured costs of primitives and protocols.

    Args:
        records: records of the results store.
        name: name of the store, for messages.
        protocols: what protocols took, by `key_of`.
    """

    def __init__(
        self,
        records: Sequence[PrimitiveRecord],
        name: str,
        protocols: Mapping[tuple[object, ...], ProtocolCost] | None = None,
    ) -> None:
        self.protocols = protocols or {}
        self._good = [
            r for r in records if r.status == "ok" and None not in (r.energy_gross_nj, r.time_ps)
        ]
        self._name = name

    def find(self, step: Step, board: Board, clock: str) -> PrimitiveRecord:
        """Return the fastest measured case, and so the one of least energy, that fits the flash.

        Raises:
            InputError: none was measured; the error names the command that measures it.
        """
        fits = [
            r
            for r in self._alike(step, board, clock)
            if r.subject.primitive == step.primitive and (r.flash_bytes or 0) <= flash_size(board)
        ]
        if not fits:
            what = (
                f"{step.primitive} {step.operation} of {step.message_bytes} bytes with "
                f"{step.ad_bytes} of associated data was not measured on {board.name} ({clock})"
                f"{_demands(step)}{KEEPING * step.secret_independent}"
            )
            raise InputError(what, self._name, f"give {_commands([step], board, clock)}")
        return min(fits, key=lambda r: r.time_ps or 0)

    def require(self, scenario: Scenario) -> None:
        """Check that everything that a scenario and its variants need was measured.

        Raises:
            InputError: something was not; the error names the commands that measure all of it.
        """
        board = boards.load_board(scenario.board)
        clock = scenario.clock or board.default_clock
        missing = self.missing(scenario)
        if missing:
            names = ", ".join(
                sorted({f"{s.primitive} {s.operation}{_demands(s)}" for s in missing})
            )
            keeping = KEEPING * any(step.secret_independent for step in missing)
            raise InputError(
                f"not measured on {board.name} ({clock}){keeping}: {names}",
                self._name,
                f"give {_commands(missing, board, clock)}",
            )

    def missing(self, scenario: Scenario) -> list[Step]:
        """Return the steps of a scenario and its variants for which nothing was measured."""
        board = boards.load_board(scenario.board)
        clock = scenario.clock or board.default_clock
        return [
            s
            for s in steps_of(scenario)
            if not any(
                fnmatchcase(r.subject.primitive, s.primitive or "")
                for r in self._alike(s, board, clock)
            )
        ]

    def alternatives(self, step: Step, board: Board, clock: str, globs: list[str]) -> list[str]:
        """Return other primitives that were measured in the same operation and size.

        Raises:
            InputError: a glob matches no such primitive.
        """
        kind = self.find(step, board, clock).subject.kind
        alike = [r.subject for r in self._alike(step, board, clock)]
        names = sorted({s.primitive for s in alike if s.kind == kind})
        found = [n for n in names if any(fnmatchcase(n, g) for g in globs) and n != step.primitive]
        for glob in globs:
            if not any(fnmatchcase(n, glob) for n in names):
                self.find(step.model_copy(update={"primitive": glob}), board, clock)
        return found

    def _alike(self, step: Step, board: Board, clock: str) -> Iterator[PrimitiveRecord]:
        for r in self._good:
            where, what = r.conditions, r.subject
            point = (where.board, where.clock, what.operation, what.ad_bytes)
            sized = what.message_bytes == step.message_bytes or what.operation == "init"
            here = point == (board.name, clock, step.operation, step.ad_bytes) and sized
            if here and self._meets(r, step):
                yield r

    def _meets(self, record: PrimitiveRecord, step: Step) -> bool:
        """Return whether a build meets a step's demands."""
        build, flash_bytes = record.build, record.flash_bytes
        return (
            step.implementation in (None, record.subject.implementation)
            and (step.optimisation is None or (build and build.optimisation) == step.optimisation)
            and (step.max_flash_bytes is None or (flash_bytes or 0) <= step.max_flash_bytes)
            and (
                not step.secret_independent
                or record.about.secret_independent is None
                or (record.about.secret_independent and record.finding not in DEPENDENT)
            )
        )


def steps_of(scenario: Scenario) -> list[Step]:
    """Return the primitives' operations that a scenario and its variants take."""
    steps = [s for m in scenario.message for s in m.protection if s.primitive is not None]
    first = steps[0].primitive if steps else None
    if scenario.handshake is not None:
        steps += [s for s in scenario.handshake.processing if s.primitive is not None]
    return steps + [
        s.model_copy(update={"primitive": glob, "implementation": None})
        for s in steps
        if s.primitive == first
        for glob in scenario.what_if.primitive
    ]


def campaign(step: Step, scenario: Scenario) -> dict[str, Any]:
    """Return the options of the campaign that measures a step, as a campaign's file has them."""
    clock = scenario.clock or boards.load_board(scenario.board).default_clock
    return {
        "board": [scenario.board],
        "clock": [clock],
        "primitive": [step.primitive],
        "implementation": [step.implementation] if step.implementation else None,
        "operation": [step.operation],
        "size": [step.message_bytes] if step.message_bytes else None,
        "ad_size": [step.ad_bytes],
        "opt": optimisations(step) or None,
    }


def optimisations(step: Step) -> list[str]:
    """Return the levels to measure to find a step's build; empty for the default levels."""
    if step.optimisation is not None:
        return [step.optimisation]
    return [] if step.max_flash_bytes is None else ["O3", "O2", "Os"]


def _demands(step: Step) -> str:
    """Describe a step's demands on its build."""
    words = []
    if step.optimisation is not None:
        words.append(f"-{step.optimisation}")
    if step.max_flash_bytes is not None:
        words.append(f"within {step.max_flash_bytes:,} bytes of flash")
    return f" ({', '.join(words)})" if words else ""


def _commands(steps: Iterable[Step], board: Board, clock: str) -> str:
    """Return the commands that measure steps."""
    alike: dict[str, dict[str, None]] = {}
    for step in steps:
        chosen = f" --implementation {step.implementation}" if step.implementation else ""
        chosen += "".join(f" --opt {opt}" for opt in optimisations(step))
        sizes = f"--size {step.message_bytes} --ad-size {step.ad_bytes}"
        rest = f"--operation {step.operation} {sizes}{chosen}"
        alike.setdefault(rest, {})[f"--primitive {shlex.quote(step.primitive or '')}"] = None
    start = f"joulemark run --board {board.name} --clock {clock}"
    return ", and ".join(f"`{start} {' '.join(names)} {rest}`" for rest, names in alike.items())


class OverfullError(InputError):
    """A part of the device would be busy for more than all of the time."""


class _Quantities:
    """Constants as quantities with uncertainty; equal constants share a correlated quantity."""

    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self._known: dict[str, Any] = {}
        self.sources: list[str] = []

    def __call__(self, name: str, value: float, half_width_95: float | None, text: str) -> Any:
        if name not in self._known:
            deviation = (
                half_width_95 / _NORMAL_95
                if half_width_95 is not None
                else value * self._tolerance / math.sqrt(3.0)  # rectangular
            )
            self._known[name] = ufloat(value, deviation) if deviation > 0 else value
            self.sources.append(text)
        return self._known[name]


class _Device:
    """A board in a scenario, with its currents and energies as quantities."""

    def __init__(self, scenario: Scenario, store: Costs) -> None:
        self.scenario = scenario
        self.board = boards.load_board(scenario.board)
        self.clock = scenario.clock or self.board.default_clock
        self.hz = self.board.clock_profile(self.clock).hz
        self.volt = self.board.supply_v.value
        self.quantity = _Quantities(scenario.tolerance)
        self._store = store
        self.flash_bytes: dict[tuple[str, ...], int] = {}
        self._busy = defaultdict[str, float](float)
        self._meter = lru_cache(1)(lambda: ModelMeter(self.board))

    @property
    def sleep_a(self) -> Any:
        sleep = self.scenario.sleep
        if sleep.load is not None:
            return self.load_a(best(self.board.load, sleep.load, "load", self.board))
        return self.state_a(sleep.state or self.board.idle_state, "sleep.state")

    @property
    def deep_sleep(self) -> str:
        """The power state in which it sleeps if that takes less than the board's idle state."""
        state = self.scenario.sleep.state
        if state is None:
            return ""
        meter, hz = self._meter(), self.hz
        deeper = meter.current(state, hz).ampere < meter.current(self.board.idle_state, hz).ampere
        return state if deeper else ""

    def state_a(self, state: str, key: str | None = None) -> Any:
        """Return the current of a power state of the chip, which a key names."""
        known = chips.load_chip(self.board.chip).power_states
        if state not in known:
            raise InputError(
                f"chip {self.board.chip} has no power state {state}",
                self.scenario.where(key) if key else None,
                f"it has {', '.join(known)}",
            )
        current = self._meter().current(state, self.hz)
        text = f"{state}: {current.ampere * 1e3:g} mA ({current.grade}: {current.source})"
        return self.quantity(f"state {state}", current.ampere, current.uncertainty_a, text)

    def load_a(self, load: Load) -> Any:
        """Return the current of a load or of a state of the radio."""
        text = f"{load.name}: {load.ampere * 1e3:g} mA ({load.grade}: {load.source})"
        name = f"{type(load).__name__} {load.name}"
        return self.quantity(name, load.ampere, load.uncertainty_a, text)

    @property
    def radio(self) -> Radio:
        if self.board.radio is None:
            mend = f"add [radio] to boards/{self.board.name}.toml"
            raise InputError(f"board {self.board.name} has no radio", None, mend)
        return self.board.radio

    def radio_j(self, state_name: str, seconds: float) -> Any:
        """Return the energy of the radio in a state, net of sleep."""
        use = self.scenario.radio
        state = best(self.radio.state, state_name, "radio state", self.board)
        ampere = self.load_a(state)
        if state.whole_board:
            ampere = ampere - self.sleep_a
        elif use is not None and use.processor is not None:
            ampere = ampere + self.state_a(use.processor) - self.sleep_a
        return self.volt * ampere * seconds

    def activity(self, name: str) -> tuple[float, Any]:
        """Return the time and energy of one execution, net of sleep."""
        activity: Activity = best(self.board.activity, name, "activity", self.board)
        micro = activity.energy_j / activity.executions * 1e6
        shown = f"{micro:.4g} uJ" if micro < 1e4 else f"{micro / 1e3:.4g} mJ"
        text = f"{name}: {shown} ({activity.grade}: {activity.source})"
        total = self.quantity(
            f"activity {name}", activity.energy_j, activity.energy_uncertainty_j, text
        )
        return activity.time_s / activity.executions, total / activity.executions

    def steps(self, steps: Iterable[Step]) -> tuple[float, Any]:
        """Return the time and energy of security processing, net of sleep."""
        total_s, total_j = 0.0, 0.0
        for step in steps:
            seconds, joule = self._step(step)
            total_s += seconds * step.executions
            total_j += joule * step.executions
        return total_s, total_j

    def _step(self, step: Step) -> tuple[float, Any]:
        if step.activity is not None:
            return self.activity(step.activity)
        record = self._store.find(step, self.board, self.clock)
        subject, meter = record.subject, record.conditions.meter
        case = f"{subject.primitive} {subject.operation} {subject.message_bytes} B"
        how = f"{subject.implementation}, {record.build}"
        name = f"{case} {subject.ad_bytes} {how}"
        if record.about.secret_independent is False or record.finding in DEPENDENT:
            how += ", not constant time"
        self.flash_bytes[subject.primitive, how] = record.flash_bytes or 0
        seconds = (record.time_ps or 0) * 1e-12
        if meter == model.NAME:
            # Recompute the energy with the currents that the board's file states now.
            states = record.power_states_ps or {ACTIVE: 1}
            shares = {state: part / sum(states.values()) for state, part in states.items()}
            ampere = sum(self.state_a(state) * share for state, share in shares.items())
            text = f"{case}: {seconds * 1e6:.4g} us ({how}; emulated)"
            bound = accuracy.of_chip(self.board.chip).bound
            spent = self.quantity(name, seconds, bound and bound * seconds, text)
            return seconds, self.volt * (ampere - self.sleep_a) * spent
        nj = record.energy_gross_nj or 0.0
        text = f"{case}: {nj / 1e3:.4g} uJ gross ({how}; {meter} meter)"
        gross = self.quantity(name, nj * 1e-9, None, text)
        return seconds, gross - self.sleep_a * self.volt * seconds

    def takes(self, part: str, seconds: float, often_hz: float, key: str) -> None:
        """Note that a part of the device is busy so long, so often, as a key says.

        Raises:
            OverfullError: with what it is busy with already, it is more than all of the time.
        """
        self._busy[part] += seconds * often_hz
        if self._busy[part] > 1:
            raise OverfullError(
                f"does not fit: {part} would take {self._busy[part]:.0%} of the time",
                self.scenario.where(key),
                "lengthen every_s, or lower checks_per_s, handshakes_per_day or records_per_hour",
            )

    def frame_s(self, payload_bytes: int, key: str) -> float:
        """Return the airtime of a frame of so many bytes, as a key says."""
        radio = self.radio
        total = radio.frame_overhead_bytes.value + payload_bytes
        if total > radio.frame_bytes_max.value:
            most = radio.frame_bytes_max.value - radio.frame_overhead_bytes.value
            raise InputError(
                f"a frame of the {radio.name} holds at most {most:g} bytes of payload and "
                f"security, not {payload_bytes}",
                self.scenario.where(key),
                "send it as several messages",
            )
        return airtime_s(total, radio.bit_rate_hz.value)


def budget(scenario: Scenario, store: Costs) -> Budget:
    """Compute a scenario's current budget and battery lifetime.

    Raises:
        InputError: the board lacks something, or a primitive was not measured.
        OverfullError: it has more to do than there is time for.
    """
    device = _Device(scenario, store)
    power_w: dict[str, Any] = dict.fromkeys(PARTS, 0.0)
    power_w["sleep"] = device.sleep_a * device.volt
    for sense in scenario.sense:
        seconds, energy_j = device.activity(sense.activity)
        often_hz = sense.executions / sense.every_s
        device.takes(sense.activity, seconds, often_hz, "sense.every_s")
        power_w["sensing"] += energy_j * often_hz
    for load in scenario.load:
        stated = best(device.board.load, load.name, "load", device.board)
        power_w["loads"] += device.load_a(stated) * device.volt * load.duty
    messages = [_message(device, message, power_w) for message in scenario.message]
    _listening(device, power_w)
    _handshake(device, power_w)
    _protocol(device, store, power_w)
    parts = {part: watt / device.volt for part, watt in power_w.items()}
    total = sum(parts.values())
    return Budget(
        current_a=Interval.of(total),
        parts_a={part: Interval.of(ampere) for part, ampere in parts.items()},
        lifetime_days=Interval.of(lifetime_s(scenario.battery, total) / DAY_S),
        messages=messages,
        sources=device.quantity.sources,
        flash_bytes=sum(device.flash_bytes.values()),
        flash_size_bytes=flash_size(device.board),
        deep_sleep=device.deep_sleep,
        idle_state=device.board.idle_state,
    )


def _message(device: _Device, message: Message, power_w: dict[str, Any]) -> MessageCost:
    use = device.scenario.radio
    assert use is not None  # noqa: S101
    attempts = 1.0 + message.retransmissions
    key = "message.payload_bytes"
    both_s = device.frame_s(message.payload_bytes + message.security_bytes, key)
    plain_s = device.frame_s(message.payload_bytes, key)
    if use.message is not None:
        busy_s, plain_j = device.activity(use.message)
        busy_s += both_s - plain_s
    else:
        busy_s = both_s + use.listen_s
        plain_j = device.radio_j(use.transmit, plain_s)
        if use.listen_s > 0:
            plain_j = plain_j + device.radio_j(use.receive, use.listen_s)
    device.takes("its radio", busy_s, attempts / message.every_s, "message.every_s")
    power_w["radio"] += attempts * plain_j / message.every_s
    extra_j = device.radio_j(use.transmit, both_s - plain_s) if message.security_bytes else 0.0
    power_w["security bytes"] += attempts * extra_j / message.every_s
    # A retransmission repeats the same frame, without protecting it again.
    processing_s, processing_j = device.steps(message.protection)
    device.takes("security's processing", processing_s, 1 / message.every_s, "message.every_s")
    power_w["security processing"] += processing_j / message.every_s
    return MessageCost(
        message.payload_bytes,
        message.security_bytes,
        both_s - plain_s,
        Interval.of(extra_j),
        processing_s,
        Interval.of(processing_j),
    )


def _listening(device: _Device, power_w: dict[str, Any]) -> None:
    use = device.scenario.radio
    if use is None or use.checks_per_s == 0:
        return
    if use.check is not None:
        check_s, check_j = device.activity(use.check)
    elif use.check_s > 0:
        check_s, check_j = use.check_s, device.radio_j(use.receive, use.check_s)
    else:
        raise InputError(
            "without check_s or check",
            device.scenario.where("radio.checks_per_s"),
            "say how long one takes",
        )
    device.takes("its radio", check_s, use.checks_per_s, "radio.checks_per_s")
    power_w["radio"] += use.checks_per_s * check_j


def _handshake(device: _Device, power_w: dict[str, Any]) -> None:
    shake, use = device.scenario.handshake, device.scenario.radio
    if shake is None or use is None:
        return
    total_j: Any = 0.0
    for length in shake.sent_bytes:
        total_j += device.radio_j(use.transmit, device.frame_s(length, "handshake.sent_bytes"))
        if use.listen_s > 0:
            total_j += device.radio_j(use.receive, use.listen_s)
    for length in shake.received_bytes:
        total_j += device.radio_j(use.receive, device.frame_s(length, "handshake.received_bytes"))
    processing_s, processing_j = device.steps(shake.processing)
    total_j += processing_j
    key = "handshake.every_s"
    on_air_s = sum(device.frame_s(n, key) for n in (*shake.sent_bytes, *shake.received_bytes))
    on_air_s += use.listen_s * len(shake.sent_bytes)
    device.takes("its radio", on_air_s, 1 / shake.every_s, key)
    device.takes("security's processing", processing_s, 1 / shake.every_s, key)
    power_w["handshake"] += total_j / shake.every_s


def _protocol(device: _Device, store: Costs, power_w: dict[str, Any]) -> None:
    use = device.scenario.protocol
    if use is None:
        return
    cost = store.protocols[key_of(use)]
    idle_w = device.sleep_a * device.volt
    for what, key, often_hz, seconds, joules in (
        (
            "handshake",
            "handshakes_per_day",
            use.handshakes_per_day / DAY_S,
            cost.first_s,
            cost.first_j,
        ),
        ("record", "records_per_hour", use.records_per_hour / 3600.0, cost.record_s, cost.record_j),
    ):
        name = f"{use.name}, {use.side}'s {what}, {use.loss:.0%} lost"
        text = f"{name}: {joules.value * 1e6:.4g} uJ in {seconds * 1e3:.4g} ms (emulated)"
        # The currents' bound and, where frames are lost, the mean's.
        bound = device.scenario.tolerance * joules.value * _NORMAL_95 / math.sqrt(3.0)
        half_width = math.hypot(bound, joules.half_width_95)
        spent = device.quantity(name, joules.value, half_width, text)
        device.takes("its radio", seconds, often_hz, f"protocol.{key}")
        power_w["protocol"] += often_hz * (spent - idle_w * seconds)


def lifetime_s(battery: Battery, ampere: Any) -> Any:
    """Compute how long a battery supplies a current, including self-discharge.

    The remaining charge obeys dQ/dt = -I - kQ, where k makes an idle battery lose the stated
    fraction per year; this is solved for Q = 0 at the cut-off.
    """
    usable_c: Any = battery.usable_ah * 3600.0
    if battery.capacity_tolerance > 0:
        usable_c = ufloat(usable_c, usable_c * battery.capacity_tolerance / math.sqrt(3.0))
    if battery.self_discharge_per_year == 0:
        return usable_c / ampere
    rate = -math.log1p(-battery.self_discharge_per_year) / _YEAR_S
    return umath.log1p(rate * usable_c / ampere) / rate


def variants(scenario: Scenario, store: Costs, base: Budget) -> tuple[list[Variant], list[str]]:
    """Compute variants with one change each: no security, and those in the scenario's [what_if].

    Returns:
        The variants, and why others are left out: there is no time for what they do.
    """
    result, left_out = [], []
    for label, changed in _changes(scenario, store):
        try:
            other = budget(changed, store)
        except OverfullError as error:
            left_out.append(f"{label} {error.what}")
            continue
        change = other.lifetime_days.value / base.lifetime_days.value - 1.0
        result.append(Variant(label, other, change))
    return result, left_out


def _changes(scenario: Scenario, store: Costs) -> Iterator[tuple[str, Scenario]]:
    def messages(change: Callable[[Message], dict[str, Any]]) -> Scenario:
        changed = [m.model_copy(update=change(m)) for m in scenario.message]
        return scenario.model_copy(update={"message": changed})

    secured = any(m.protection or m.security_bytes for m in scenario.message)
    if secured or scenario.handshake:
        plain = messages(lambda _: {"protection": [], "security_bytes": 0})
        yield "no security", plain.model_copy(update={"handshake": None})
    asked = scenario.what_if
    steps = [s for m in scenario.message for s in m.protection if s.primitive is not None][:1]
    if asked.primitive and steps:
        board = boards.load_board(scenario.board)
        clock = scenario.clock or board.default_clock
        for name in store.alternatives(steps[0], board, clock, asked.primitive):
            swap = lru_cache(None)(lambda step, name=name: _swapped(step, steps[0], name))
            yield (
                f"{name} for {steps[0].primitive}",
                messages(lambda m, swap=swap: {"protection": [swap(s) for s in m.protection]}),  # type: ignore[misc]
            )
    for count in asked.security_bytes:
        yield f"{count} security bytes", messages(lambda _, n=count: {"security_bytes": n})  # type: ignore[misc]
    for every_s in asked.message_every_s:
        yield f"a message every {every_s:g} s", messages(lambda _, s=every_s: {"every_s": s})  # type: ignore[misc]
    yield from _protocol_changes(scenario)
    if scenario.radio is not None:
        for key, values in (("transmit", asked.transmit), ("checks_per_s", asked.checks_per_s)):
            for value in values:
                radio = scenario.radio.model_copy(update={key: value})
                label = f"{value:g} checks/s" if isinstance(value, float) else f"radio: {value}"
                yield label, scenario.model_copy(update={"radio": radio})


def _protocol_changes(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    for use in scenario.protocols()[1:]:
        was = scenario.protocol
        label = f"{use.records_per_hour:g} records an hour"
        if was is not None and use.name != was.name:
            label = f"{use.name} for {was.name}"
        elif was is not None and use.loss != was.loss:
            label = f"{use.loss:.0%} of the frames lost"
        yield label, scenario.model_copy(update={"protocol": use})


def _swapped(step: Step, old: Step, name: str) -> Step:
    if step.primitive != old.primitive:
        return step
    return step.model_copy(update={"primitive": name, "implementation": None})
