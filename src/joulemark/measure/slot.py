"""How short a slot can be on a board: seen with much time, derived, proved, and proved minimal."""

import bisect
import datetime
import hashlib
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import cast

from joulemark._engine import Image, MarkerEdge, Transmission
from joulemark.analysis import slot as slots
from joulemark.analysis.slot import Minima, Slot, Template, Wait
from joulemark.campaign.case import Build, Case, Conditions
from joulemark.campaign.job import METHOD
from joulemark.campaign.subjects.slot import AHEAD, SlotSubject
from joulemark.campaign.versions import engine_version, host, project_commit
from joulemark.catalogue import boards
from joulemark.catalogue.boards import Board
from joulemark.errors import BudgetError, InputError, JoulemarkError, VerificationError
from joulemark.images import BuiltImage, Sources, build_program, memory
from joulemark.images.constants import with_constants
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import Energy, occupancy
from joulemark.records.record import Provenance, Quantity, Record
from joulemark.records.store import Store
from joulemark.runners.pair import PairRun, run_pair

PROGRAM = "net/tsch-ping"
SECURITY = "net/ieee802154/security"
WIDE = Template(slot=14_000, tx_offset=5000, tx_ack_delay=7000)
"""427 ms: software without optimisation at half the clock has time enough."""
COUNTS = (
    *(f"late {name}" for name in slots.DEADLINES),
    "slots",
    "sent",
    "acknowledged",
    "received",
    "refused",
    "joins",
)
"""tsch_counts of firmware/net/tsch/tsch.h: words of 32 bits."""
SEEN_SLOTS = 120
"""A slot's work hardly varies: the crystal's grid is what does."""
TRIED_SLOTS = 300
PROOF_SLOTS = 10_000
ROUNDS = 8
"""How often a template that is a tick too short is lengthened."""
_JOIN_SLOTS = 60
_SLOTFRAME = 6
"""A multiple of all slotframes' lengths."""


