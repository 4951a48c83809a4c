"""Images: reproducible, cached, attributed, clear about errors; and right on the chip."""

import concurrent.futures
import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from hypothesis import given
from hypothesis import strategies as st

from joulemark._engine import Image
from joulemark.catalogue import boards, chips
from joulemark.catalogue.primitives import Implementation, Library
from joulemark.errors import BuildError, InputError, ToolError
from joulemark.images import build_image, build_local, cache, memory, toolchain
from joulemark.images.families.msp430 import baud_setting
from joulemark.project import FIRMWARE, ROOT
from joulemark.runners.emulator import EmulatedBoard
from joulemark.runners.protocol import Device, Flag, Status
from vectors import LIBRARY

TELOSB = boards.load_board("telosb")
COMPILERS = ["clang", "gcc"]


def implementation(name: str, way: str = "ref") -> Implementation:
    return LIBRARY.implementation(LIBRARY[name], way)


def on_telosb(algorithm: str) -> list[Implementation]:
    ways = LIBRARY.implementations(LIBRARY[algorithm])
    return [way for way in ways if way.runs_on("msp430")]


AES = implementation("aes-128")
ONE_OF_EACH_KIND = [
    implementation("identity", "none"),
    AES,
    implementation("chacha20"),
    implementation("sha-256"),
    implementation("hmac-sha-256"),
    implementation("aes-128-cbc"),
    implementation("aes-128-ccm"),
]


