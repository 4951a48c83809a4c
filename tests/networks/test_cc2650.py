"""CC2650: its RF core as programs see it, and its driver beside those of other radios."""

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from command import joulemark
from joulemark._engine import Image, Machine
from joulemark.catalogue import boards, chips
from joulemark.catalogue.networks import read_network
from joulemark.images import build_program
from joulemark.project import NETWORKS
from joulemark.runners.network import RunningNetwork
from joulemark.runners.pair import run_pair

THREE = NETWORKS / "ping-three-radios.toml"
TOP = 0x20005000
STRUCTURE = 0x20000100

PROGRAM = """
    .syntax unified
    .thumb
    .section .vectors, "a"
    .word {top}, reset
    .text
    .global reset
    .type reset, %function
    .thumb_func
reset:
    ldr r7, ={results}
{code}
    .global done
done:
    b done
    .ltorg
"""

POWER = {
    0x40082130: 1,  # PRCM.PDCTL0RFC
    0x40082188: 1,  # PRCM.PDCTL1RFC
    0x4008202C: 1,  # PRCM.RFCCLKG
    0x40082028: 1,  # PRCM.CLKLOADCTL
}
BOOT = {**POWER, 0x40040000: 0x7FF}


def write(registers: dict[int, int]) -> str:
    lines = []
    for address, value in registers.items():
        lines += [f"ldr r0, ={address:#x}", f"ldr r1, ={value:#x}", "str r1, [r0]"]
    return "\n".join(lines) + "\n"


def read(*addresses: int) -> str:
    """Return code that stores each word in the results."""
    lines = [f"ldr r0, ={address:#x}\nldr r1, [r0]\nstm r7!, {{r1}}" for address in addresses]
    return "\n".join(lines) + "\n"


def run(folder: Path, code: str, link: str = "--no-gc-sections") -> tuple[Machine, Image, str]:
    """Run to `done`; return how it ended last."""
    source = PROGRAM.format(top=TOP, results=TOP - 0x400, code=code)
    (folder / "program.S").write_text(source)
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-nostdlib", "-Wl,-e,0"),
            *(f"-Wl,-Ttext=8,--section-start=.vectors=0,{link}", "program.S", "-o", "program.elf"),
        ],
        cwd=folder,
        check=True,
    )
    image = Image.load(folder / "program.elf")
    machine = Machine(chips.load_chip("cc2650"), image)
    stop = machine.run(max_cycles=1_000_000, until=image.symbols["done"])
    return machine, image, stop.fault.message if stop.fault else stop.reason


def results(machine: Machine, count: int) -> list[int]:
    words = machine.read_memory(TOP - 0x400, 4 * count)
    return [int.from_bytes(words[at : at + 4], "little") for at in range(0, 4 * count, 4)]


def test_the_radio_cpu_reads_commands_from_the_chips_memory(tmp_path: Path) -> None:
    code = write(BOOT)
    # CMD_PING; CMD_START_RAT; CMD_NOP with COND_NEVER; a pointer to nothing.
    for command in (0x04060001, 0x04050001):
        code += write({0x40041000: command}) + read(0x40041004)
    code += write({STRUCTURE: 0x0801, STRUCTURE + 12: 1 << 8, 0x40041000: STRUCTURE})
    code += read(0x40041004, STRUCTURE) + write({0x40041000: 0x30000000}) + read(0x40041004)
    # Domains and gates as set, and their status.
    code += read(0x4008212C, 0x40082140, 0x40082144, 0x40082194, 0x4008219C)
    machine, _, ended = run(tmp_path, code)
    assert ended == "address"
    done, right = 0x04000801, 1
    assert results(machine, 10) == [right, right, right, done, 0x81, 1, 1, 1, 0x1E, 1]


@pytest.mark.parametrize(
    ("code", "named"),
    [
        (read(0x40041004), "PRCM.PDCTL0RFC"),
        (write({**POWER, 0x40082130: 0, 0x40082188: 0}) + read(0x40041004), "power domain"),
        (write(BOOT) + read(0x40044000), "RFC_FSCA"),
        (write({**BOOT, STRUCTURE: 0x1803, 0x40041000: STRUCTURE}), "CMD_BLE_ADV"),
        (write({**BOOT, 0x40041000: 0x06010001}), "CMD_READ_RFREG"),
    ],
)
def test_what_is_off_or_left_out_is_named(tmp_path: Path, code: str, named: str) -> None:
    _, _, message = run(tmp_path, code)
    assert named in message


