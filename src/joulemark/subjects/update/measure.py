"""Prices updates: a device is emulated from its reset to the start of the new image."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from joulemark._engine import PowerInterval
from joulemark.campaign.case import Build, Case, Conditions
from joulemark.campaign.job import Point
from joulemark.catalogue import boards, chips, datafile
from joulemark.catalogue.boards import MCU, RADIO, Board
from joulemark.conduct import Means, Records, Task, Work, of_tasks
from joulemark.errors import InputError, UnsatisfiedError, VerificationError
from joulemark.images import toolchain
from joulemark.measure.recorded import Outcome, key_of, of_image, recorded
from joulemark.meters.model import NAME as METER
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import Occupancy, occupancy, weakest
from joulemark.records.record import Quantity, quantity
from joulemark.subjects.update import UpdateSubject, air
from joulemark.subjects.update.device import (
    ACCEPTED,
    STAGES,
    Device,
    Interval,
    Kit,
    Release,
    provisioned,
)
from joulemark.subjects.update.layout import (
    UUIDS_BYTES,
    Needs,
    Ways,
    build,
    by_name,
    check_board,
)
from joulemark.subjects.update.manifest import Manifest, envelope
from joulemark.subjects.update.options import UpdateOptions
from joulemark.subjects.update.signatures import ALL, Signature, signature

BOOT, RADIO_PART = "boot", "radio"
"""Parts of a record besides the stages."""
_OLD, _NEW = 1, 2
_ENVELOPE_MARGIN = 8
"""A manifest is a few bytes longer with longer numbers."""

# IEEE 802.15.4-2020 at 2.4 GHz: a symbol of 16 us (section 12.2), a turnaround of 12 symbols
# (8.1.3, table 8-93), CCA of 8 symbols (10.2.8), unit backoff of 20 symbols; the mean of the first
# backoff, of 0 to 7 units (macMinBE is 3, 8.4.3.1). An acknowledgement has 5 bytes (7.3.3).
_SYMBOL_PS = 16_000_000
_TURNAROUND_PS, _CCA_PS, _BACKOFF_PS = (12 * _SYMBOL_PS, 8 * _SYMBOL_PS, 70 * _SYMBOL_PS)
_PHY_BYTES, _ACK_BYTES = 6, 5


@dataclass(frozen=True, kw_only=True)
class UpdateCase:
    """An update of a board."""

    subject: UpdateSubject
    board: Board
    build: Build

    @property
    def case(self) -> Case:
        """The case as records know it."""
        return Case(
            subject=self.subject,
            build=self.build,
            conditions=Conditions(
                board=self.board.name,
                clock=self.board.default_clock,
                runner="emulator",
                meter=METER,
                unit="emulated",
            ),
        )


def plan(options: UpdateOptions, means: Means) -> Work:
    """Return the work of updates of boards with signatures.

    Raises:
        BuildError: a bootloader does not compile.
        InputError: there is no such signature, implementation or board.
        ToolError: a compiler is missing.
    """
    toolchain.check_optimisation(options.opt)
    if options.implementation and not options.signature:
        raise InputError("is of one signature", "--implementation", "give --signature, too")
    chosen = [signature(name) for name in dict.fromkeys(options.signature)] or list(ALL.values())
    tasks = []
    for name in options.board:
        board = boards.load_board(name)
        check_board(board)
        if board.radio is None and options.frame_header:
            what = f"{name} has no radio in its file"
            raise InputError(what, "--frame-header", "leave it out")
        tasks += [_task(options, board, one) for one in chosen]
    return of_tasks(tasks, means)


def _task(options: UpdateOptions, board: Board, chosen: Signature) -> Task:
    ways = by_name(board, chosen)
    name = options.implementation or next(iter(ways), "none")
    if options.implementation and name not in ways:
        what = f"no implementation of {chosen.name} for {board.name}"
        raise InputError(what, f"--implementation {name}", f"there are {', '.join(ways)}")
    case = UpdateCase(
        subject=UpdateSubject(
            signature=chosen.name,
            implementation=name,
            image_bytes=options.image_bytes,
            frame_header_bytes=options.frame_header,
        ),
        board=board,
        build=Build(compiler=options.compiler, optimisation=options.opt),
    )
    digests = [board.digest, chips.digest(board.chip), chosen.public_keys.hex()]
    try:
        if not ways:
            what = f"no implementation of {chosen.name} runs on the {board.chip}"
            raise UnsatisfiedError(what, board.name)
        kit = kit_of(board, chosen, ways[name], case.build, options.image_bytes)
    except UnsatisfiedError as error:
        point = Point(case=case.case, trials=1, key=key_of(case.case, *digests))
        return Task(points=(point,), measure=error)
    if air.has_driver(board):
        digests += [image.digest for image in air.images(board.name)]
    key = key_of(case.case, *digests, kit.bootloader.image.digest)
    point = Point(case=case.case, trials=1, key=key)
    return Task(points=(point,), measure=partial(_measure, case, key))


def kit_of(board: Board, chosen: Signature, ways: Ways, build_as: Build, image_bytes: int) -> Kit:
    """Build the bootloader for a signature and images of a size.

    Raises:
        BuildError: it does not compile.
        UnsatisfiedError: flash is too small.
    """
    example = Manifest(board=board.name, slot=0, sequence=_OLD, image=bytes(image_bytes))
    needs = Needs(
        identity_bytes=UUIDS_BYTES + len(chosen.public_keys),
        envelope_bytes=len(envelope(example, chosen, 0)) + _ENVELOPE_MARGIN,
        image_bytes=image_bytes,
    )
    bootloader = build(
        board,
        chosen,
        ways,
        needs,
        compiler=build_as.compiler,
        optimisation=build_as.optimisation,
    )
    return Kit(board, chosen, bootloader)


def _measure(case: UpdateCase, key: str) -> Records:
    subject, board = case.subject, case.board
    chosen = signature(subject.signature)
    ways = by_name(board, chosen)
    kit = kit_of(board, chosen, ways[subject.implementation], case.build, subject.image_bytes)
    old = kit.release(0, subject.image_bytes, _OLD)
    new = kit.release(1, subject.image_bytes, _NEW)

    # The first boot writes the counter. The second is that of an unchanged image.
    first = Device(kit, provisioned(kit, [old]))
    _expect(first, None, old)
    again = Device(kit, first.flash, measured=True)
    _expect(again, None, old)
    device = Device(kit, again.flash, requested=True, measured=True)
    intervals = _expect(device, new, new)
    after = Device(kit, device.flash)
    _expect(after, None, new)

    stack = max(again.machine.stack_bytes, device.machine.stack_bytes)
    meter = ModelMeter(board)
    tracks = device.machine.power_tracks
    times = occupancy(tracks, 0, device.machine.time_ps)
    quantities = [
        *_memory(kit, new, stack),
        *_costs("", meter, times),
        *_of_stages(tracks, meter, intervals),
        *_of_boot(again, meter),
        *_of_radio(board, meter, new, subject.frame_header_bytes),
    ]
    outcome = Outcome(quantities=quantities, notes=[*_notes(kit), *meter.notes(times)])
    clock = case.case.conditions.clock
    provenance = of_image(board, clock, 0, kit.bootloader.built)
    note = f"{provenance.timing_note}; changes of flash {_of_flash(board)}"
    provenance = replace(provenance, timing_note=note)
    return [recorded(key, subject, case.case, provenance, outcome)]


def _of_flash(board: Board) -> str:
    """Return what the times rest on that a chip's flash takes to change, in words."""
    times = datafile.table(chips.path_of(board.chip))["flash_controller"]
    grade = weakest(constant["grade"] for constant in times.values())
    return "from the data sheet" if grade == "datasheet" else grade


