"""Cortex-M3 chips: images on each board against the oracle, and bad ones refused or stopped."""

import json
import struct
import subprocess
from pathlib import Path

import pytest

from command import joulemark
from joulemark._engine import EngineError, Image, Machine
from joulemark.catalogue import chips
from programs import RAM_TOP, elf, store

BOARDS = ["sensortag-cc2650", "openmote-cc2538", "stm32vldiscovery"]
UDF, LOOP = 0xDE00, 0xE7FE
LDR_R0_R0 = 0x6800
MOVS_R0_FF_LSLS = [0x20FF, 0x0600]  # movs r0, #0xff; lsls r0, r0, #24


def machine(tmp_path: Path, code: list[int], **options: object) -> Machine:
    """Return a machine with code after a vector table whose exceptions all enter at its start."""
    table = struct.pack("<16I", RAM_TOP, *[0x40 | 1] * 15)
    path = tmp_path / "image.bin"
    path.write_bytes(table + struct.pack(f"<{len(code)}H", *code))
    return Machine(chips.load_chip("cc2650"), Image.load(path, 0), **options)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_primitives_are_right_on_every_board(tmp_path: Path, board: str, compiler: str) -> None:
    joulemark(
        *("run", "--board", board, "--compiler", compiler, "--opt", "O2", "--size", "16"),
        *("--primitive", "aes-128", "--primitive", "sha-256", "--implementation", "ref"),
        *("--trials", "2", "--store", str(tmp_path / "store.sqlite")),
    )


def test_an_undefined_instruction_is_named_with_its_fault_register(tmp_path: Path) -> None:
    stop = machine(tmp_path, [UDF]).run(max_cycles=1000)
    assert stop.fault is not None
    assert stop.fault.kind == "invalid-opcode"
    assert "undefined instruction (CFSR 0x00010000" in stop.fault.message


def test_a_fault_in_a_fault_handler_is_a_lockup(tmp_path: Path) -> None:
    stop = machine(tmp_path, [UDF], settings={"stop_on_fault": 0}).run(max_cycles=1000)
    assert stop.fault is not None
    assert stop.fault.kind == "lockup"
    assert "a fault inside the handler of a hard fault" in stop.fault.message


def test_an_access_to_nothing_is_a_bus_fault(tmp_path: Path) -> None:
    stop = machine(tmp_path, [*MOVS_R0_FF_LSLS, LDR_R0_R0, LOOP]).run(max_cycles=1000)
    assert stop.fault is not None
    assert stop.fault.kind == "unmapped"
    assert stop.fault.address == 0xFF000000


def test_an_entry_outside_memory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="entry 0x30000000 is no memory of chip cc2650"):
        machine(tmp_path, [LOOP], entry=0x30000000)


def test_an_image_larger_than_flash_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="0x00020000 is no memory of chip cc2650"):
        machine(tmp_path, [LOOP] * 0x10000)


@pytest.mark.parametrize("chip", ["cc2650", "cc2538", "stm32f100rb"])
def test_exec_loads_the_stack_pointer_from_the_first_word(tmp_path: Path, chip: str) -> None:
    base = chips.load_chip(chip).vectors["RESET"] - 4
    path = tmp_path / "image.bin"
    # movs r0, #42; push {r0}; b .
    path.write_bytes(struct.pack("<2I3H", RAM_TOP, 0, 0x202A, 0xB401, LOOP))
    done = joulemark(
        *("exec", "--chip", chip, "--raw", hex(base), "--entry", hex(base + 8)),
        *("--stop-at", hex(base + 12), "--read", f"{RAM_TOP - 4:#x}:4", "--json", str(path)),
    )
    result = json.loads(done.stdout)
    assert result["registers"]["sp"] == RAM_TOP - 4
    assert result["read"][0]["hex"] == "2a000000"


CHIPS = ["cc2650", "cc2538", "stm32f100rb"]
VTOR, CCR = 0xE000ED08, 0xE000ED14


def jump(address: int) -> str:
    return f"ldr r0, ={address:#x}\n bx r0\n"


