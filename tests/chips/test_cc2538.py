"""CC2538: how boot code finds a program, and what start-up code touches first."""

import subprocess
from pathlib import Path

import pytest

from joulemark._engine import Image, ImageError, Machine, Network
from joulemark.catalogue import chips

TABLE = 0x00202000
CCA = 0x0027FFD4
TOP = 0x20008000

PROGRAM = """
    .syntax unified
    .thumb
    .section .cca, "a"
    .word 0xf6ffffff, {valid}, {table}
    .section .vectors, "a"
    .word {top}, reset
    .text
    .global reset
    .type reset, %function
    .thumb_func
reset:
{code}
    .global done
done:
    b done
    .ltorg
"""


def machine(folder: Path, code: str, valid: int = 0) -> tuple[Machine, Image]:
    source = PROGRAM.format(table=TABLE, top=TOP, code=code, valid=valid)
    (folder / "program.S").write_text(source)
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-nostdlib", f"-Wl,-e,{CCA:#x}"),
            f"-Wl,-Ttext={TABLE + 8:#x},--section-start=.vectors={TABLE:#x},"
            f"--section-start=.cca={CCA:#x}",
            *("program.S", "-o", "program.elf"),
        ],
        cwd=folder,
        check=True,
    )
    image = Image.load(folder / "program.elf")
    return Machine(chips.load_chip("cc2538"), image), image


def run(folder: Path, code: str) -> Machine:
    """Run to `done`, checking that nothing faults before it."""
    made, image = machine(folder, code)
    stop = made.run(max_cycles=100_000, until=image.symbols["done"])
    assert stop.reason == "address", stop.fault and stop.fault.message
    return made


def write_and_read(registers: dict[int, int]) -> str:
    lines = [f"ldr r7, ={TOP - 0x1000:#x}"]
    for address, value in registers.items():
        lines += [f"ldr r0, ={address:#x}", f"ldr r1, ={value:#x}", "str r1, [r0]"]
        lines += ["ldr r2, [r0]", "stm r7!, {r2}"]
    return "\n".join(lines)


def test_boot_code_starts_what_the_cca_page_points_at(tmp_path: Path) -> None:
    made = run(tmp_path, "movs r6, #42")
    assert made.registers["r6"] == 42
    assert made.registers["sp"] == TOP


def test_an_image_that_is_not_said_to_be_valid_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="only if the word at 0x0027ffd8 is 0; it is 0xffffffff"):
        machine(tmp_path, "nop", valid=0xFFFFFFFF)


def test_start_up_registers_hold_what_is_there_of_what_is_written(tmp_path: Path) -> None:
    expected = {
        0x400D20B4: (0xFF, 0xFF),  # EMUOVR
        0x400D20A8: (0x03, 0x01),  # RCGCRFC
        0x400D2048: (0x07, 0x03),  # RCGCSEC
        0x400D2018: (0xFF, 0x03),  # RCGCSSI
        0x400D2038: (0xFF, 0x01),  # RCGCI2C
        0x400D2094: (0xFF, 0x3F),  # IWE
        0x400D2098: (0xFE, 0x00),  # I_MAP
        0x400FF008: (0x200003FF, 0x20000000),  # UDMA_CTLBASE
        0x400FF020: (0x00000006, 0x00000006),  # UDMA_REQMASKSET
        0x400FF510: (0x12345678, 0x12345678),  # UDMA_CHMAP0
    }
    written = {address: value for address, (value, _) in expected.items()}
    code = write_and_read(written)
    code += "\nldr r0, =0x400ff024\nmovs r1, #2\nstr r1, [r0]\nldr r3, =0x400ff020\nldr r6, [r3]"
    made = run(tmp_path, code)
    memory = made.read_memory(TOP - 0x1000, 4 * len(written))
    for index, address in enumerate(written):
        value = int.from_bytes(memory[4 * index : 4 * index + 4], "little")
        assert value == expected[address][1], hex(address)
    assert made.registers["r6"] == 0x4