def test_start_up_code_finds_what_it_sets_up(tmp_path: Path) -> None:
    """TI's SetupTrimDevice: parts of registers, aliases, clocks, both configurations."""
    # DCDCCTL5 of ADI3 by MASK4B, a byte; FPAC1; WARMRESET.WR_TO_PINRESET by its bit's alias.
    code = "ldr r0, =0x40086256\nmovs r1, #0xf3\nstrb r1, [r0]\n" + read(0x40086208)
    code += write({0x40032048: 0x01390001}) + read(0x40032048)
    code += write({0x42000000 + 0x82110 * 32 + 4 * 2: 1}) + read(0x40082110)
    # CLKLOADCTL past the write buffer; the crystal, by the ROM's function, and the status in STAT0.
    code += read(0x60082028) + write({0x400CA000: 1})
    code += "ldr r0, =0x10000080\nldr r0, [r0]\nblx r0\n" + read(0x400CA034)
    # The ROM's AUXWUCPowerCtrl: off; and AON_WUC.PWRSTAT.
    code += "ldr r0, =0x100001a0\nldr r0, [r0]\nldr r3, [r0, #12]\nmovs r0, #1\nblx r3\n"
    code += read(0x40091014)
    # ICEPICK_DEVICE_ID; the last word of CCFG, and one that is not in the image.
    code += read(0x50001318, 0x50003FFC, 0x50003FF8)
    code += '.section .ccfg, "a"\n.word 0xc5ffffff\n.text\n'
    machine, _, ended = run(tmp_path, code, "--section-start=.ccfg=0x1fffc")
    assert ended == "address"
    known = [3 << 24, 0x01390001, 4, 2, 1 << 28 | 1, 0x50, 0x8B99A02F, 0xC5FFFFFF, 0xFFFFFFFF]
    assert results(machine, 9) == known


def test_an_interrupt_of_the_radio_cpu_wakes_the_core(tmp_path: Path) -> None:
    """CMD_NOP in 1 ms; RFC_CPE_0 is interrupt 9."""
    code = write(BOOT) + write({0x40041000: 0x04050001, 0x40041010: 0, 0x40041014: 1})
    code += write({0x40041018: 0, 0xE000E100: 1 << 9})
    code += write({STRUCTURE: 0x0801, STRUCTURE + 8: 4000, STRUCTURE + 12: 3 | 1 << 8})
    code += "cpsid i\n" + write({0x40041000: STRUCTURE}) + "wfi\n" + read(0x40041010)
    machine, _, ended = run(tmp_path, code)
    assert ended == "address"
    assert results(machine, 1) == [3]
    assert machine.time_ps == pytest.approx(1e9, rel=0.02)


