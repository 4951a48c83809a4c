"""Two images that anybody has compiled, as the two sides of a conversation over UDP.

Nothing is known of what they compute or of what their messages mean: datagrams are counted by who
sends them, and a side's time is what its core was awake for. The conversation is that of the two
ports between which most bytes go in both directions, from its first datagram to its last.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from joulemark.analysis.lowpan import Datagram, datagrams
from joulemark.catalogue.boards import MCU
from joulemark.catalogue.networks import made
from joulemark.catalogue.protocols import (
    ATTENUATION_DB,
    CLIENT,
    CLIENT_PPM,
    CLIENT_STARTS_S,
    SERVER,
    SERVER_PPM,
    Pair,
    spread,
)
from joulemark.errors import InputError, VerificationError
from joulemark.meters.power import ACTIVE, occupancy
from joulemark.records import bounds
from joulemark.runners.network import RunningNetwork, fault_error
from joulemark.subjects.handshake.flights import (
    Computed,
    Flight,
    Party,
    Priced,
    Seen,
    flights_of,
    stack_of,
)
from joulemark.subjects.handshake.talk import Account

if TYPE_CHECKING:
    from joulemark._engine import Chip, Transmission

AWAKE = "awake"
"""What a side's core did, which nothing tells apart."""
OTHER = "other frames"
"""The row of frames that are of no conversation, which no side sends."""
_AFTER_S = 0.05
_SIDES = (CLIENT, SERVER)


def start_images(paths: Sequence[Path], board: str, conditions: Pair) -> RunningNetwork:
    """Return the network in which a client's and a server's image run on two boards of a kind.

    Raises:
        InputError: a file is no image for the board.
    """
    mote = {"board": board}
    values = {
        "title": f"{paths[0].name} and {paths[1].name}, two of {board}",
        "seed": spread(conditions.seed),
        "everyone": {"attenuation_db": ATTENUATION_DB, "loss": conditions.loss},
        "mote": [
            {
                **mote,
                "name": CLIENT,
                "image": str(paths[0].resolve()),
                "start_s": CLIENT_STARTS_S,
                "crystal": {"ppm": CLIENT_PPM},
                "device_number": 1,
            },
            {
                **mote,
                "name": SERVER,
                "image": str(paths[1].resolve()),
                "crystal": {"ppm": SERVER_PPM},
                "device_number": 2,
            },
        ],
    }
    return RunningNetwork(made(values, paths[0]), observe=True)


def price_images(
    running: RunningNetwork, paths: Sequence[Path], conditions: Pair, run_s: float, port: int = 0
) -> Priced:
    """Run a network of two images for a time, or until the client prints `done`.

    Args:
        running: the network that was started for them.
        paths: the client's file and the server's.
        conditions: what is lost; the rest of them is the images' own.
        run_s: for how long.
        port: of the server; if it is 0, that of the ports that most bytes go between.

    Raises:
        FaultError: a program faulted.
        InputError: a file is no ELF file.
        VerificationError: no datagrams go both ways, the client prints `failed`, or both print keys
            that differ.
    """
    frames, said = _run(running, run_s)
    keys = [{t.removeprefix("key ") for t in said[n] if t.startswith("key ")} for n in (0, 1)]
    if keys[0] and keys[1] and keys[0] != keys[1]:
        raise VerificationError("both sides print a key, and not the same")
    talk = _conversation(datagrams(frames), running.network.title, port)
    begin_ps, end_ps = talk[0].begin_ps, max(datagram.end_ps for datagram in talk)
    parties = [
        _party(running, number, paths[number], frames, (begin_ps, end_ps)) for number in (0, 1)
    ]
    ports = " and ".join(str(each) for each in sorted({talk[0].source, talk[0].destination}))
    one_key = ", but both print one key" if keys[0] and keys[1] else ""
    flights = [*_flights(talk), *_others(talk, frames, (begin_ps, end_ps))]
    return Priced(
        protocol=f"{paths[0].stem}, {paths[1].stem}",
        title=f"two images, from the first datagram to the last, UDP ports {ports}",
        conditions=conditions,
        verified=f"not verified: what images compute is their own{one_key}",
        flights=flights,
        parties=parties,
        errors=[bounds.of_board(running.seats[0].board, None, running.energy(0).grade)],
    )


def _run(
    running: RunningNetwork, run_s: float
) -> "tuple[list[Transmission], tuple[list[str], list[str]]]":
    frames: list[Transmission] = []
    said: tuple[list[str], list[str]] = [], []
    end_s = run_s
    for piece in running.run(run_s):
        for number, stop in piece.faults:
            raise fault_error(running.names[number], stop)
        frames += piece.transmissions
        for line in piece.lines:
            said[line.mote].append(line.data.decode("ascii", "replace").strip())
        if "failed" in said[0]:
            raise VerificationError(f"{running.network.title}: the client prints 'failed'")
        if "done" in said[0]:
            end_s = min(end_s, running.time_s + _AFTER_S)
        if running.time_s >= end_s:
            break
    return frames, said