BAD_PROGRAMS = {
    "undefined": ("udf #0", "b .", ["undefined instruction", "UNDEFINSTR", "FORCED"]),
    "unmapped": (
        "ldr r0, =0xa0000000\n ldr r1, [r0]",
        "b .",
        ["PRECISERR+BFARVALID", "BFAR 0xa0000000"],
    ),
    "unaligned": (store(CCR, 1 << 3) + "ldr r1, [r0, #1]", "b .", ["unaligned", "UNALIGNED"]),
    "division": (
        store(CCR, 1 << 4) + "movs r2, #0\n udiv r1, r1, r2",
        "b .",
        ["division by zero", "DIVBYZERO"],
    ),
    "not thumb": (jump(0x20000100), "b .", ["even address", "INVSTATE"]),
    "in a device": (jump(0x40000001), "b .", ["execution is not allowed", "IACCVIOL"]),
    "nowhere": (jump(0x1F000001), "b .", ["instruction fetch", "IBUSERR"]),
    "no return": ("svc #0", "ldr r0, =0xfffffff3\n bx r0", ["bad exception return", "INVPC"]),
    "vectors nowhere": (
        store(VTOR, 0x10000000) + "svc #0",
        "b .",
        ["the vector of exception 3 cannot be read (VTOR 0x10000000)", "VECTTBL"],
    ),
    "vectors misaligned": (store(VTOR, 0x20000080) + "svc #0", "b .", ["VTOR is 0x20000080"]),
    "in the handler": (
        "ldr r0, =0xa0000000\n str r1, [r0]",
        "udf #1",
        ["inside the handler of a hard fault", "PRECISERR+BFARVALID+UNDEFINSTR", "hard+0x0"],
    ),
    "at once": ("udf #0", "udf #1", ["UNDEFINSTR", "called from inner+0x0"]),
    "masked": ("cpsid f\n udf #2", "b .", ["while FAULTMASK is set", "UNDEFINSTR"]),
    "stack": ("ldr r0, =0xa0000100\n mov sp, r0\n push {r0}", "b .", ["BFAR 0xa00000fc"]),
    "mpu": (store(0xE000ED94, 1), "b .", ["memory protection unit"]),
}
LOCKS_UP = {"vectors nowhere", "in the handler", "at once", "masked"}


@pytest.mark.parametrize(
    "chip", [CHIPS[0], *(pytest.param(chip, marks=pytest.mark.slow) for chip in CHIPS[1:])]
)
@pytest.mark.parametrize("name", BAD_PROGRAMS)
def test_a_bad_program_is_one_clear_error_with_registers_and_calls(
    tmp_path: Path, chip: str, name: str
) -> None:
    inner, hard, says = BAD_PROGRAMS[name]
    if name == "mpu" and chip == "cc2538":  # which has one: without a region, nothing is allowed
        says = ["where execution is not allowed"]
    image = elf(tmp_path, chip, inner, hard)
    # Lockups come only after the program's own handler has run.
    stop = str(int(name not in LOCKS_UP))
    done = joulemark(
        *("exec", "--chip", chip, str(image), "--set", f"stop_on_fault={stop}", "--json"),
        *("--max-cycles", "10000"),
        code=7,
    )
    fault = json.loads(done.stdout)["fault"]
    assert (fault["kind"] == "lockup") == (name in LOCKS_UP)
    for part in [*says, "in ", "called from outer" if name != "no return" else "hard"]:
        assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_a_program_that_stays_in_its_fault_handler_has_faulted(tmp_path: Path) -> None:
    image = elf(tmp_path, "cc2650", "udf #0", "b .")
    options = ("--set", "stop_on_fault=0", "--max-cycles", "10000")
    done = joulemark("exec", "--chip", "cc2650", str(image), *options, code=7)
    for part in ("in the handler of a hard fault: undefined", "UNDEFINSTR", "from inner+0x0"):
        assert part in done.stderr


