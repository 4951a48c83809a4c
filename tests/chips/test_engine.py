"""The engine from Python: an image with interrupts and a serial line, threads, and errors."""

import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from joulemark import project
from joulemark._engine import Chip, ChipError, EngineError, Image, ImageError, Machine
from programs import MSP430_ECHO, MSP430_SCRIPT

CHIP = project.CHIPS / "msp430f1611.toml"


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engine")
    if shutil.which("clang-19") is None:
        pytest.skip("needs clang-19 and lld-19")
    (folder / "program.S").write_text(MSP430_ECHO)
    (folder / "link.ld").write_text(MSP430_SCRIPT)
    for command in (
        ["clang-19", "--target=msp430", "-c", "program.S", "-o", "program.o"],
        ["ld.lld-19", "-T", "link.ld", "program.o", "-o", "program.elf"],
    ):
        subprocess.run(command, cwd=folder, check=True)
    return folder / "program.elf"


@pytest.fixture(scope="module")
def chip() -> Chip:
    return Chip.load(CHIP)


def echo(chip: Chip, image: Image) -> tuple[bytes, int, list[int]]:
    machine = Machine(chip, image, marker="P2.3", profile=True, trace=True, secrets_trace=True)
    assert machine.run(until_asleep=True, max_cycles=100_000).reason == "asleep"
    machine.serial_write("USART1", b"Interrupt!")
    assert machine.run(until_serial=1, max_cycles=100_000).reason == "serial"
    edges = machine.marker_edges
    return machine.serial_read("USART1"), machine.cycles, [edge.cycles for edge in edges]


def test_an_image_with_interrupts_and_a_serial_line_runs(chip: Chip, elf: Path) -> None:
    image = Image.load(elf)
    assert (image.format, image.entry) == ("elf", 0x4000)
    machine = Machine(chip, image, marker="P2.3", profile=True, trace=True, secrets_trace=True)
    assert machine.run(until_asleep=True, max_cycles=100_000).reason == "asleep"
    machine.serial_write("USART1", b"ab")
    assert machine.run(until_marker=True).reason == "marker"
    assert machine.run(until_marker=True).reason == "marker"
    rising, falling = machine.marker_edges
    assert rising.rising
    assert not falling.rising
    # SLAU049F, tables 3-14 to 3-16: MOV.B &,Rn 3; XOR.B #,Rn 2; MOV.B Rn,& 4; INC & 4; BIC.B & 4.
    assert falling.cycles - rising.cycles == 3 + 2 + 4 + 4 + 4
    assert falling.instructions - rising.instructions == 5
    assert machine.run(until_asleep=True, max_cycles=100_000).reason == "asleep"
    assert machine.serial_read("USART1") == b"AB"
    assert machine.read_memory(image.resolve("count"), 2) == b"\x02\x00"
    assert machine.registers["sp"] == 0x3900
    costs = {cost.name: cost for cost in machine.profile.functions}
    assert costs["receive"].calls == 2
    spent = sum(cost.self_cycles for cost in costs.values())
    assert spent == machine.cycles - machine.sleep_cycles
    assert {interval.state for interval in machine.power_tracks["mcu"]} == {"active", "lpm0"}
    assert machine.stack_bytes == 4


def test_a_trace_is_written(chip: Chip, elf: Path, tmp_path: Path) -> None:
    machine = Machine(chip, Image.load(elf), trace=True)
    machine.serial_write("USART1", b"x")
    machine.run(max_cycles=10_000)
    machine.write_vcd(tmp_path / "trace.vcd")
    text = (tmp_path / "trace.vcd").read_text()
    assert text.startswith("$timescale")
    assert "P2_3" in text
    with pytest.raises(OSError, match="nowhere"):
        machine.write_vcd(tmp_path / "nowhere" / "trace.vcd")


def test_machines_in_threads_do_not_touch_each_other(chip: Chip, elf: Path) -> None:
    image = Image.load(elf)
    alone = echo(chip, image)
    assert alone[0] == b"iNTERRUPT\x01"
    results: list[object] = []
    threads = [threading.Thread(target=lambda: results.append(echo(chip, image))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [alone] * 8


def test_a_run_lets_other_threads_go_on(chip: Chip, tmp_path: Path) -> None:
    spin = tmp_path / "spin.bin"
    spin.write_bytes(b"\xff\x3f")  # jmp to itself
    machine = Machine(chip, Image.load(spin, 0x1100), entry=0x1100)
    runner = threading.Thread(target=lambda: machine.run(max_cycles=50_000_000))
    runner.start()
    counted = 0
    while runner.is_alive():
        counted += 1
    assert counted > 1000
    assert machine.cycles == 50_000_000


def test_errors_say_what_is_wrong(chip: Chip, elf: Path, tmp_path: Path) -> None:
    image = Image.load(elf)
    with pytest.raises(ImageError, match=r"did you mean.*receive"):
        image.resolve("recieve")
    truncated = tmp_path / "truncated.elf"
    truncated.write_bytes(elf.read_bytes()[:100])
    with pytest.raises(ImageError, match=r"truncated\.elf"):
        Image.load(truncated)
    text = tmp_path / "notes.txt"
    text.write_text("no image")
    with pytest.raises(ImageError, match="neither ELF, Intel HEX nor UF2"):
        Image.load(text)
    with pytest.raises(ImageError, match="0x3900 is no memory"):
        Machine(chip, Image.load(elf, 0x3800))
    with pytest.raises(EngineError, match="P9"):
        Machine(chip, image, marker="P9.1")
    with pytest.raises(EngineError, match="xt2_hz"):
        Machine(chip, image, settings={"xt3_hz": 1})
    machine = Machine(chip, image)
    with pytest.raises(EngineError, match="neither flash nor RAM"):
        machine.read_memory(0x0120, 2)
    with pytest.raises(EngineError, match="r0 to r15"):
        machine.set_register("r16", 1)
    with pytest.raises(EngineError, match="profile=True"):
        _ = machine.profile
    broken = tmp_path / "broken.toml"
    broken.write_text(CHIP.read_text().replace('grade = "datasheet"', 'grade = "guess"', 1))
    with pytest.raises(ChipError, match=r"broken\.toml: key '.*grade.*': .*guess"):
        Chip.load(broken)
