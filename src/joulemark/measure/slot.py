"""How short a slot can be on a board: seen with much time, derived, proved, and proved minimal."""

import bisect
import datetime
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from joulemark._engine import Image, MarkerEdge
from joulemark.analysis import slot as slots
from joulemark.analysis.slot import Minima, Slack, Slot, Template, Wait
from joulemark.campaign.case import Build, Case, Conditions
from joulemark.campaign.job import METHOD
from joulemark.campaign.subjects.slot import SlotSubject
from joulemark.campaign.versions import engine_version, host, project_commit
from joulemark.catalogue import boards
from joulemark.catalogue.boards import MCU, Board
from joulemark.errors import BudgetError, VerificationError
from joulemark.images import BuiltImage, Sources, build_program, memory
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import Energy, occupancy
from joulemark.records.record import Provenance, Quantity, Record
from joulemark.records.store import Store
from joulemark.runners.pair import PairRun, run_pair

PROGRAM = "net/tsch-ping"
SECURITY = "net/ieee802154/security"
WIDE = Template(slot=8000, tx_offset=2400, tx_ack_delay=3600)
"""244 ms: software without optimisation has time enough."""
SEEN_SLOTS = 60
"""A slot's work hardly varies: the crystal's grid is what does."""
TRIED_SLOTS = 300
ROUNDS = 8
"""How often a template that is a tick too short is lengthened."""
_JOIN_SLOTS = 60
_SLOTFRAME = 3


@dataclass(frozen=True, kw_only=True)
class SlotCase:
    """What is made as short as can be."""

    board: Board
    clock: str
    subject: SlotSubject
    build: Build

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
    lost: int
    """Frames that were not acknowledged."""


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """The shortest slot, and all that shows that it is."""

    case: SlotCase
    wide: Template
    slacks: Mapping[str, Slack]
    proof: Proof
    """No moment is missed."""
    failures: tuple[Proof, ...]
    """One tick less of each part of the template: a moment is missed."""
    minima: Minima
    steps_ps: Mapping[str, int]
    """The longest that each step took: sec1, sec2+sec3, sec4, with all that is done around them."""
    waterfall: Mapping[str, Mapping[str, float]]
    """Cycles of a step by what they went into."""
    energy: Mapping[str, Energy]
    """Of a slot, by its kind; empty where the board's currents do not tell."""
    flash_bytes: int
    ram_bytes: int
    """Of security, by wiring difference."""
    image: BuiltImage
    frame_bytes: int
    acknowledgement_bytes: int


def images(case: SlotCase, template: Template, end: int, sources: Sources) -> list[BuiltImage]:
    """The root's and the leaf's image.

    Raises:
        BuildError: they cannot be built.
        InputError: the board has no radio driver, or a value is wrong.
    """
    return [_image(case, template, mote, end, sources) for mote in (1, 2)]


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
            "ccm-star": f"net/ccm-star/{subject.strategy}",
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
            "TSCH_IDLE_SLOTS": 0,
            "PING_SLOTS": end,
        },
        clock=case.clock,
        compiler=case.build.compiler,
        optimisation=case.build.optimisation,
        sources=sources,
    )


def _run(
    case: SlotCase, template: Template, count: int, sources: Sources, *, profile: bool = False
) -> tuple[PairRun, list[dict[str, int]]]:
    """Run slots, and what the motes say of them."""
    count += -count % _SLOTFRAME
    built = images(case, template, count, sources)
    limit_ps = 5 * 10**12 + slots.ps_of(template.slot) * (count + _JOIN_SLOTS)
    run = run_pair(case.board, built, until_said="done\n", limit_ps=limit_ps, profile=profile)
    reports = []
    for mote in run.motes:
        pairs = (line.rpartition(" ") for line in mote.text.splitlines() if line != "done")
        reports.append({name: int(number) for name, _, number in pairs})
    return run, reports


def _proof(template: Template, reports: Sequence[Mapping[str, int]], count: int) -> Proof:
    late: dict[str, int] = {}
    for report in reports:
        for name, number in report.items():
            if name.startswith("late ") and number > 0:
                deadline = name.removeprefix("late ")
                late[deadline] = late.get(deadline, 0) + number
    sent = sum(report["sent"] for report in reports)
    lost = sent - sum(report["acknowledged"] for report in reports)
    return Proof(template=template, slots=count, late=late, lost=lost)


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
                    ready_cycles=ready.cycles,
                    went_on_cycles=edge.cycles,
                )
            )
            ready = None
    return found


def _slots(run: PairRun, template: Template) -> list[Slot]:
    """The slots of both motes, as soon as they have found each other."""
    found = []
    for mote, observed in zip(("root", "leaf"), run.motes, strict=True):
        found += slots.regular(slots.slots(mote, _waits(observed.edges)), template)
    if not found:
        raise VerificationError("no slotframe was whole", "marker edges")
    return found


def _steps(run: PairRun, found: Sequence[Slot]) -> dict[str, int]:
    """The longest of each step: from what it waits for on the air until it is done."""
    ends = sorted(frame.end_ps for frame in run.frames)
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
"""What functions are for, by how their names begin; else what their nearest caller is for."""


def _waterfall(run: PairRun) -> dict[str, dict[str, float]]:
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


def _energy(run: PairRun, found: Sequence[Slot], board: Board) -> dict[str, Energy]:
    """Of the last slot of each kind, from its start to its end: by the board's currents.

    Nothing where the radio is a part of the chip: its currents are stated with a CPU that is idle,
    and here it is not.
    """
    if any(part not in board.wiring.devices for part in run.motes[0].power if part != MCU):
        return {}
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