def _expect(device: Device, sent: Release | None, started: Release) -> Sequence[Interval]:
    """Run a device, which has to accept what is sent and to start this image."""
    run = device.run(sent)
    answers = [] if sent is None else [ACCEPTED]
    if run.answers != answers or run.started != started.slot:
        what = f"answered {run.answers} and started {run.started}, not slot {started.slot}"
        raise VerificationError(f"the bootloader {what}")
    return run.intervals


def _memory(kit: Kit, new: Release, stack_bytes: int) -> Iterator[Quantity]:
    boot, layout = kit.bootloader, kit.bootloader.layout
    for name, value in (
        ("flash", boot.code_bytes),
        ("flash_whole", boot.used_bytes),
        ("flash_keys", UUIDS_BYTES + len(kit.signature.public_keys)),
        ("flash_slots", layout.end - layout.slots),
        ("ram", boot.ram_bytes + stack_bytes),
        ("stack", stack_bytes),
        ("manifest", len(new.envelope)),
        ("image", len(new.image)),
    ):
        yield quantity(name, "B", [value], exact=True)


def _of_stages(
    tracks: Mapping[str, Sequence[PowerInterval]], meter: ModelMeter, intervals: Sequence[Interval]
) -> Iterator[Quantity]:
    starts = {part: [one.start_ps for one in track] for part, track in tracks.items()}
    found = {one.stage for one in intervals}
    for stage in STAGES.values():
        if stage not in found:
            continue
        times: dict[tuple[str, str, int], int] = defaultdict(int)
        for one in intervals:
            if one.stage != stage:
                continue
            within = {
                part: track[
                    max(bisect_right(starts[part], one.start_ps) - 1, 0) : bisect_left(
                        starts[part], one.end_ps
                    )
                ]
                for part, track in tracks.items()
            }
            for state, ps in occupancy(within, one.start_ps, one.end_ps).items():
                times[state] += ps
        yield from _costs(stage, meter, times)