SlotRecord = Record[SlotSubject]
WAITING = "waiting for bytes"


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


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A run under a template."""

    template: Template
    slots: int
    """With a frame, of both motes together."""
    late: Mapping[str, int]
    """Moments that were not met, by name; those that were are not in it."""
    acknowledged: int
    """Frames of data, of both motes together."""
    lost: int
    """Frames that were not acknowledged, since the leaf has joined."""


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """A part of a slot, from one moment that can be seen to the next, or a share of one."""

    who: str
    """ "sender" or "receiver"."""
    step: str
    work: str
    ps: float
    nj: float


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """The shortest slot, and all that shows that it is."""

    case: SlotCase
    proof: Proof
    """No moment is missed."""
    failures: tuple[Proof, ...]
    """One tick less of each part of the template, in the order of BINDING: a moment is missed."""
    minima: Minima
    steps_ps: Mapping[str, int]
    """The longest that each step took: sec1, sec2+sec3, sec4, with all that is done around them."""
    cycles: Mapping[str, Mapping[str, float]]
    """Of a step, by what they went into."""
    waterfall: Sequence[Stretch]
    energy: Mapping[str, Energy]
    """Of a slot, by its kind."""
    flash_bytes: int
    ram_bytes: int
    """Of security, by wiring difference."""
    image: BuiltImage
    frame_bytes: int
    acknowledgement_bytes: int
    payload_bytes: int
    """Of a frame of data."""

    @property
    def throughput_bps(self) -> float:
        """Payload that was acknowledged in the proof, of both motes together."""
        bits = 8 * self.payload_bytes * self.proof.acknowledged
        return bits * slots.TICK_HZ / (self.proof.slots * self.spacing * self.proof.template.slot)

    @property
    def spacing(self) -> int:
        """One slot in so many has a link."""
        return _spacing(self.case.subject)


def images(
    case: SlotCase, template: Template, end: int, sources: Sources
) -> tuple[BuiltImage, BuiltImage]:
    """The root's and the leaf's image.

    Raises:
        BuildError: they cannot be built.
        InputError: the board has no radio driver, or a value is wrong.
    """
    root, leaf = (_image(case, template, mote, end, sources) for mote in (1, 2))
    return root, leaf


def _image(
    case: SlotCase, template: Template, mote: int, end: int, sources: Sources, *, bare: bool = False
) -> BuiltImage:
    subject = case.subject
    secured = subject.level > 0 and not bare
    return build_program(
        PROGRAM,
        case.board,
        without=() if secured else (SECURITY,),
        wiring={
            "ccm-star": f"net/ccm-star/{_wired(subject)}",
            "boots": "boots/none",
            "block-cipher": f"primitives/block-cipher/aes/{subject.cipher or 'ref'}",
        },
        define={
            **template.macros,
            "MOTE": mote,
            "TSCH_LEVEL": subject.level if secured else 0,
            "TSCH_KEY_ID_MODE": subject.key_id_mode,
            "TSCH_COUNTER_CARRIED": int(subject.counter_carried),
            "TSCH_TABLES_FULL": 1,
            "CCM_KEEPS_SCHEDULE": int(subject.keys_stay),
            "RADIO_KEYS_STAY": int(subject.keys_stay),
            "CCM_STREAMED": int(subject.streamed),
            "TSCH_AHEAD": AHEAD.index(subject.ahead),
            "TSCH_BRIEF_ACKNOWLEDGEMENTS": int(subject.brief),
            "TSCH_IDLE_SLOTS": 0,
            "PING_SLOTS": end,
        },
        clock=case.clock,
        compiler=case.build.compiler,
        optimisation=case.build.optimisation,
        sources=sources,
    )


def _wired(subject: SlotSubject) -> str:
    """The part behind a strategy.

    Raises:
        InputError: there is no such one.
    """
    in_software = subject.strategy == "software"
    if subject.streamed and subject.strategy == "hybrid":
        raise InputError("a hybrid cannot unsecure while it receives", "--streamed")
    if subject.ahead == "keystream" and not (in_software and subject.streamed):
        mend = "use it with --strategy software --streamed"
        raise InputError("no key stream can be made ahead", "--ahead keystream", mend)
    if in_software and subject.streamed and not subject.keys_stay:
        mend = "add --keys-stay"
        raise InputError("keys stay expanded where frames are streamed", "--streamed", mend)
    return "stream" if in_software and subject.streamed else subject.strategy


def _spacing(subject: SlotSubject) -> int:
    """One slot in so many has a link: the others are idle."""
    return 2 if subject.ahead == "frame" else 1


def _reset(case: SlotCase, image: BuiltImage, template: Template, end: int) -> BuiltImage:
    """An image with another template and another end, in place: the search builds nothing."""
    return with_constants(
        image,
        {
            "timing": struct.pack("<5H", *vars(template).values()),
            "ping_slots": struct.pack("<I", end),
        },
    )


def _run(
    case: SlotCase,
    built: Sequence[BuiltImage],
    template: Template,
    count: int,
    *,
    profile: bool = False,
    trace: bool = False,
    until_late: bool = False,
) -> tuple[PairRun, list[dict[str, int]]]:
    """Run slots; what both counted. Those that stop when one is late say nothing by themselves."""
    limit_ps = 5 * 10**12 + slots.ps_of(template.slot) * (count + _JOIN_SLOTS)
    run = run_pair(
        case.board,
        built,
        until_said="done\n",
        limit_ps=limit_ps,
        profile=profile,
        trace=trace,
        watched=("tsch_count", 4 * len(COUNTS)),
        enough=(lambda seen: any(_late(_counts(one)) for one in seen)) if until_late else None,
    )
    reports = [_counts(one) for one in run.watched]
    for report, mote in zip(reports, run.motes, strict=True):
        pairs = (line.rpartition(" ") for line in mote.text.splitlines() if line != "done")
        report |= {name: int(number) for name, _, number in pairs}
    return run, reports


def _counts(seen: bytes) -> dict[str, int]:
    return dict(zip(COUNTS, struct.unpack(f"<{len(COUNTS)}I", seen), strict=True))


def _late(report: Mapping[str, int]) -> dict[str, int]:
    """Moments that were missed, by name."""
    return {name: report[f"late {name}"] for name in slots.DEADLINES if report[f"late {name}"] > 0}


def _proof(template: Template, reports: Sequence[Mapping[str, int]]) -> Proof:
    late: dict[str, int] = {}
    for report in reports:
        for name, number in _late(report).items():
            late[name] = late.get(name, 0) + number
    root, leaf = reports
    acknowledged = sum(report["acknowledged"] for report in reports)
    lost = sum(report["sent"] for report in reports) - acknowledged
    # The root asks once in three slots before the leaf has joined, too.
    lost -= (root["slots"] - leaf["slots"]) // len(slots.SLOTFRAMES["root"])
    return Proof(
        template=template, slots=root["slots"], late=late, acknowledged=acknowledged, lost=lost
    )


def _verify(reports: Sequence[Mapping[str, int]], case: SlotCase) -> None:
    """Every question was answered, and rightly: the root compares each byte.

    Raises:
        VerificationError: one was not.
    """
    root, leaf = reports
    wrong = root["wrong"] + root["refused"] + leaf["refused"]
    if wrong or not root["answered"] or root["received"] != root["answered"]:
        what = f"{wrong} frames were wrong or refused, and {root['answered']} questions answered"
        raise VerificationError(what, str(case.case))


def _waits(edges: Sequence[MarkerEdge]) -> list[Wait]:
    found = []
    ready: MarkerEdge | None = None
    for edge in edges:
        if edge.rising:
            ready = edge
        elif ready is not None:
            found.append(
                Wait(
                    ready_ps=ready.time_ps,
                    went_on_ps=edge.time_ps,
                )
            )
            ready = None
    return found


def _slots(run: PairRun, template: Template, case: SlotCase) -> list[Slot]:
    """The slots of both motes, as soon as they have found each other."""
    found = []
    for mote, observed in zip(("root", "leaf"), run.motes, strict=True):
        found += slots.regular(
            slots.slots(mote, _waits(observed.edges), prepared=case.subject.ahead == "frame"),
            template,
        )
    if not found:
        raise VerificationError("no slotframe was whole", "marker edges")
    return found


def _steps(frames: Sequence[Transmission], found: Sequence[Slot]) -> dict[str, int]:
    """The longest of each step: from what it waits for on the air until it is done."""
    ends = sorted(frame.end_ps for frame in frames)
    longest = {"sec1": 0, "sec2+sec3": 0, "sec4": 0}

    def note(step: str, ps: int) -> None:
        longest[step] = max(longest[step], ps)

    for one in found:
        if one.kind == "send":
            note("sec1", one.waits[0].ready_ps - one.start_ps)
            note("sec4", one.waits[2].ready_ps - _last(ends, one.waits[2].ready_ps))
        elif one.kind == "receive":
            note("sec2+sec3", one.waits[1].ready_ps - _last(ends, one.waits[1].ready_ps))
    return longest


def _last(ends: Sequence[int], before: int) -> int:
    """The last end of a frame before a time."""
    return ends[bisect.bisect_left(ends, before) - 1]


STEPS = {
    "load_data": "sec1",
    "take_data": "sec2",
    "load_acknowledgement": "sec3",
    "take_acknowledgement": "sec4",
}
"""Functions of firmware/net/tsch/tsch.c, each called once in a slot that has the step."""
WORK = (
    ("wait_for_bytes", WAITING),
    ("radio_wait_frame", WAITING),
    ("radio_aes", "hardware AES"),
    ("radio_ccm", "hardware CCM*"),
    ("aes_", "AES"),
    ("ccm", "CCM*'s glue"),
    ("crypto_", "CCM*'s glue"),
    ("counter_", "CCM*'s glue"),
    ("radio_", "to and from the radio"),
    ("frame_", "headers and elements"),
    ("check", "table look-up"),
    ("security_", "nonce and procedures"),
    ("tsch_next", "payload"),
)
"""Purpose of functions, by how their names begin; otherwise that of their nearest caller."""


def _cycles(run: PairRun) -> dict[str, dict[str, float]]:
    """Cycles of each step by what they went into: the mean over all slots of both motes."""
    cycles: dict[str, dict[str, float]] = {step: {} for step in STEPS.values()}
    calls = dict.fromkeys(STEPS.values(), 0)
    for mote in run.motes:
        assert mote.profile is not None  # noqa: S101
        for function in mote.profile.functions:
            if function.name in STEPS:
                calls[STEPS[function.name]] += function.calls
        for path in mote.profile.paths:
            names = list(path.path)
            step = next((STEPS[name] for name in names if name in STEPS), None)
            if step is not None:
                work = _work(names)
                cycles[step][work] = cycles[step].get(work, 0) + path.self_cycles
    return {
        step: {
            work: count / calls[step] for work, count in sorted(parts.items(), key=lambda p: -p[1])
        }
        for step, parts in cycles.items()
        if calls[step]
    }


def _work(names: Sequence[str]) -> str:
    for name in reversed(names):
        for prefix, work in WORK:
            if name.startswith(prefix):
                return work
    return "slot machine"


def _moments(slot: Slot, frames: Sequence[Transmission]) -> list[tuple[str, str, int]]:
    """Step, work and end of each stretch of a slot, in order."""
    begin, end = slot.start_ps, slot.waits[-1].went_on_ps
    data, acknowledgement = (f for f in frames if begin < f.begin_ps < end)
    first, second, last = slot.waits
    if slot.kind == "send":
        return [
            ("sec1", "", first.ready_ps),
            ("grid", "wait for tx-offset", first.went_on_ps),
            ("frame", "radio's turnaround", data.begin_ps),
            ("frame", "on the air", data.end_ps),
            ("listen", "slot machine", second.ready_ps),
            ("listen", "wait for the acknowledgement", second.went_on_ps),
            ("listen", "turnaround and guard", acknowledgement.begin_ps),
            ("acknowledgement", "on the air", acknowledgement.end_ps),
            ("sec4", "", last.ready_ps),
            ("grid", "wait for the slot's end", end),
        ]
    return [
        ("listen", "slot machine", first.ready_ps),
        ("listen", "wait for the frame", first.went_on_ps),
        ("listen", "turnaround and guard", data.begin_ps),
        ("frame", "on the air", data.end_ps),
        ("sec2+sec3", "", second.ready_ps),
        ("grid", "wait for tx-ack-delay", second.went_on_ps),
        ("acknowledgement", "radio's turnaround", acknowledgement.begin_ps),
        ("acknowledgement", "on the air", acknowledgement.end_ps),
        ("end", "slot machine", last.ready_ps),
        ("end", "wait for the slot's end", end),
    ]


def _shares(
    step: str, ps: int, cycles: Mapping[str, Mapping[str, float]], case: SlotCase
) -> list[tuple[str, str, float]]:
    """How a step's time is shared among what its cycles went into."""
    if case.subject.streamed and step != "sec1":
        # Most of it was done while the frame arrived: only of the rest it is known how long it is.
        first, _, second = step.partition("+")
        hz = case.board.clock_profile(case.clock).hz
        shares = [
            (second, work, count / hz * 1e12 / ps) for work, count in cycles.get(second, {}).items()
        ]
        return [(first, "after the frame's end", 1 - sum(part for *_, part in shares)), *shares]
    parts = [
        (one, work, count) for one in step.split("+") for work, count in cycles.get(one, {}).items()
    ]
    whole = sum(count for *_, count in parts)
    return [(one, work, count / whole) for one, work, count in parts]