def _conversation(found: Sequence[Datagram], title: str, port: int) -> list[Datagram]:
    """Return the datagrams between two ports, one of them given or of most bytes, both ways.

    Raises:
        VerificationError: there are none.
    """
    sizes: Counter[frozenset[int]] = Counter()
    senders: dict[frozenset[int], set[int]] = defaultdict(set)
    for datagram in found:
        ports = frozenset((datagram.source, datagram.destination))
        if port and port not in ports:
            continue
        sizes[ports] += len(datagram.data)
        senders[ports].add(datagram.mote)
    both = [ports for ports in sizes if len(senders[ports]) == len(_SIDES)]
    if not both:
        of_port = f" of port {port}" if port else ""
        mend = "give them longer: --for; `joulemark network` shows their frames"
        what = f"no UDP datagrams{of_port} go both ways; there are {len(found)} in all"
        raise VerificationError(what, title, mend)
    chosen = max(both, key=lambda ports: sizes[ports])
    return [d for d in found if frozenset((d.source, d.destination)) == chosen]


def _flights(talk: Sequence[Datagram]) -> Iterator[Flight]:
    told: list[tuple[Datagram, Account, bool]] = []
    known: set[tuple[int, bytes]] = set()
    flight, last = 0, -1
    for datagram in talk:
        is_again = not datagram.is_whole or (datagram.mote, datagram.data) in known
        known.add((datagram.mote, datagram.data))
        if datagram.mote != last and not is_again:
            flight, last = flight + 1, datagram.mote
        account = Account(f"flight {max(flight, 1)}", len(datagram.data))
        told.append((datagram, account, is_again))
    return flights_of(told, 1)


def _others(
    talk: Sequence[Datagram], frames: "Sequence[Transmission]", span_ps: tuple[int, int]
) -> Iterator[Flight]:
    """Yield a row of all frames meanwhile that are not the conversation's."""
    begin_ps, end_ps = span_ps
    meanwhile = [f for f in frames if begin_ps <= f.begin_ps <= end_ps]
    count = len(meanwhile) - sum(d.frames + d.again_frames + d.ack_frames for d in talk)
    if count <= 0:
        return
    whole = sum(len(f.frame) + f.phy.overhead_bytes for f in meanwhile)
    yield Flight(
        name=OTHER,
        sender="",
        record=False,
        protocol=0,
        coap=0,
        payload=0,
        lowpan=0,
        mac=max(0, whole - sum(d.on_air_bytes for d in talk)),
        acks=0,
        again=0,
        frames=count,
        air_ps=max(0, sum(f.end_ps - f.begin_ps for f in meanwhile) - sum(d.air_ps for d in talk)),
        datagram=0,
    )


def _party(
    running: RunningNetwork,
    number: int,
    path: Path,
    frames: "Sequence[Transmission]",
    span_ps: tuple[int, int],
) -> Party:
    observed, seat = running.observed(number), running.seats[number]
    seen = Seen(
        running=running, number=number, power=observed.power, windows=[], frames=frames, first=0
    )
    used = occupancy(observed.power, *span_ps)
    awake = {key: ps for key, ps in used.items() if key[:2] == (MCU, ACTIVE)}
    awake_ps = sum(awake.values())
    cycles = sum(ps * clock_hz for (_, _, clock_hz), ps in awake.items()) / 1e12
    _, clock_hz = max(((ps, key[2]) for key, ps in awake.items()), default=(0, 0))
    core_uj = 1e3 * running.parts_of(number, awake).get(MCU, 0.0)
    spent = replace(seen.spent(*span_ps, 1), computing_ps=awake_ps, cycles=cycles)
    flash_bytes, ram_bytes = _sizes(path, seat.chip)
    return Party(
        side=_SIDES[number],
        board=seat.board.name,
        clock_hz=clock_hz,
        build=path.stem,
        supply_v=seat.board.supply_v.value,
        flash_bytes=flash_bytes,
        ram_bytes=ram_bytes,
        stack_bytes=stack_of(observed.profile),
        parts={},
        computed=[
            Computed(does=AWAKE, record=False, cycles=cycles, time_ps=awake_ps, core_uj=core_uj)
        ],
        first=spent,
        record=seen.spent(span_ps[1], span_ps[1], 1),
    )


def _sizes(path: Path, chip: "Chip") -> tuple[int, int]:
    """Return the bytes of an ELF file's sections in flash and in RAM.

    Raises:
        InputError: it is no ELF file.
    """
    flash = ram = 0
    rams = [range(m.start, m.start + m.size) for m in chip.memories if m.kind == "ram"]
    try:
        with path.open("rb") as file:
            for section in ELFFile(file).iter_sections():
                if section["sh_flags"] & SH_FLAGS.SHF_ALLOC:
                    flash += section["sh_size"] * (section["sh_type"] != "SHT_NOBITS")
                    ram += section["sh_size"] * any(section["sh_addr"] in each for each in rams)
    except (OSError, ELFError) as error:
        raise InputError(f"is no ELF file: {error}", str(path)) from error
    return flash, ram
