"""Devices that a board's file wires to its chip: emulated, traced, and part of the energy."""

import shutil
import subprocess
from pathlib import Path

import pytest

from joulemark import project
from joulemark._engine import BoardError, Chip, EngineError, Image, Machine, Network, Wiring
from joulemark.catalogue import boards, chips
from joulemark.catalogue.boards import MCU
from joulemark.errors import InputError
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import duration_s, occupancy, total

BOARD = boards.load_board("telosb")

PROGRAM = """
    .text
    .globl start
start:
    mov #0x3900, r1
    mov #0x5a80, &0x0120        ; watchdog off
    bis.b #0x94, &0x1d          ; P4OUT: neither radio nor flash selected, no hold
    bis.b #0x94, &0x1e
    mov.b #0x17, &0x70          ; USART0: SPI master, SMCLK / 2
    mov.b #0xa2, &0x71
    mov.b #2, &0x74
    clr.b &0x75
    clr.b &0x73
    bis.b #0x40, &0x04
    bic.b #1, &0x70
    mov #0x1100, r12            ; what comes back
    mov #read, r8
    mov #6, r9
    call #command
    mov #enable, r8
    mov #1, r9
    call #command
    mov #page, r8
    mov #6, r9
    call #command
    mov #0x2000, r10            ; 3 cycles a round
wait:
    dec r10
    jnz wait
done:
    jmp done
command:
    bic.b #0x10, &0x1d
next:
    mov.b @r8+, r11
    mov.b r11, &0x77
ready:
    bit.b #0x40, &0x02
    jz ready
    mov.b &0x76, 0(r12)
    inc r12
    dec r9
    jnz next
    bis.b #0x10, &0x1d
    ret
read:
    .byte 3, 0, 0, 0, 0, 0
enable:
    .byte 6
page:
    .byte 2, 0, 0, 0, 0x12, 0x34
    .section .vectors,"a"
    .word start
"""

SCRIPT = """
ENTRY(start)
SECTIONS {
  .text 0x4000 : { *(.text) }
  .vectors 0xfffe : { *(.vectors) }
}
"""

PAGE_PROGRAM_PS = 1_400_000_000


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    if shutil.which("clang-19") is None:
        pytest.skip("needs clang-19 and lld-19")
    folder = tmp_path_factory.mktemp("devices")
    (folder / "program.S").write_text(PROGRAM)
    (folder / "link.ld").write_text(SCRIPT)
    for command in (
        ["clang-19", "--target=msp430", "-c", "program.S", "-o", "program.o"],
        ["ld.lld-19", "-T", "link.ld", "program.o", "-o", "program.elf"],
    ):
        subprocess.run(command, cwd=folder, check=True)
    return Image.load(folder / "program.elf")


@pytest.fixture(scope="module")
def machine(image: Image) -> Machine:
    machine = Machine(chips.load_chip(BOARD.chip), image, wiring=BOARD.wiring, trace=True)
    stop = machine.run(until=image.resolve("done"), max_cycles=100_000)
    assert stop.reason == "address"
    return machine


def test_each_part_has_a_track_of_its_own_over_all_the_time(machine: Machine) -> None:
    tracks = machine.power_tracks
    assert list(tracks) == ["flash", "humidity-sensor", MCU, "radio", "serial-number"]
    for track in tracks.values():
        assert [i.start_ps for i in track[1:]] == [i.end_ps for i in track[:-1]]
        assert (track[0].start_ps, track[-1].end_ps) == (0, machine.time_ps)
    writing = [i for i in tracks["flash"] if i.state == "write"]
    assert [i.end_ps - i.start_ps for i in writing] == [PAGE_PROGRAM_PS]
    assert tracks["flash"][-1].state == "standby"


def test_a_motes_serial_flash_holds_what_it_was_given_and_keeps_what_was_written(
    image: Image,
) -> None:
    network, chip = Network(), chips.load_chip(BOARD.chip)
    mote = network.add(chip, image, wiring=BOARD.wiring, flash=b"\xab\xcd")
    network.run(50_000_000_000)
    assert network.read_memory(mote, 0x1104, 2) == b"\xab\xcd"
    network.restart(mote, chip, image, wiring=BOARD.wiring)
    network.run(100_000_000_000)
    # Programming a page only clears bits.
    assert network.read_memory(mote, 0x1104, 2) == bytes([0xAB & 0x12, 0xCD & 0x34])
    with pytest.raises(EngineError, match="no device 'flash'"):
        network.add(chip, image, flash=b"\0")