def _waterfall(
    run: PairRun,
    found: Sequence[Slot],
    cycles: Mapping[str, Mapping[str, float]],
    case: SlotCase,
) -> list[Stretch]:
    """All of a slot of the sender's and of the receiver's, by moments that were seen.

    The last slot of each kind. The time of a step of security is that of this slot; it is shared
    by the mean of the cycles that functions take.
    """
    meter = ModelMeter(case.board)
    motes = dict(zip(("root", "leaf"), run.motes, strict=True))
    stretches = []
    for kind, who in (("send", "sender"), ("receive", "receiver")):
        slot = [one for one in found if one.kind == kind][-1]
        power = motes[slot.mote].power
        at = slot.start_ps
        for step, work, until in _moments(slot, run.frames):
            nj = meter.energy(occupancy(power, at, until)).gross_nj
            shares = [(step, work, 1.0)] if work else _shares(step, until - at, cycles, case)
            for name, what, part in shares or [(step, "slot machine", 1.0)]:
                stretches.append(
                    Stretch(who=who, step=name, work=what, ps=(until - at) * part, nj=nj * part)
                )
            at = until
    return stretches


def _energy(run: PairRun, found: Sequence[Slot], board: Board) -> dict[str, Energy]:
    """Of the last slot of each kind, from its start to its end: by the board's currents."""
    meter = ModelMeter(board)
    motes = dict(zip(("root", "leaf"), run.motes, strict=True))
    return {
        one.kind: meter.energy(
            occupancy(motes[one.mote].power, one.start_ps, one.waits[-1].went_on_ps)
        )
        for one in found
    }