def _of_boot(device: Device, meter: ModelMeter) -> Iterator[Quantity]:
    machine = device.machine
    yield from _costs(BOOT, meter, occupancy(machine.power_tracks, 0, machine.time_ps))


def _costs(part: str, meter: ModelMeter, times: Occupancy) -> Iterator[Quantity]:
    drawn = meter.energy(times)
    time_ps = sum(ps for (of, _, _), ps in times.items() if of == MCU)
    yield quantity("time", "ps", [time_ps], part=part, exact=True)
    for name, nj in (("energy_gross", drawn.gross_nj), ("energy_net", drawn.net_nj)):
        yield quantity(name, "nJ", [nj], part=part, grade=drawn.grade, exact=True)


def _of_radio(
    board: Board, meter: ModelMeter, new: Release, header_bytes: int
) -> Iterator[Quantity]:
    """Yield what it takes to receive an update by radio; nothing for a board without one.

    A manifest is accepted before its image is sent, so no frame has parts of both. It is emulated
    where the firmware drives the radio, and computed elsewhere.
    """
    sizes = (len(new.envelope), len(new.image))
    if air.has_driver(board):
        found = [air.received(board.name, size, header_bytes) for size in sizes]
    else:
        found = [one for size in sizes if (one := _computed(board, size, header_bytes))]
    if not found:
        return
    times: dict[tuple[str, str, int], int] = defaultdict(int)
    for one in found:
        for state, ps in one.times.items():
            times[state] += ps
    frames, air_bytes = sum(one.frames for one in found), sum(one.air_bytes for one in found)
    yield quantity("frames", "frames", [frames], part=RADIO_PART, exact=True)
    yield quantity("air", "B", [air_bytes], part=RADIO_PART, exact=True)
    yield from _costs(RADIO_PART, meter, times)


def _computed(board: Board, size: int, header_bytes: int) -> air.Reception | None:
    """Compute what it takes to receive bytes; None for a board without a radio's currents.

    Frames are filled, none is lost and each is acknowledged, and the receiver listens all the time
    while the core sleeps.
    """
    if board.radio is None:
        return None
    states = {state.name for state in board.radio.state}
    sending = next((name for name in ("tx-0dbm", "tx") if name in states), None)
    if "rx" not in states or sending is None:
        return None
    most, overhead = board.radio.frame_bytes_max.value, board.radio.frame_overhead_bytes.value
    payload = int(most - overhead) - header_bytes
    byte_ps = round(8e12 / board.radio.bit_rate_hz.value)
    frames = -(-size // payload)
    air_bytes = size + frames * (int(overhead) + header_bytes)
    waits_ps = frames * (_BACKOFF_PS + _CCA_PS + 2 * _TURNAROUND_PS)
    listens_ps = waits_ps + air_bytes * byte_ps
    sends_ps = frames * (_PHY_BYTES + _ACK_BYTES) * byte_ps
    hz = board.clock_profile(None).hz
    asleep = chips.load_chip(board.chip).power_states[1]
    times: Occupancy = {
        (MCU, asleep, hz): listens_ps + sends_ps,
        (RADIO, "rx", 0): listens_ps,
        (RADIO, sending, 0): sends_ps,
    }
    return air.Reception(frames, air_bytes, listens_ps + sends_ps, times)


def _notes(kit: Kit) -> list[str]:
    chosen, layout = kit.signature, kit.bootloader.layout
    return [
        *(
            f"COSE algorithm {one.cose}: {one.note}"
            for one in filter(None, (chosen, chosen.second))
        ),
        f"bootloader {layout.start:#x}, keys {layout.identity:#x}, counter {layout.counter:#x}, "
        f"slots of {layout.slot_bytes} bytes from {layout.slots:#x}, manifest first "
        f"({layout.manifest_bytes} bytes)",
        "received over the serial line in blocks that are asked for; flash changes by the chip "
        "file's times",
        "radio: emulated; filled frames of IEEE 802.15.4 from another board, CSMA, none lost, each "
        "acknowledged; flash does not change meanwhile"
        if air.has_driver(kit.board)
        else "radio: computed; filled frames of IEEE 802.15.4, none lost, each acknowledged, mean "
        "first backoff; the receiver listens while the core sleeps",
    ]
