"""What a network's file says of its motes, as their programs see it."""

import subprocess
from pathlib import Path

import pytest

from command import joulemark
from joulemark.catalogue.networks import read_network
from joulemark.errors import InputError
from joulemark.runners.network import RunningNetwork
from programs import MSP430_ECHO, MSP430_SCRIPT, elf, store

# A master on the DS2411's wire, at P2.4: reset, READ ROM, eight bytes to 0x1200.
READ_SERIAL_NUMBER = """
    .text
    .globl start
start:
    mov #0x3900, r1
    mov #0x5a80, &0x0120
    mov.b #0x87, &0x57
    bic.b #16, &0x29
    bis.b #16, &0x2a
    call #long
    bic.b #16, &0x2a
    call #long
    mov #0x33, r12
    mov #8, r13
write:
    bis.b #16, &0x2a
    rra r12
    jnc zero
    bic.b #16, &0x2a
zero:
    call #slot
    bic.b #16, &0x2a
    call #slot
    dec r13
    jnz write
    mov #0x1200, r11
byte:
    mov #8, r13
read:
    bis.b #16, &0x2a
    bic.b #16, &0x2a
    bit.b #16, &0x28
    rrc.b r12
    call #slot
    dec r13
    jnz read
    mov.b r12, 0(r11)
    inc r11
    cmp #0x1208, r11
    jne byte
done:
    jmp done
long:
    mov #700, r15
    jmp wait
slot:
    mov #80, r15
wait:
    dec r15
    jnz wait
    ret
    .section .vectors,"a"
    .space 24
    .word start
"""


def assembled(folder: Path, program: str) -> str:
    (folder / "program.S").write_text(program)
    (folder / "link.ld").write_text(MSP430_SCRIPT)
    for command in (
        ["clang-19", "--target=msp430", "-c", "program.S", "-o", "program.o"],
        ["ld.lld-19", "-T", "link.ld", "program.o", "-o", "program.elf"],
    ):
        subprocess.run(command, cwd=folder, check=True)
    return "program.elf"


def network_of(folder: Path, board: str, image: str, *keys: str) -> Path:
    path = folder / "network.toml"
    mote = f'[[mote]]\nname = "one"\nboard = "{board}"\nimage = "{image}"\n'
    path.write_text(f'title = "test"\n{mote}' + "".join(f"{key}\n" for key in keys))
    return path


def running(path: Path, until_s: float) -> RunningNetwork:
    made = RunningNetwork(read_network(path))
    for piece in made.run(until_s):
        assert not piece.faults
    return made


def test_what_is_typed_comes_at_its_time(tmp_path: Path) -> None:
    """The program answers each letter in the other case, and a star with the end of a line."""
    image = assembled(tmp_path, MSP430_ECHO)
    typed = (
        'input = [{ at_s = 0.0503, text = "abc*" }, { at_s = 0.31, text = "x", port = "USART1" }]'
    )
    made = RunningNetwork(read_network(network_of(tmp_path, "telosb", image, typed)))
    lines = [line for piece in made.run(0.4) for line in piece.lines]
    assert [line.data for line in lines] == [b"ABC\n", b"X"]
    # A character takes 10 bits of 10 ticks at 750 kHz; the last one goes both ways.
    for line, begin_ps, characters in zip(
        lines, (50_300_000_000, 310_000_000_000), (5, 2), strict=True
    ):
        assert line.time_ps - begin_ps == pytest.approx(characters * 133_333_333, rel=0.1)


@pytest.mark.parametrize("number", [5, 0x0123_4567_89AB])
def test_a_telosb_has_the_number_of_its_file(number: int, tmp_path: Path) -> None:
    image = assembled(tmp_path, READ_SERIAL_NUMBER)
    path = network_of(tmp_path, "telosb", image, f"device_number = {number}", "restart_s = [0.1]")
    read = running(path, 0.2).engine.read_memory(0, 0x1200, 7)
    assert read == b"\x01" + number.to_bytes(6, "little")


def test_chips_have_the_numbers_of_their_file_and_of_their_place_in_it(tmp_path: Path) -> None:
    code = "ldr r0, =0x0028002c\nldr r5, [r0]\nldr r6, =0x20000100\nstr r5, [r6]\n b ."
    image = elf(tmp_path, "cc2538", code)
    keys = ("device_number = 77", "count = 2")
    made = running(network_of(tmp_path, "openmote-cc2538", image.name, *keys), 0.01)
    read = [made.engine.read_memory(mote, 0x20000100, 4) for mote in range(2)]
    assert [int.from_bytes(word, "little") for word in read] == [77, 78]


def test_the_variables_of_one_image_differ_from_mote_to_mote(tmp_path: Path) -> None:
    code = "ldr r0, =number\nldrh r5, [r0]\nldr r6, =0x20000100\nstr r5, [r6]\n b .\n"
    code += ".type number, %object\n.size number, 2\n.align 2\nnumber: .hword 1\n"
    image = elf(tmp_path, "cc2538", code)
    keys = ("symbols = { number = 7 }", "count = 3", 'numbered = "number"')
    made = running(network_of(tmp_path, "openmote-cc2538", image.name, *keys), 0.01)
    read = [made.engine.read_memory(mote, 0x20000100, 4) for mote in range(3)]
    assert [int.from_bytes(word, "little") for word in read] == [7, 8, 9]
    unknown = network_of(tmp_path, "openmote-cc2538", image.name, "symbols = { numbr = 7 }")
    with pytest.raises(InputError, match="did you mean number"):
        RunningNetwork(read_network(unknown))


@pytest.mark.parametrize(
    ("board", "chip", "number", "what"),
    [
        ("openmote-cc2538", "cc2538", 1 << 32, "4294967296 does not fit the 32 bits"),
        ("stm32vldiscovery", "stm32f100rb", 5, "neither this chip nor its board has a number"),
    ],
)
def test_a_number_that_has_no_place_is_refused(
    board: str, chip: str, number: int, what: str, tmp_path: Path
) -> None:
    image = elf(tmp_path, chip, "b .")
    path = network_of(tmp_path, board, image.name, f"device_number = {number}")
    with pytest.raises(InputError, match=what) as raised:
        RunningNetwork(read_network(path))
    assert str(raised.value.where) == f"{path}, mote one"


def test_a_watchdog_restarts_its_mote_which_goes_on(tmp_path: Path) -> None:
    """Starts are counted in RAM, which a reset leaves unchanged."""
    code = "ldr r2, =0x20000100\n ldr r3, [r2]\n adds r3, #1\n str r3, [r2]\n"
    # 64 periods of the watch crystal, 1.95 ms.
    image = elf(tmp_path, "cc2538", code + store(0x400D5000, 0xB) + "b .")
    path = network_of(tmp_path, "openmote-cc2538", image.name)
    made = running(path, 0.01)
    assert made.resets(0) == 5
    assert made.engine.read_memory(0, 0x20000100, 4) == (6).to_bytes(4, "little")
    done = joulemark("network", str(path), "--for", "10ms")
    assert "one was reset 5 times, by its watchdog or its program" in done.stdout