def _lengthened(template: Template, late: Mapping[str, int]) -> Template:
    """A tick more where a moment was missed."""
    offset = int(slots.TX_OFFSET in late or slots.RX_LISTEN in late)
    delay = int(slots.TX_ACK in late or slots.ACK_LISTEN in late)
    # What is late at the end of a slot can come of what was late in it.
    end = int(slots.SLOT_END in late and not offset and not delay)
    return replace(
        template,
        tx_offset=template.tx_offset + offset,
        tx_ack_delay=template.tx_ack_delay + delay,
        slot=template.slot + offset + delay + end,
    )


BINDING = {
    slots.TX_OFFSET: {slots.TX_OFFSET, slots.RX_LISTEN},
    slots.TX_ACK: {slots.TX_ACK, slots.ACK_LISTEN},
    slots.SLOT_END: {slots.SLOT_END},
}
"""Moments that a part of the template fixes; a receiver's guard time can bind tx-offset."""


def shorter(template: Template) -> dict[str, Template]:
    """A tick less of each part of a template, by the moment that it makes too early."""
    slot = template.slot - 1
    return {
        slots.TX_OFFSET: replace(template, slot=slot, tx_offset=template.tx_offset - 1),
        slots.TX_ACK: replace(template, slot=slot, tx_ack_delay=template.tx_ack_delay - 1),
        slots.SLOT_END: replace(template, slot=slot),
    }