@pytest.mark.parametrize("chip", CHIPS)
def test_an_image_that_does_not_fit_is_refused(tmp_path: Path, chip: str) -> None:
    memories = chips.load_chip(chip).memories
    flash = next(m for m in memories if m.name == "flash")
    sizes = {m.start: m.size for m in memories}
    end = flash.start
    while end in sizes:
        end += sizes[end]
    image = tmp_path / "image.bin"
    image.write_bytes(struct.pack("<2I", RAM_TOP, flash.start + 9) + bytes(end - flash.start - 4))
    done = joulemark(*("exec", "--chip", chip, "--raw", hex(flash.start), str(image)), code=3)
    assert f"{end:#010x} is no memory of chip {chip}" in done.stderr
    image.write_bytes(struct.pack("<2IH", RAM_TOP, 0, LOOP))
    done = joulemark(
        *("exec", "--chip", chip, "--raw", hex(flash.start), "--entry", "0x30000000", str(image)),
        code=3,
    )
    assert "entry 0x30000000 is no memory" in done.stderr
    # Without an entry, its vector table has to be valid.
    done = joulemark("exec", "--chip", chip, "--raw", hex(flash.start), str(image), code=3)
    assert "no stack pointer and reset handler" in done.stderr


def cycles_of(chip: str, image: Path, *settings: str) -> int:
    options = [option for setting in settings for option in ("--set", setting)]
    done = joulemark("exec", "--chip", chip, str(image), *options, "--stop-at", "hard", "--json")
    cycles: int = json.loads(done.stdout)["cycles"]
    return cycles


@pytest.mark.parametrize("mode", [1, 3])
def test_gpram_is_memory_in_its_mode_only(tmp_path: Path, mode: int) -> None:
    image = elf(tmp_path, "cc2650", store(0x11000000, 1) + "b hard")
    joulemark("exec", "--chip", "cc2650", str(image), "--stop-at", "hard")
    options = ("--set", f"cache_mode={mode}", "--stop-at", "hard")
    done = joulemark("exec", "--chip", "cc2650", str(image), *options, code=7)
    assert "GPRAM is no memory" in done.stderr
    image = elf(tmp_path, "cc2650", store(0x40034004, 2) + "b hard")
    done = joulemark("exec", "--chip", "cc2650", str(image), "--stop-at", "hard", code=7)
    assert "reserved" in done.stderr


# Loads and stores in a loop that does not fit a flash line; the way out is through a fault.
LOOP_PROGRAM = (
    "ldr r0, =0x20000100\n movs r2, #200\n1: ldr r1, [r0]\n adds r1, r1, r2\n str r1, [r0]\n"
    " str r1, [r0, #4]\n add.w r3, r1, r2\n add.w r4, r3, r2\n subs r2, #1\n bne 1b\n b hard"
)


def test_settings_change_time_the_right_way(tmp_path: Path) -> None:
    image = elf(tmp_path, "cc2650", LOOP_PROGRAM)
    as_reset = cycles_of("cc2650", image)
    assert as_reset == cycles_of("cc2650", image, "cache_mode=0", "line_buffer=1")
    assert cycles_of("cc2650", image, "line_buffer=0") > as_reset
    assert cycles_of("cc2650", image, "cache_mode=1") < as_reset
    assert cycles_of("cc2650", image, "write_buffer=0") >= as_reset
    # In mode 3, off, the cache's RAM is neither cache nor memory: code in flash runs as with GPRAM.
    assert cycles_of("cc2650", image, "cache_mode=3") == as_reset
    assert cycles_of("cc2650", image, "trng_seed=7") == as_reset


@pytest.mark.parametrize("chip", CHIPS)
def test_a_wrong_setting_is_answered_with_those_there_are(tmp_path: Path, chip: str) -> None:
    image = elf(tmp_path, chip, "nop")
    done = joulemark("exec", "--chip", chip, str(image), "--set", "cash=1", code=3)
    for name in chips.load_chip(chip).settings:
        assert name in done.stderr
    done = joulemark("exec", "--chip", chip, str(image), "--set", "stop_on_fault=2", code=3)
    assert "stop_on_fault" in done.stderr
    assert "0 to 1" in done.stderr


@pytest.mark.parametrize("chip", CHIPS)
def test_observation_takes_no_emulated_time(tmp_path: Path, chip: str) -> None:
    image = Image.load(elf(tmp_path, chip, LOOP_PROGRAM))

    def run(**options: bool) -> tuple[Machine, tuple[int, ...]]:
        machine = Machine(chips.load_chip(chip), image, **options)  # type: ignore[arg-type]
        assert machine.run(until=image.resolve("hard")).reason == "address"
        return machine, (machine.cycles, machine.instructions, *machine.registers.values())

    _, alone = run()
    profiled, seen = run(profile=True, trace=True, secrets_trace=True)
    assert seen == alone
    costs = {cost.name: cost for cost in profiled.profile.functions}
    assert sum(cost.self_cycles for cost in costs.values()) == profiled.cycles
    assert sum(cost.self_instructions for cost in costs.values()) == profiled.instructions
    assert [costs[name].calls for name in ("reset", "outer", "inner")] == [1, 1, 1]
    assert costs["outer"].stack_bytes == 8