def test_a_device_adds_to_the_energy_what_it_draws_beyond_its_rest(machine: Machine) -> None:
    meter = ModelMeter(BOARD)
    times = occupancy(machine.power_tracks, 0, machine.time_ps)
    assert duration_s(times) == pytest.approx(machine.time_ps * 1e-12)
    bare = {key: ps for key, ps in times.items() if key[0] == MCU}
    at_rest = {**bare, ("flash", "standby", 0): machine.time_ps}
    assert meter.energy(at_rest) == meter.energy(bare)
    assert meter.notes(at_rest) == meter.notes(bare)
    volt = BOARD.supply_v.value
    selected_s = times["flash", "selected", 0] * 1e-12
    extra_nj = volt * (20e-3 * PAGE_PROGRAM_PS * 1e-12 + 4e-3 * selected_s) * 1e9
    seen, chip = meter.energy(times), meter.energy(bare)
    assert seen.gross_nj - chip.gross_nj == pytest.approx(extra_nj, rel=1e-9)
    assert seen.net_nj - chip.net_nj == pytest.approx(extra_nj, rel=1e-9)
    assert seen.grade == "inferred"
    assert any(
        note.startswith("flash write: 20 mA (datasheet: tmote") for note in meter.notes(times)
    )


def test_the_clocks_of_a_state_are_one_note() -> None:
    meter = ModelMeter(BOARD)
    clocks = range(1_000_000, 1_700_000, 1_000)
    one = [note for note in meter.notes({(MCU, "active", 1_000_000): 1}) if "active" in note]
    assert len(one) == 1
    assert one[0].startswith("active at 1 MHz: ")
    several = meter.notes({(MCU, "active", hz): 1 for hz in clocks})
    assert len(several) == 2, "and idle"
    assert several[0].startswith("active at 1 to 1.699 MHz, 700 clocks: ")
    least, most = (meter.current("active", hz).ampere * 1e3 for hz in (clocks[0], clocks[-1]))
    assert f": {least:g} to {most:g} mA (" in several[0]


def test_the_current_of_all_parts_together_has_the_same_energy(machine: Machine) -> None:
    meter = ModelMeter(BOARD)
    charge_c, begin_ps = 0.0, 0
    for ampere, end_ps in total(machine.power_tracks, meter.current_of):
        assert end_ps > begin_ps
        charge_c += ampere * (end_ps - begin_ps) * 1e-12
        begin_ps = end_ps
    assert begin_ps == machine.time_ps
    energy = meter.energy(occupancy(machine.power_tracks, 0, machine.time_ps))
    assert charge_c * BOARD.supply_v.value * 1e9 == pytest.approx(energy.gross_nj, rel=1e-9)


def test_devices_take_no_time_of_the_chip(machine: Machine, image: Image) -> None:
    bare = Machine(chips.load_chip(BOARD.chip), image)
    bare.run(until=image.resolve("done"), max_cycles=100_000)
    assert (bare.cycles, bare.instructions) == (machine.cycles, machine.instructions)


def test_a_machine_runs_to_a_time_and_says_when_it_is_due(image: Image) -> None:
    machine = Machine(chips.load_chip(BOARD.chip), image, wiring=BOARD.wiring)
    assert machine.next_event_ps == 0
    stop = machine.run(until_ps=1_000_000_000)
    assert stop.reason == "time"
    assert 0 <= machine.time_ps - 1_000_000_000 < 10_000_000
    machine.set_register("sr", 0x10)
    # The core sleeps, and only the flash is busy.
    due_ps = machine.next_event_ps
    assert due_ps is not None
    assert due_ps > machine.time_ps
    machine.run(until_ps=due_ps)
    assert machine.next_event_ps is None


def test_wrong_wiring_is_an_error_that_names_file_and_key(tmp_path: Path, image: Image) -> None:
    text = (project.BOARDS / "telosb.toml").read_text()
    path = tmp_path / "telosb.toml"
    path.write_text(text.replace('model = "m25p80"', 'model = "m25p8"'))
    with pytest.raises(BoardError, match=r"telosb.toml: key 'device\[0\].model': .* m25p80"):
        Wiring.load(path)
    with pytest.raises(InputError, match=r"device\[0\].model"):
        _ = boards.read_board(path).wiring
    path.write_text(text.replace('hold = "P4.7"', 'hold = "PA7"'))
    wiring = Wiring.load(path)
    with pytest.raises(BoardError, match=r"device\[0\].pins.hold': no pin 'PA7'"):
        Machine(Chip.load(project.CHIPS / "msp430f1611.toml"), image, wiring=wiring)