class _Bench:
    """Runs of a case: the template is changed in the image, in place."""

    def __init__(self, case: SlotCase) -> None:
        self.case = case
        self.sources = Sources()
        self.images = images(case, case.wide, 1, self.sources)

    def run(
        self, template: Template, count: int, *, until_late: bool = False
    ) -> tuple[PairRun, list[dict[str, int]]]:
        """Run so many slots; all that can be seen of them, or how many were late."""
        count = self._numbers(count)
        built = [_reset(self.case, image, template, count) for image in self.images]
        seen = not until_late
        return _run(
            self.case, built, template, count, profile=seen, trace=seen, until_late=until_late
        )

    def _numbers(self, count: int) -> int:
        """So many slots that have a link, as slot numbers: whole slotframes."""
        count *= _spacing(self.case.subject)
        return count + -count % _SLOTFRAME

    def tried(self, template: Template) -> Proof:
        """Run until something is late."""
        _, reports = self.run(template, TRIED_SLOTS, until_late=True)
        return _proof(template, reports)

    def proof(self, template: Template, count: int) -> Proof:
        """Run so many slots; every answer is right.

        Raises:
            VerificationError: one was not.
        """
        count = self._numbers(count)
        built = [_reset(self.case, image, template, count) for image in self.images]
        _, reports = _run(self.case, built, template, count)
        _verify(reports, self.case)
        return _proof(template, reports)

    def settled(self, template: Template) -> tuple[Template, tuple[Proof, ...]]:
        """The shortest template near one, and the failures of those that are a tick shorter.

        What was derived is right to the time that looking at the clock takes.

        Raises:
            VerificationError: none was found.
        """
        for _ in range(ROUNDS):
            late = self.tried(template).late
            if late:
                template = _lengthened(template, late)
                continue
            failures = {part: self.tried(short) for part, short in shorter(template).items()}
            passing = [f.template for f in failures.values() if not f.late]
            if not passing:
                for part, failure in failures.items():
                    if not BINDING[part] & set(failure.late):
                        what = f"a tick less of {part} misses another moment alone: {failure}"
                        raise VerificationError(what, str(self.case.case))
                return template, tuple(failures.values())
            template = passing[0]
        raise VerificationError(f"no shortest slot in {ROUNDS} rounds", str(self.case.case))