def _settled(
    case: SlotCase, template: Template, sources: Sources
) -> tuple[Template, tuple[Proof, ...]]:
    """The shortest template near one, and the failures of those that are a tick shorter.

    What was derived is right to the time that looking at the clock takes.

    Raises:
        VerificationError: none was found.
    """

    def tried(template: Template) -> Proof:
        _, reports = _run(case, template, TRIED_SLOTS, sources)
        return _proof(template, reports, TRIED_SLOTS)

    for _ in range(ROUNDS):
        late = tried(template).late
        if late:
            template = _lengthened(template, late)
            continue
        failures = {deadline: tried(short) for deadline, short in shorter(template).items()}
        passing = [f.template for f in failures.values() if not f.late]
        if not passing:
            for part, failure in failures.items():
                if not BINDING[part] & set(failure.late):
                    what = f"a tick less of {part} misses another moment alone: {failure}"
                    raise VerificationError(what, str(case.case))
            return template, tuple(failures.values())
        template = passing[0]
    raise VerificationError(f"no shortest slot in {ROUNDS} rounds", str(case.case))


def tune(case: SlotCase, *, proof_slots: int = TRIED_SLOTS) -> Tuned:
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
    sources = Sources()
    run, reports = _run(case, WIDE, SEEN_SLOTS, sources, profile=True)
    _verify(reports, case)
    first = _proof(WIDE, reports, SEEN_SLOTS)
    if first.late:
        raise BudgetError(f"a slot's work does not fit {slots.ps_of(WIDE.slot) / 1e9:g} ms")
    found = _slots(run, WIDE)
    least = slots.slacks(found)
    template = slots.shortened(WIDE, slots.cut(least))
    count = proof_slots + -proof_slots % _SLOTFRAME
    for _ in range(ROUNDS):
        template, failures = _settled(case, template, sources)
        tuned_run, reports = _run(case, template, count, sources)
        proof = _proof(template, reports, count)
        if not proof.late:
            break
        # What is rare shows in many slots alone.
        template = _lengthened(template, proof.late)
    if proof.late or proof.lost:
        raise VerificationError(f"{proof} after {ROUNDS} rounds", str(case.case))
    _verify(reports, case)
    steps = _steps(run, found)
    image = images(case, template, count, sources)[0]
    price = _price(case, template, count, sources, image)
    lengths = [len(frame.frame) for frame in tuned_run.frames]
    return Tuned(
        case=case,
        wide=WIDE,
        slacks=least,
        proof=proof,
        failures=tuple(failures),
        minima=slots.minima(WIDE, least, template, steps["sec4"]),
        steps_ps=steps,
        waterfall=_waterfall(run),
        energy=_energy(tuned_run, _slots(tuned_run, template), case.board),
        flash_bytes=price[0],
        ram_bytes=price[1],
        image=image,
        frame_bytes=max(lengths),
        acknowledgement_bytes=min(lengths),
    )


def _price(
    case: SlotCase, template: Template, end: int, sources: Sources, image: BuiltImage
) -> tuple[int, int]:
    """Flash and RAM of security, by leaving it out."""
    if case.subject.level == 0:
        return 0, 0
    bare = _image(case, template, 1, end, sources, bare=True)
    difference = memory.difference(image, bare)
    return difference.flash_bytes, difference.ram_bytes


def key(case: SlotCase) -> str:
    """Digest of all that the result depends on."""
    image = images(case, WIDE, SEEN_SLOTS, Sources())[1]
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


def measured(case: SlotCase, store: Store) -> Record[SlotSubject]:
    """The record of a case: the store's, where nothing has changed; else it is measured and kept.

    Raises:
        JoulemarkError: as `tune` does.
    """
    served = store.served([key(case)])
    for found in store.load(s.id for s in served.values()):
        if isinstance(found.subject, SlotSubject):
            return cast("Record[SlotSubject]", found)
    made = record(tune(case))
    store.append(made)
    return made


def record(tuned: Tuned) -> Record[SlotSubject]:
    """As the store keeps it."""
    case = tuned.case
    chip = boards.load_chip(case.board.chip)
    clock = case.board.clock_profile(case.clock)
    quantities = [
        Quantity("", "slot", "ps", tuned.minima.real_ps, exact=True),
        Quantity("", "slot_by_equation", "ps", tuned.minima.by_equation_ps, exact=True),
        Quantity("", "slot_continuous", "ps", tuned.minima.continuous_ps, exact=True),
        Quantity("", "tx_offset", "ticks", tuned.proof.template.tx_offset, exact=True),
        Quantity("", "tx_ack_delay", "ticks", tuned.proof.template.tx_ack_delay, exact=True),
        Quantity("", "slot_ticks", "ticks", tuned.proof.template.slot, exact=True),
        Quantity("", "flash_wiring", "B", tuned.flash_bytes, exact=True),
        Quantity("", "ram_wiring", "B", tuned.ram_bytes, exact=True),
    ]
    for step, ps in tuned.steps_ps.items():
        quantities.append(Quantity(step, "time", "ps", ps, exact=True))
    for kind, energy in tuned.energy.items():
        quantities.append(Quantity(kind, "energy_gross", "nJ", energy.gross_nj, grade=energy.grade))
    for step, parts in tuned.waterfall.items():
        for work, cycles in parts.items():
            quantities.append(Quantity(f"{step} {work}", "cycles", "cycles", cycles))
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
        quantities=tuple(quantities),
    )