def test_three_radios_ping_in_all_directions(tmp_path: Path) -> None:
    capture = tmp_path / "ping.pcapng"
    done = joulemark("network", str(THREE), "--for", "1500ms", "--pcap", str(capture))
    # TelosBs are up only after 0.3 s, because they first count their crystals.
    for asks in ("telosb", "openmote", "sensortag"):
        for number, mote in ((2, 2), (3, 3)):
            assert f"{asks}-asks| answer {number} from {mote}" in done.stdout
    fields = ["frame.time_relative", "wpan.fcs_ok", "wpan.frame_type", "wpan.seq_no"]
    fields += ["wpan-tap.ch_num"]
    arguments = [part for field in fields for part in ("-e", field)]
    out = subprocess.run(
        ["tshark", "-r", str(capture), "-T", "fields", "-E", "separator=|", *arguments],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    frames = [line.split("|") for line in out]
    frames = [frame[1:] for frame in frames if float(frame[0]) > 0.4]
    assert len(frames) >= 3 * 3 * 4
    assert {right for right, *_ in frames} <= {"True", "1"}
    # Every data frame is acknowledged, on its channel and with its number.
    for channel in ("15", "20", "26"):
        seen = [(int(kind, 0), number) for _, kind, number, at in frames if at == channel]
        data = Counter(number for kind, number in seen if kind == 1)
        assert sum(data.values()) >= 6
        assert Counter(number for kind, number in seen if kind == 2) == data


def test_a_sensortags_radio_is_a_track_of_its_own() -> None:
    result = json.loads(joulemark("network", str(THREE), "--for", "500ms", "--json").stdout)
    (mote,) = (m for m in result["motes"] if m["mote"] == "sensortag-20")
    # ZHCSDE0, section 5.5: 6.1 mA while receiving, of which 0.55 mA are the idle chip's.
    assert mote["parts_mj"]["radio"] == pytest.approx(5.55 * 3 * 0.5, rel=0.02)
    assert mote["parts_mj"]["mcu"] == pytest.approx(0.55 * 3 * 0.5, rel=0.05)


def test_the_radios_states_fill_its_time() -> None:
    """To rounded picoseconds: it acknowledges a question and answers it."""
    running = RunningNetwork(read_network(THREE))
    for _ in running.run(0.6):
        pass
    times = running.seats[5].occupancy
    radio = {state: ps for (part, state, _), ps in times.items() if part == "radio"}
    assert sum(radio.values()) == sum(ps for (part, *_), ps in times.items() if part == "mcu")
    assert set(radio) == {"off", "idle", "calibrate", "rx-differential", "tx-0dbm"}
    # 5 + 1 + 5 and 5 + 1 + 27 bytes of 32 us; five times 192 us for the synthesizer: once to
    # receive, and before and after both. The mote's crystal is fast.
    fast = 1 + 21e-6
    assert radio["tx-0dbm"] == pytest.approx(44 * 32e6 / fast, rel=0, abs=4)
    assert radio["calibrate"] == pytest.approx(5 * 192e6 / fast, rel=0, abs=8)


@pytest.mark.parametrize("level", [1, 2, 3, 5, 6, 7])
def test_three_boards_in_secured_slots_verify_here_and_in_tshark(
    level: int, tmp_path: Path
) -> None:
    """CCM* by each board's engine, and in software over one engine's AES; acknowledgements too."""
    text = (NETWORKS / "tsch-three-radios.toml").read_text()
    assert text.count("TSCH_LEVEL = 5") == 4
    path, capture = tmp_path / "slots.toml", tmp_path / "slots.pcapng"
    path.write_text(
        text.replace("TSCH_LEVEL = 5", f"TSCH_LEVEL = {level}").replace(
            "level = 5", f"level = {level}"
        )
    )
    shutil.copy(NETWORKS / "tsch-three-radios.keys.toml", tmp_path)
    done = joulemark("network", str(path), "--for", "6s", "--json", "--pcap", str(capture))
    result = json.loads(done.stdout)
    assert result["verified"] == result["frames"] > 50
    root, *leaves = result["motes"]
    assert [leaf["mote"] for leaf in leaves] == ["sensortag", "openmote", "sensortag-hybrid"]
    for leaf in leaves:
        assert leaf["received"] > leaf["sent"] > 5
    assert sum(leaf["sent"] for leaf in leaves) == root["received"]
    command = ["tshark", "-r", str(capture), "-T", "fields", "-E", "separator=|"]
    for line in Path(f"{capture}.keys").read_text().splitlines():
        command += ["-o", f"uat:ieee802154_keys:{line}"]
    command += ["-e", "wpan.aux_sec.sec_level", "-e", "wpan.mic", "-e", "wpan.decrypt_error"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(out) == result["frames"]
    seen = [line.split("|") for line in out]
    assert all(mic and not error for _, mic, error in seen)
    assert {int(found, 16) for found, _, _ in seen} == {1, level}


def test_neither_threads_nor_slices_can_be_seen() -> None:
    network = read_network(THREE)

    def digest(threads: int, slice_s: float) -> tuple[str, list[int]]:
        running = RunningNetwork(network, threads=threads)
        for _ in running.run(0.3, slice_s):
            pass
        return running.engine.digest, [running.cycles(number) for number in range(9)]

    whole = digest(1, 1.0)
    assert digest(2, 1.0) == whole
    assert digest(2, 0.0013) == whole


def test_sensortags_ping_each_other() -> None:
    board = boards.load_board("sensortag-cc2650")
    images = [build_program("net/ping", board, define={"MOTE": mote}) for mote in (1, 2)]
    done = run_pair(board, images, until_said=" 5 ", limit_ps=5 * 10**12)
    asked, answered = (mote.text.splitlines() for mote in done.motes)
    assert asked[1:6] == [f"answer {number} from 2" for number in range(5)]
    assert answered[1:6] == [f"answered {number} to 1" for number in range(5)]
    lengths = [len(frame.frame) for frame in done.frames]
    assert lengths[:4] == [27, 5, 27, 5]