def tune(case: SlotCase, *, proof_slots: int = PROOF_SLOTS) -> Tuned:
    """Derive the shortest slot, run it, and run it a tick shorter.

    Args:
        case: what on which board.
        proof_slots: how many slots are run without a missed moment.

    Raises:
        BudgetError: the slot's work does not fit the widest template.
        BuildError: an image cannot be built.
        InputError: the board has no radio, or not what the strategy needs.
        VerificationError: a frame was wrong.
    """
    bench = _Bench(case)
    run, reports = bench.run(case.wide, SEEN_SLOTS)
    if _proof(case.wide, reports).late:
        raise BudgetError(f"a slot's work does not fit {slots.ps_of(case.wide.slot) / 1e9:g} ms")
    _verify(reports, case)
    found = _slots(run, case.wide, case)
    least = slots.slacks(found)
    template = slots.shortened(case.wide, slots.cut(least))
    for _ in range(ROUNDS):
        template, failures = bench.settled(template)
        proof = bench.proof(template, proof_slots)
        if not proof.late:
            break
        # What is rare shows in many slots alone.
        template = _lengthened(template, proof.late)
    if proof.late or proof.lost:
        raise VerificationError(f"{proof} after {ROUNDS} rounds", str(case.case))
    steps = _steps(run.frames, found)
    seen, _ = bench.run(template, SEEN_SLOTS)
    seen_slots = _slots(seen, template, case)
    cycles = _cycles(run)
    image = bench.images[0]
    price = _price(case, bench.sources, image)
    lengths = [len(frame.frame) for frame in seen.frames]
    return Tuned(
        case=case,
        proof=proof,
        failures=failures,
        minima=slots.minima(case.wide, least, template, steps["sec4"]),
        steps_ps=steps,
        cycles=cycles,
        waterfall=_waterfall(seen, seen_slots, cycles, case),
        energy=_energy(seen, seen_slots, case.board),
        flash_bytes=price[0],
        ram_bytes=price[1],
        image=image,
        frame_bytes=max(lengths),
        acknowledgement_bytes=min(lengths),
        payload_bytes=reports[0]["payload"],
    )


def _price(case: SlotCase, sources: Sources, image: BuiltImage) -> tuple[int, int]:
    """Flash and RAM of security, by leaving it out."""
    if case.subject.level == 0:
        return 0, 0
    bare = _image(case, case.wide, 1, 1, sources, bare=True)
    difference = memory.difference(image, bare)
    return difference.flash_bytes, difference.ram_bytes


def key(case: SlotCase) -> str:
    """Digest of all that the result depends on."""
    image = images(case, case.wide, 1, Sources())[1]
    chip = boards.load_chip(case.board.chip)
    depends = [
        case.case.digest,
        Image.load(image.path).digest,
        case.board.digest,
        chip.digest,
        engine_version(),
        METHOD,
    ]
    return hashlib.sha256(json.dumps(depends).encode()).hexdigest()


def measured(
    cases: Sequence[SlotCase], store: Store, *, proof_slots: int, jobs: int
) -> Iterator[tuple[SlotCase, SlotRecord | JoulemarkError]]:
    """Records of cases: the store's, where nothing has changed; else measured and kept.

    One whose proof is shorter than is asked for is measured again. Those that are in the store
    come first, the others as they are done.

    Args:
        cases: which.
        store: of records.
        proof_slots: how many slots are run without a missed moment.
        jobs: how many cases at a time.

    Raises:
        StoreError: the store cannot be read or written.
    """
    keys: dict[str, SlotCase] = {}
    for case in cases:
        try:
            keys[key(case)] = case
        except JoulemarkError as error:
            yield case, error
    served = store.served(keys)
    for found in store.load(one.id for one in served.values()):
        enough = isinstance(found.subject, SlotSubject) and (found.trials or 0) >= proof_slots
        if enough:
            yield keys.pop(found.key), cast("SlotRecord", found)
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        futures = {pool.submit(_measure, case, proof_slots): case for case in keys.values()}
        try:
            for future in as_completed(futures):
                made = future.result()
                if isinstance(made, Record):
                    store.append(made)
                yield futures[future], made
        finally:
            pool.shutdown(cancel_futures=True)