@pytest.mark.parametrize(("alternate", "line"), [(0, 145), (1, 32)])
def test_the_alternate_map_gives_interrupts_other_lines(
    alternate: int, line: int, tmp_path: Path
) -> None:
    """The sleep timer's lines (RIOT, cc2538.h: SM_TIMER_IRQn and SM_TIMER_ALT_IRQn)."""
    pending = 0xE000E200 + line // 32 * 4
    code = f"ldr r0, =0x400d2098\nmovs r1, #{alternate}\nstr r1, [r0]\nldr r0, =0x400d5040\n"
    code += "movs r1, #0\nstr r1, [r0, #12]\nstr r1, [r0, #8]\nstr r1, [r0, #4]\nmovs r1, #99\n"
    code += f"str r1, [r0]\nldr r0, =12000\nagain: subs r0, #1\nbne again\nldr r0, ={pending}\n"
    made = run(tmp_path, code + "ldr r5, [r0]")
    assert made.registers["r5"] == 1 << line % 32


def test_the_information_page_holds_the_devices_address(tmp_path: Path) -> None:
    """As drivers read it: eight bytes, each word from its end."""
    code = "ldr r0, =0x00280028\nldr r5, [r0]\nldr r6, [r0, #4]"
    _, image = machine(tmp_path, code)
    made = Machine(chips.load_chip("cc2538"), image, settings={"device_number": 0x01020304})
    made.run(max_cycles=1000, until=image.symbols["done"])
    words = (made.registers["r5"], made.registers["r6"])
    assert b"".join(word.to_bytes(4) for word in words).hex() == "00124b0001020304"


def test_each_mote_of_a_network_has_an_address_of_its_own(tmp_path: Path) -> None:
    code = "ldr r0, =0x0028002c\nldr r5, [r0]\nldr r6, =0x20000100\nstr r5, [r6]"
    _, image = machine(tmp_path, code)
    network, chip = Network(), chips.load_chip("cc2538")
    motes = [network.add(chip, image) for _ in range(2)]
    motes.append(network.add(chip, image, settings={"device_number": 77}))
    network.run(1_000_000_000)
    read = [network.read_memory(mote, 0x20000100, 4) for mote in motes]
    assert [int.from_bytes(word, "little") for word in read] == [1, 2, 77]


def test_the_chip_says_what_memories_and_engines_it_has(tmp_path: Path) -> None:
    """As TI's flash.c and Contiki's soc.c read it."""
    made = run(tmp_path, "ldr r0, =0x400d3014\nldr r5, [r0]\nldr r6, [r0, #8]")
    identity, revision = made.registers["r5"], made.registers["r6"]
    assert identity >> 16 == 0xB964
    chip = chips.load_chip("cc2538")
    sizes = {memory.kind: memory.size for memory in chip.memories}
    assert {4: 512, 3: 384, 2: 256, 1: 128, 0: 64}[identity >> 4 & 7] << 10 == sizes["flash"]
    assert {4: 32, 1: 8, 0: 16}[identity >> 7 & 7] << 10 == sizes["ram"]
    assert revision & 3 == 3, "AES and public keys"


@pytest.mark.parametrize(
    ("address", "value", "named"),
    [
        (0x400D7008, 0x3E, "analogue-to-digital conversions"),
        (0x400D7024, 2, "analogue comparator"),
        (0x40088838, 0xB8, "command strobe processor"),
        (0x400D2074, 8, "warm reset"),
    ],
)
def test_what_is_left_out_is_named_when_it_is_used(
    tmp_path: Path, address: int, value: int, named: str
) -> None:
    made, _ = machine(tmp_path, write_and_read({address: value}))
    stop = made.run(max_cycles=1000)
    assert stop.fault is not None
    assert stop.fault.kind == "absent"
    assert named in stop.fault.message


def test_the_32_khz_clock_is_seen_in_the_clock_status(tmp_path: Path) -> None:
    """Start-up code waits until SYNC_32K has been low and then high."""
    wait = """
    ldr r0, =0x400d2004
1:  ldr r1, [r0]
    tst r1, #0x04000000
    bne 1b
2:  ldr r1, [r0]
    tst r1, #0x04000000
    beq 2b
3:  ldr r1, [r0]
    tst r1, #0x04000000
    bne 3b
    """
    made = run(tmp_path, wait)
    period_ps = 10**12 / 32768
    assert 0.5 * period_ps <= made.time_ps <= 2.5 * period_ps


ROM_CALLS = {
    "memset": (0x60, (0x20000010, 0xA5, 5)),
    "memcpy": (0x64, (0x20000010, 0x20000100, 5)),
    "memmove up": (0x6C, (0x20000102, 0x20000100, 5)),
    "memmove down": (0x6C, (0x200000FE, 0x20000100, 5)),
    "memcmp equal": (0x68, (0x20000100, 0x20000100, 5)),
    "memcmp less": (0x68, (0x20000100, 0x20000101, 5)),
    "memcmp more": (0x68, (0x20000101, 0x20000100, 5)),
    "nothing": (0x64, (0x20000010, 0x20000100, 0)),
}