def symbol_bytes(path: Path, name: str) -> bytes:
    """Return the code of a function in an image."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        table = elf.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        symbols = table.get_symbol_by_name(name)
        assert symbols is not None
        symbol = symbols[0]
        section = elf.get_section(symbol["st_shndx"])
        start = symbol["st_value"] - section["sh_addr"]
        return bytes(section.data()[start : start + symbol["st_size"]])


def boot(path: Path) -> tuple[EmulatedBoard, Device]:
    board = EmulatedBoard(
        chips.load_chip(TELOSB.chip),
        Image.load(path),
        marker=TELOSB.marker.pin,
        port=TELOSB.serial.port,
    )
    return board, Device(board, attempts=1)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("optimisation", toolchain.OPTIMISATIONS)
@pytest.mark.parametrize("way", on_telosb("aes-128"), ids=str)
def test_aes_on_the_emulated_telosb(way: Implementation, compiler: str, optimisation: str) -> None:
    """Vectors through the protocol; stack by painting equals the stack that the emulator saw."""
    try:
        image = build_image(way, TELOSB, compiler=compiler, optimisation=optimisation)
    except ToolError as error:
        pytest.skip(str(error))
    board, device = boot(image.path)
    assert device.description == image.description
    for vector in LIBRARY["aes-128"].vectors:
        values = vector.values
        device.write("key", values["key"])
        for operation, message, output in (
            ("init", values["message"], values["output"]),
            ("encrypt", values["message"], values["output"]),
            ("decrypt", values["output"], values["message"]),
        ):
            device.write("message", message)
            result = device.run(operation, Flag.PAINT)
            assert result.status is Status.OK
            assert device.read("output", len(output)) == output, vector.origin
            window = board.take_window()
            assert result.stack_bytes == window.stack_bytes
            # The timer starts before the marker's edge and stops after it.
            assert 0 <= result.timer_ticks - window.cycles < 64


@pytest.mark.parametrize("clock", TELOSB.clock)
def test_the_clock_is_set_from_below(clock: str) -> None:
    image = build_image(implementation("identity", "none"), TELOSB, clock=clock)
    board, device = boot(image.path)
    assert device.description["clock_hz"] == str(TELOSB.clock[clock].hz)
    assert TELOSB.clock[clock].accepts(board.clock_hz)


@pytest.mark.parametrize("trim_ppm", [700_000, 850_000, 1_000_000, 1_150_000, 1_300_000])
def test_the_clock_of_any_specimen_is_set(trim_ppm: int) -> None:
    """The DCO differs by tens of percent between chips: counting its cycles corrects for that."""
    from joulemark._engine import Machine

    image = build_image(implementation("identity", "none"), TELOSB, clock="tinyos")
    machine = Machine(
        chips.load_chip(TELOSB.chip),
        Image.load(image.path),
        settings={"dco_trim_ppm": trim_ppm},
    )
    symbol = Image.load(image.path).symbols["hal_serial_read"]
    assert machine.run(until=symbol, max_cycles=10_000_000).reason == "address"
    assert TELOSB.clock["tinyos"].accepts(machine.clock_hz)


def test_an_empty_window_costs_the_same_in_every_image() -> None:
    costs = set()
    for way in ONE_OF_EACH_KIND:
        for optimisation in ("O3", "Os"):
            image = build_image(way, TELOSB, optimisation=optimisation)
            board, device = boot(image.path)
            sizes = way.algorithm.sizes
            for name, drawn in way.algorithm.contract.file.input.items():
                device.write(name, bytes(sizes.get(drawn.size, 0)))
            device.run(device.operations[0], Flag.EMPTY)
            costs.add(board.take_window().cycles)
    assert len(costs) == 1


def test_repetitions_cost_the_same_each() -> None:
    """Restoring a context is part of the empty window too, so it cancels."""
    image = build_image(implementation("sha-256"), TELOSB)
    board, device = boot(image.path)
    device.write("message", bytes(40))
    net = {}
    for repetitions in (1, 2, 5, 20):
        cycles = []
        for flags in (Flag.EMPTY, Flag.NONE):
            device.run("update", flags, repetitions)
            cycles.append(board.take_window().cycles)
        net[repetitions] = (cycles[1] - cycles[0]) / repetitions
    assert len(set(net.values())) == 1, net


def test_the_timer_counts_beyond_its_sixteen_bits() -> None:
    image = build_image(implementation("sha-256"), TELOSB)
    board, device = boot(image.path)
    device.write("message", bytes(1000))
    for repetitions in (1, 2, 3, 7, 20):
        ticks = device.run("hash", Flag.NONE, repetitions).timer_ticks
        cycles = board.take_window().cycles
        assert 0 <= ticks - cycles < 64
    assert cycles > 20 * 65536
    device.run("hash", Flag.NONE, 60)
    assert board.take_window().cycles > 2 * TELOSB.clock["max"].hz
    assert device.run("hash", Flag.NONE, 60).timer_ticks == 0xFFFF_FFFF


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("way", ONE_OF_EACH_KIND, ids=str)
def test_memory_two_ways(way: Implementation, compiler: str) -> None:
    for optimisation in toolchain.OPTIMISATIONS:
        try:
            image = build_image(way, TELOSB, compiler=compiler, optimisation=optimisation)
        except ToolError as error:
            pytest.skip(str(error))
        found = memory.measure(image)
        # At most one byte of padding to a word in each of two sections.
        assert abs(found.flash_bytes - found.flash_wiring_bytes) <= 2
        assert abs(found.ram_bytes - found.ram_wiring_bytes) <= 2
        assert found.ram_bytes >= found.context_bytes > 0
        if way.algorithm.kind == "identity":
            assert found.flash_bytes <= 4
        else:
            assert found.flash_bytes > 500


@pytest.mark.slow
def test_memory_two_ways_for_all() -> None:
    wrong = []
    for algorithm in LIBRARY.algorithms.values():
        for way in on_telosb(algorithm.name) if algorithm.is_default else ():
            found = memory.measure(build_image(way, TELOSB, optimisation="Os"))
            flash = found.flash_bytes - found.flash_wiring_bytes
            ram = found.ram_bytes - found.ram_wiring_bytes
            if max(abs(flash), abs(ram)) > 2:
                wrong.append((str(way), flash, ram))
    assert wrong == []


def test_the_harness_is_the_same_code_in_every_image() -> None:
    bodies = {
        symbol_bytes(build_image(way, TELOSB, optimisation=o).path, "hal_serial_read")
        for way in ONE_OF_EACH_KIND
        for o in toolchain.OPTIMISATIONS
    }
    assert len(bodies) == 1


def test_a_kind_s_harness_is_compiled_once_for_all_boards_of_a_core() -> None:
    way = implementation("aes-128-ccm", "armv7m")
    found = set()
    for board in ("sensortag-cc2650", "openmote-cc2538"):
        image = build_image(way, boards.load_board(board), compiler="gcc")
        commands = json.loads((image.path.parent / "commands.json").read_text())
        found.add(next(c[-1] for c in commands if c[-1].endswith("kind_c.o")))
    assert len(found) == 1


def test_an_unchanged_case_comes_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    first = build_image(AES, TELOSB)

    def fail(*_: object) -> None:
        raise AssertionError("something was compiled")

    monkeypatch.setattr(toolchain, "run", fail)
    second = build_image(AES, TELOSB)
    assert second.cached
    assert second == first


def checkout(folder: Path) -> Path:
    """Copy what images are made from to another place."""
    for name in ("chips", "boards", "firmware"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


PROGRAM = """
import sys
from joulemark.catalogue import boards, chips
from joulemark.images import build_image
from joulemark.catalogue.primitives import Library
library = Library.load()
board = boards.load_board("telosb")
for name in sys.argv[1:]:
    algorithm, _, way = name.partition("/")
    image = build_image(library.implementation(library[algorithm], way), board)
    print(name, image.build_id, image.path)