def _measure(case: SlotCase, proof_slots: int) -> SlotRecord | JoulemarkError:
    try:
        return record(tune(case, proof_slots=proof_slots))
    except JoulemarkError as error:
        return error


def quantities(tuned: Tuned) -> list[Quantity]:
    """All numbers of a slot."""
    template, minima = tuned.proof.template, tuned.minima

    def exact(part: str, name: str, unit: str, value: int) -> Quantity:
        return Quantity(part, name, unit, value, exact=True)

    found = [
        exact("", "slot", "ps", minima.real_ps),
        exact("", "slot_by_equation", "ps", minima.by_equation_ps),
        exact("", "slot_continuous", "ps", minima.continuous_ps),
        exact("", "tx_offset", "ticks", template.tx_offset),
        exact("", "tx_ack_delay", "ticks", template.tx_ack_delay),
        exact("", "slot_ticks", "ticks", template.slot),
        exact("", "flash_wiring", "B", tuned.flash_bytes),
        exact("", "ram_wiring", "B", tuned.ram_bytes),
        exact("", "frame", "B", tuned.frame_bytes),
        exact("", "acknowledgement", "B", tuned.acknowledgement_bytes),
        exact("", "payload", "B", tuned.payload_bytes),
        Quantity("", "throughput", "bit/s", tuned.throughput_bps),
    ]
    found += [exact(step, "time", "ps", ps) for step, ps in tuned.steps_ps.items()]
    for kind, energy in tuned.energy.items():
        found.append(Quantity(kind, "energy_gross", "nJ", energy.gross_nj, grade=energy.grade))
    for step, parts in tuned.cycles.items():
        found += [
            Quantity(f"{step}: {work}", "cycles", "cycles", cycles)
            for work, cycles in parts.items()
        ]
    for number, one in enumerate(tuned.waterfall):
        part = f"{one.who} {number:02} {one.step}: {one.work}"
        grade = tuned.energy["send"].grade
        found.append(Quantity(part, "time", "ps", one.ps))
        found.append(Quantity(part, "energy_gross", "nJ", one.nj, grade=grade))
    for part, failure in zip(BINDING, tuned.failures, strict=True):
        found.append(exact(f"a tick less of {part}", "slots", "slots", failure.slots))
        found += [
            exact(f"a tick less of {part}", f"late {name}", "slots", count)
            for name, count in failure.late.items()
        ]
    return found


def record(tuned: Tuned) -> SlotRecord:
    """As the store keeps it."""
    case = tuned.case
    chip = boards.load_chip(case.board.chip)
    clock = case.board.clock_profile(case.clock)
    return Record(
        key=key(case),
        measured_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        status="ok",
        subject=case.subject,
        build=case.build,
        conditions=case.case.conditions,
        about=case.subject.about(),
        provenance=Provenance(
            seed=0,
            host=host(),
            clock_hz=clock.hz,
            chip=case.board.chip,
            board_title=case.board.title,
            board_digest=case.board.digest,
            chip_digest=chip.digest,
            timing_note=chip.timing_note,
            memories_keep_state=chip.memories_keep_state,
            compiler_version=tuned.image.compiler,
            flags=tuned.image.flags,
            image_digest=Image.load(tuned.image.path).digest,
            build_id=tuned.image.build_id,
            project_commit=project_commit(),
            engine_version=engine_version(),
        ),
        repetitions=1,
        trials=tuned.proof.slots,
        quantities=tuple(quantities(tuned)),
    )