# What interrupts and so wakes each chip after some time: registers to set, and cycles until then.
WAKERS = {
    # GPT0, 32 bits, counting down once from 10000; line 15.
    "cc2650": (
        [(0x4001000C, 0), (0x40010004, 1), (0x40010028, 10_000), (0x40010018, 1)],
        (0x4001000C, 1),
        (15, 10_000, "idle"),
    ),
    # The sleep timer, 20 ticks of 32,768 Hz ahead, at 16 MHz, in power mode 2; line 145.
    "cc2538": (
        [(0x400D2058, 2), (0xE000ED10, 4), *((0x400D5040 + 4 * i, 0) for i in (3, 2, 1))],
        (0x400D5040, 20),
        (145, 20 * 16_000_000 // 32_768, "pm2"),
    ),
    # TIM2 overflows after 100 steps of 100 cycles; line 28.
    "stm32f100rb": (
        [(0x40000028, 99), (0x4000002C, 99), (0x40000014, 1), (0x40000010, 0), (0x4000000C, 1)],
        (0x40000000, 1),
        (28, 10_000, "sleep"),
    ),
}


@pytest.mark.parametrize("chip", CHIPS)
def test_a_timer_wakes_a_sleeping_core(tmp_path: Path, chip: str) -> None:
    settings, start, (line, cycles, state) = WAKERS[chip]
    enable = (0xE000E100 + line // 32 * 4, 1 << line % 32)
    code = "".join(store(*setting) for setting in [enable, *settings, start])
    vectors = elf(tmp_path, chip, code + "wfi\n b hard", "b .")
    image = Image.load(vectors)
    machine = Machine(chips.load_chip(chip), image, trace=True, settings={"stop_on_fault": 0})
    if line > 63:  # beyond these programs' table
        base = chips.load_chip(chip).vectors["RESET"] - 4
        machine.write_memory(base + 4 * (16 + line), struct.pack("<I", image.resolve("hard") | 1))
    assert machine.run(until=image.resolve("hard"), max_cycles=100_000).reason == "address"
    assert machine.registers["xpsr"] & 0x1FF == 16 + line
    # The sleep timer was already counting while the program set it up.
    assert abs(machine.sleep_cycles - cycles) < 100
    states = [interval.state for interval in machine.power_tracks["mcu"]]
    assert states == ["active", state, "active"]


def sleep_timer(ticks: int) -> list[tuple[int, int]]:
    """Return registers that make the CC2538's sleep timer interrupt this many ticks after 0."""
    return [
        (0xE000E110, 1 << 17),
        *((0x400D5040 + 4 * byte, ticks >> 8 * byte & 0xFF) for byte in (3, 2, 1, 0)),
    ]


@pytest.mark.parametrize("skew", range(4))
def test_an_interrupt_in_the_middle_of_a_register_read_is_seen(tmp_path: Path, skew: int) -> None:
    # Its line is high for one cycle, while the program does nothing but read a register.
    code = "".join(store(*setting) for setting in sleep_timer(40)) + "nop\n" * skew
    image = Image.load(elf(tmp_path, "cc2538", f"{code} 1: ldr r1, [r0]\n b 1b", "b ."))
    machine = Machine(chips.load_chip("cc2538"), image, settings={"stop_on_fault": 0})
    base = chips.load_chip("cc2538").vectors["RESET"] - 4
    machine.write_memory(base + 4 * (16 + 145), struct.pack("<I", image.resolve("hard") | 1))
    stop = machine.run(until=image.resolve("hard"), max_cycles=40_000)
    assert stop.reason == "address"


def test_systick_stands_still_in_a_power_mode(tmp_path: Path) -> None:
    # SysTick would interrupt after 1,000 cycles; the sleep timer does after some 20,000.
    systick = [(0xE000E014, 999), (0xE000E018, 0), (0xE000E010, 7)]
    settings = [(0x400D2058, 1), (0xE000ED10, 4), *sleep_timer(40), *systick]
    code = "".join(store(*setting) for setting in settings)
    # The interrupt's vector is where these programs have code, so keep that place empty.
    code = "b 9f\n .space 256\n 9: " + code
    image = Image.load(elf(tmp_path, "cc2538", code + "wfi\n b .", "b ."))
    machine = Machine(chips.load_chip("cc2538"), image, trace=True, settings={"stop_on_fault": 0})
    base = chips.load_chip("cc2538").vectors["RESET"] - 4
    for number in (15, 16 + 145):
        machine.write_memory(base + 4 * number, struct.pack("<I", image.resolve("hard") | 1))
    assert machine.run(until=image.resolve("hard"), max_cycles=40_000).reason == "address"
    assert machine.registers["xpsr"] & 0x1FF == 16 + 145
    assert [interval.state for interval in machine.power_tracks["mcu"]] == [
        "active",
        "pm1",
        "active",
    ]


BITES = {
    "cc2650": [(0x40080000, 1000), (0x40080008, 3)],
    "cc2538": [(0x400D5000, 0xB)],
    "stm32f100rb": [(0x40003000, 0x5555), (0x40003008, 9), (0x40003000, 0xCCCC)],
}


@pytest.mark.parametrize("chip", CHIPS)
def test_a_watchdog_that_is_never_fed_ends_the_run(tmp_path: Path, chip: str) -> None:
    image = elf(tmp_path, chip, "".join(store(*setting) for setting in BITES[chip]) + "b .")
    done = joulemark("exec", "--chip", chip, str(image), "--max-cycles", "2000000", code=7)
    assert "watchdog" in done.stderr
    assert "resets the chip" in done.stderr
    assert "16 times before" in done.stderr
    assert "resets        16" in done.stdout


@pytest.mark.parametrize("chip", CHIPS)
def test_what_is_left_out_is_named_when_touched(tmp_path: Path, chip: str) -> None:
    description = chips.load_chip(chip)
    for address, part in {
        "cc2650": [(0x40021000, "I2S"), (0x400C4000, "analogue domain")],
        "cc2538": [(0x40020800, "I2C"), (0x44004000, "PKA")],
        "stm32f100rb": [(0x40005400, "I2C1"), (0x40012400, "ADC1")],
    }[chip]:
        image = elf(tmp_path, chip, f"ldr r0, ={address:#x}\n ldr r1, [r0]")
        stop = Machine(description, Image.load(image)).run(max_cycles=1000)
        assert stop.fault is not None
        assert stop.fault.kind == "absent"
        assert part in stop.fault.message
        assert any(part in name for name in description.absent)


def test_a_routine_that_is_a_constant_has_its_name_in_a_profile(tmp_path: Path) -> None:
    """Zephyr's busy wait is an array of instructions among the constants."""
    (tmp_path / "program.S").write_text(
        """
    .syntax unified
    .thumb
    .section .vectors, "a"
    .word 0x20001000, reset
    .section .rodata, "a"
    .type delay_code, %object
delay_code:
    .short 0x3801, 0xd1fd, 0x4770
    .size delay_code, 6
    .text
    .global reset
    .type reset, %function
    .thumb_func
reset:
    movs r0, #100
    ldr r1, =delay_code + 1
    blx r1
    .global done
done:
    b done
    .size reset, . - reset
"""
    )
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-nostdlib", "-Wl,-e,reset"),
            "-Wl,--section-start=.vectors=0x08000000,-Ttext=0x08000100,"
            "--section-start=.rodata=0x08000200",
            *("program.S", "-o", "program.elf"),
        ],
        cwd=tmp_path,
        check=True,
    )
    image = Image.load(tmp_path / "program.elf")
    machine = Machine(chips.load_chip("stm32f100rb"), image, profile=True)
    machine.run(max_cycles=10_000, until=image.symbols["done"])
    costs = {cost.name: cost for cost in machine.profile.functions}
    assert costs["delay_code"].self_instructions == 201
    assert costs["delay_code"].calls == 1
    assert "(no symbol)" not in costs