"""


def images_of(root: Path, *names: str) -> dict[str, tuple[str, str]]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *names],
        env={**os.environ, "JOULEMARK_ROOT": str(root), "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split(" ", 2) for line in done.stdout.splitlines()]
    return {w: (i, hashlib.sha256(Path(p).read_bytes()).hexdigest()) for w, i, p in rows}


def test_any_checkout_gives_the_same_image(tmp_path: Path) -> None:
    names = ("aes-128/ref", "aes-128/msp430", "hmac-sha-256/ref")
    one = images_of(checkout(tmp_path / "one"), *names)
    two = images_of(checkout(tmp_path / "a" / "longer path" / "two"), *names)
    assert len(one) == len(names)
    assert one == two


def test_builds_at_the_same_time_share_the_cache(tmp_path: Path) -> None:
    root = checkout(tmp_path / "root")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = [pool.submit(images_of, root, "aes-128/ref") for _ in range(4)]
    assert len({str(run.result()) for run in runs}) == 1
    assert not list((root / "build").rglob("making-*"))


def test_every_input_counts(tmp_path: Path) -> None:
    """Other code in any file that goes in gives another image; a comment there does not."""
    root = checkout(tmp_path)
    before = images_of(root, "aes-128/ref")
    (root / "firmware/primitives/hash/hash.h").write_text("/* not used by a cipher */\n")
    assert images_of(root, "aes-128/ref") == before
    for name in (
        "firmware/harness/command-frame.h",
        "firmware/hal/msp430/hal.c",
        "firmware/hal/msp430/libc/string.h",
        "firmware/hal/msp430/runtime/shift.S",
        "firmware/primitives/block-cipher/kind.c",
        "firmware/primitives/crypto.h",
        "firmware/primitives/block-cipher/aes/ref/aes.h",
    ):
        path = root / name
        text = path.read_text()
        path.write_text(f"{text}/* changed */\n")
        if name.endswith(("frame.h", ".S")):  # Each run takes seconds.
            assert images_of(root, "aes-128/ref") == before, name
        code = ".byte 1" if name.endswith(".S") else "static char other __attribute__((used));"
        path.write_text(f"{text}{code}\n")
        assert images_of(root, "aes-128/ref") != before, name
        path.write_text(text)


def test_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    """Emptied, truncated or lost files of any kind are noticed."""
    root = checkout(tmp_path)
    before = images_of(root, "aes-128/ref")
    for section in ("tools", "generated", "objects", "images"):
        for number, folder in enumerate(sorted((root / "build" / section).iterdir())):
            (path, *_) = sorted(p for p in folder.iterdir() if p.name != "entry")
            if number % 3 == 0:
                path.write_bytes(b"")
            elif number % 3 == 1:
                path.write_bytes(path.read_bytes()[:-1])
            else:
                path.unlink()
    assert images_of(root, "aes-128/ref") == before


def test_what_killed_builds_left_is_swept(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    objects = root / "build" / "objects"
    gone = subprocess.Popen(["true"])
    gone.wait()
    killed, made_now = objects / f"making-{gone.pid}-0", objects / f"making-{gone.pid}-1"
    running = objects / f"making-{os.getpid()}-2"
    for folder in (killed, made_now, running):
        folder.mkdir(parents=True)
    for folder in (killed, running):
        os.utime(folder, (0, 0))
    images_of(root, "aes-128/ref")
    assert [f.exists() for f in (killed, made_now, running)] == [False, True, True]


def test_others_may_read_the_cache(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    images_of(root, "aes-128/ref")
    for folder in (root / "build").glob("*/*"):
        assert folder.stat().st_mode & 0o777 == (root / "build").stat().st_mode & 0o777


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cache, "BUILD", tmp_path)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fill() -> None:
        with cache.entry("objects", "0" * 40) as (_, work):
            assert work is not None
            (work / "object").write_text("code")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(ToolError, match=r"cannot be written: No space left on device; make room"):
        fill()
    assert not list(tmp_path.rglob("making-*"))


def test_a_compiler_on_a_full_disk_is_no_error_of_the_firmware(tmp_path: Path) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho 'error: No space left on device' >&2\nexit 1\n")
    compiler.chmod(0o755)
    with pytest.raises(ToolError, match="No space left on device"):
        toolchain.run([str(compiler), "-o", "x"], "compiling", tmp_path)


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        pytest.param(
            "ld.lld-19: error: section '.text' will not fit in region 'flash': overflowed by 7122 "
            "bytes\nld.lld-19: error: section '.rodata' will not fit in region 'flash': overflowed "
            "by 14494 bytes",
            "14,494 bytes of flash are missing",
            id="LLVM",
        ),
        pytest.param(
            "ld: image.elf section `.text' will not fit in region `flash'\n"
            "ld: region `flash' overflowed by 1200 bytes\nld: region `ram' overflowed by 64 bytes",
            "1,200 bytes of flash and 64 bytes of RAM are missing",
            id="GNU",
        ),
        pytest.param(
            "ld.lld-19: error: fewer than 512 bytes of RAM are left for the stack",
            "fewer than 512 bytes of RAM are left for the stack",
            id="stack",
        ),
    ],
)
def test_what_does_not_fit_is_told_in_bytes(printed: str, said: str, tmp_path: Path) -> None:
    linker = tmp_path / "linker"
    linker.write_text(f'#!/bin/sh\ncat >&2 <<"END"\n{printed}\nEND\nexit 1\n')
    linker.chmod(0o755)
    with pytest.raises(BuildError) as error:
        toolchain.run([str(linker), "-o", "x"], "linking", tmp_path)
    assert str(error.value) == f"linking: it does not fit: {said}"


def test_a_compile_error_is_one_message(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    source = root / "firmware/primitives/block-cipher/aes/ref/aes.c"
    source.write_text(source.read_text() + "\nint broken = ;\nint more = ;\n")
    library = Library.load(root / "firmware/primitives")
    way = library.implementation(library["aes-128"], "ref")
    with pytest.raises(BuildError) as caught:
        build_local(way)
    message = str(caught.value)
    assert "aes/ref/aes.c" in message
    assert "expected expression" in message
    assert message.count("error:") == 1
    command = message.partition("repeat it with: ")[2]
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602
    assert done.returncode != 0
    assert "expected expression" in done.stderr


def test_an_image_that_does_not_fit_says_so(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    source = root / "firmware/primitives/block-cipher/aes/ref/aes.c"
    text = source.read_text()
    text = text.replace("aes_init(", "aes_other_init(", 1)
    text += "\nstatic uint8_t big[9000];\n"
    text += "void aes_init(aes_ctx *ctx, const uint8_t *key) {\n"
    text += "    big[*key] = 1;\n    aes_other_init(ctx, key + big[3]);\n}\n"
    source.write_text(text.replace("void aes_other_init", "static void aes_other_init", 1))
    library = Library.load(root / "firmware/primitives")
    said = "it does not fit: fewer than 512 bytes of RAM are left for the stack"
    with pytest.raises(BuildError, match=f"linking: {said}$"):
        build_image(library.implementation(library["aes-128"], "ref"), TELOSB)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"clock": "warp"}, "no clock warp; it has max, tinyos, contiki"),
        ({"compiler": "tcc"}, "no such compiler: tcc"),
        ({"optimisation": "O9"}, "O9: no such optimisation; use one of O3, O2, Os"),
    ],
)
def test_wrong_options_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_image(AES, TELOSB, **arguments)


def test_a_missing_compiler_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    toolchain.find.cache_clear()
    with pytest.raises(ToolError, match="clang-19"):
        build_image(AES, TELOSB)
    toolchain.find.cache_clear()


@given(st.integers(1_000_000, 16_000_000), st.sampled_from([9600, 57600, 115200, 230400, 460800]))
def test_baud_settings_are_near(clock_hz: int, baud: int) -> None:
    try:
        setting = baud_setting(clock_hz, baud)
    except InputError:
        assert clock_hz < 4 * baud
        return
    # The ends of the first eight bits are at most half a clock period off. The modulation then
    # starts over, so the last two may be off by as much again.
    assert setting.worst_error <= 1.5 * baud / clock_hz
    assert setting.divider == clock_hz // baud


@pytest.mark.parametrize(
    ("clock_hz", "baud", "divider", "worst"),
    # SLAU049F, table 13-2: divider and largest transmit error for BRCLK = 32768 Hz and 1048576 Hz.
    [(32768, 1200, 27, 0.04), (32768, 2400, 13, 0.06), (1048576, 9600, 109, 0.02)],
)
def test_baud_settings_are_as_good_as_the_manuals(
    clock_hz: int, baud: int, divider: int, worst: float
) -> None:
    setting = baud_setting(clock_hz, baud)
    assert setting.divider == divider
    assert setting.worst_error <= worst


def test_the_folder_of_the_firmware_has_the_families_that_chips_name() -> None:
    for name in chips.names():
        assert (FIRMWARE / "hal" / chips.load_chip(name).core).is_dir()