@pytest.mark.parametrize("name", ROM_CALLS)
def test_functions_of_the_rom(tmp_path: Path, name: str) -> None:
    entry, (first, second, count) = ROM_CALLS[name]
    code = f"ldr r0, ={first:#x}\nldr r1, ={second:#x}\nmovs r2, #{count}\n"
    code += f"movs r4, #{entry}\nldr r4, [r4]\nblx r4\nmov r6, r0"
    made, image = machine(tmp_path, code)
    before = bytearray(range(1, 0xF1)) + bytearray(range(1, 0xF1))
    made.write_memory(0x20000000, bytes(before))
    stop = made.run(max_cycles=10_000, until=image.symbols["done"])
    assert stop.reason == "address", stop.fault and stop.fault.message
    result = made.registers["r6"]
    after = bytearray(before)
    to, of = first - 0x20000000, second - 0x20000000
    if name.startswith("memcmp"):
        a, b = before[to : to + count], before[of : of + count]
        sign = (a > b) - (a < b)
        signed = result - (1 << 32) if result >> 31 else result
        assert (signed > 0) - (signed < 0) == sign
    else:
        data = bytes([second]) * count if name == "memset" else before[of : of + count]
        after[to : to + count] = data
        assert result == first
    assert made.read_memory(0x20000000, len(after)) == bytes(after)


def test_handlers_and_constants_in_flash_wait_while_flash_is_changed(tmp_path: Path) -> None:
    """OpenThread's driver leaves SysTick on while a page is erased, and writes a constant."""
    ticks, vectors, page = 0x20000440, 0x20000400, 0x0027E800
    made, image = machine(
        tmp_path,
        f"""
    ldr r0, ={vectors:#x}
    ldr r1, =tick
    str r1, [r0, #60]
    ldr r2, =0xe000ed08
    str r0, [r2]
    ldr r2, =0xe000e010
    ldr r1, =15999
    str r1, [r2, #4]
    str r1, [r2, #8]
    movs r1, #7
    str r1, [r2]
    ldr r0, ={page:#x}
    ldr r1, =0x800
    movs r4, #0x54
    ldr r4, [r4]
    blx r4
    ldr r0, =constant
    ldr r1, ={page:#x}
    movs r2, #4
    movs r4, #0x58
    ldr r4, [r4]
    blx r4
    b done
    .thumb_func
tick:
    ldr r0, ={ticks:#x}
    ldr r1, [r0]
    adds r1, #1
    str r1, [r0]
    bx lr
    .align 2
constant:
    .word 0xbe5cc5ee
    """,
    )
    made.write_memory(ticks, bytes(4))
    stop = made.run(max_cycles=2_000_000, until=image.symbols["done"])
    assert stop.reason == "address", stop.fault and stop.fault.message
    assert made.read_memory(page, 8) == bytes.fromhex("eec55cbe ffffffff")
    # A page takes 20 ms at least (SWRS096), and a handler that waits misses the ticks meanwhile.
    assert made.time_ps >= 20 * 10**9
    assert 1 <= int.from_bytes(made.read_memory(ticks, 4), "little") <= 5


def test_secrets_that_dma_moves_to_the_radio_are_named(tmp_path: Path) -> None:
    """From RAM to RFDATA by uDMA (SWRU319C, chapter 10): channel 0, at a software request."""
    writes = {
        0x400D20A8: 1,  # RCGCRFC
        0x20000400: 0x20000103,  # The last byte of the source.
        0x20000404: 0x40088828,  # RFDATA
        0x20000408: 0xC000C032,  # Four bytes at once, to one place.
        0x400FF004: 1,  # UDMA_CFG
        0x400FF008: 0x20000400,  # UDMA_CTLBASE
        0x400FF028: 1,  # UDMA_ENASET
        0x400FF014: 1,  # UDMA_SWREQ
    }
    code = "".join(
        f"ldr r0, ={at}\nldr r1, ={value}\nstr r1, [r0]\n" for at, value in writes.items()
    )
    made, image = machine(tmp_path, code + "movs r0, #99\nagain: subs r0, #1\nbne again")
    made.follow_secrets([("key", 0x20000100, 4)])
    made.run(max_cycles=5000, until=image.symbols["done"])
    assert made.secrets.devices == [(0x40088828, [("key", 0, 3)])]
