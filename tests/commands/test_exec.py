"""`joulemark exec` on programs that are small enough to count by hand.

Cycle counts are from the MSP430x1xx Family User's Guide (SLAU049), tables 3-15 to 3-17.
"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command import joulemark

START = """
    .global _start, done, table, deeper, deepest
    .text
_start:
    mov #0x3900, sp     ; 2 cycles
    mov #1, r6          ; 1, from the constant generator
    mov #0x1234, r7     ; 2
    add r6, r7          ; 1
    mov r7, &0x1100     ; 4
    call #deeper        ; 5
done:
    jmp done            ; 2
deeper:
    push r7             ; 3
    pop r8              ; 2
    ret                 ; 3
"""
BEFORE_DONE = 2 + 1 + 2 + 1 + 4 + 5 + 3 + 2 + 3

VECTOR = """
    .section .vectors, "a"
    .word _start
"""

Assemble = Callable[[str], Path]


@pytest.fixture
def assemble(tmp_path: Path) -> Assemble:
    def run(source: str) -> Path:
        (tmp_path / "program.S").write_text(source)
        subprocess.run(
            ["clang-19", "--target=msp430", "-c", "program.S", "-o", "program.o"],
            cwd=tmp_path,
            check=True,
        )
        subprocess.run(
            [
                "ld.lld-19",
                "--omagic",  # otherwise the ELF header is loaded too, beyond the address space
                "-Ttext=0x4000",
                "--section-start=.vectors=0xfffe",
                "-e",
                "_start",
                "program.o",
                "-o",
                "program.elf",
            ],
            cwd=tmp_path,
            check=True,
        )
        return tmp_path / "program.elf"

    return run


def execute(image: Path, *options: str, code: int = 0) -> dict[str, Any]:
    done = joulemark("exec", str(image), "--chip", "msp430f1611", "--json", *options, code=code)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_stops_before_the_instruction_and_counts_exactly(assemble: Assemble) -> None:
    image = assemble(START + VECTOR)
    result = execute(image, "--stop-at", "done", "--read", "0x1100:2", "--read", "deeper:4")
    entered = execute(image, "--stop-at", "_start")
    assert result["stop"] == "address"
    # The cost of the reset itself is not part of the program.
    assert result["cycles"] - entered["cycles"] == BEFORE_DONE
    assert result["instructions"] - entered["instructions"] == 9
    assert result["read"][0] == {"address": 0x1100, "length": 2, "hex": "3512"}
    assert result["read"][1]["length"] == 4


def test_entry_by_symbol_and_number_without_a_reset_vector(assemble: Assemble) -> None:
    image = assemble(START)
    by_default = execute(image, "--stop-at", "done")
    assert execute(image, "--entry", "_start", "--stop-at", "done") == by_default
    assert execute(image, "--entry", "0x4000", "--stop-at", "done") == by_default
    assert by_default["cycles"] == BEFORE_DONE


def test_a_raw_image_runs_as_the_elf_does(assemble: Assemble, tmp_path: Path) -> None:
    image = assemble(START)
    raw = tmp_path / "program.bin"
    subprocess.run(["llvm-objcopy-19", "-O", "binary", "-j", ".text", image, raw], check=True)
    symbols = subprocess.run(
        ["llvm-nm-19", image], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    done = next(line.split()[0] for line in symbols if line.endswith(" done"))
    result = execute(raw, "--raw", "0x4000", "--entry", "0x4000", "--stop-at", f"0x{done}")
    assert result == execute(image, "--stop-at", "done")


def test_variables_are_set_by_symbol(assemble: Assemble) -> None:
    number = "    .type number, @object\n    .size number, 2\nnumber:\n    .word 1\n"
    image = assemble(START.replace("mov #1, r6 ", "mov &number, r6") + number + VECTOR)
    for options, added in (((), 1), (("--symbol", "number=0x100"), 0x100)):
        result = execute(image, "--stop-at", "done", "--read", "0x1100:2", *options)
        assert result["read"][0]["hex"] == (0x1234 + added).to_bytes(2, "little").hex()
    done = joulemark(
        "exec", str(image), "--chip", "msp430f1611", "--symbol", "number=65536", code=3
    )
    assert "--symbol" in done.stderr
    assert "65536 does not fit its 2 bytes" in done.stderr


def test_a_budget_is_an_end_or_an_error(assemble: Assemble) -> None:
    image = assemble(START + VECTOR)
    assert execute(image, "--max-cycles", "1000")["stop"] == "cycles"
    result = execute(image, "--max-cycles", "1000", "--stop-at", "0x5000", code=8)
    assert 1000 <= result["cycles"] < 1010


def test_a_fault_names_address_symbol_and_calls(assemble: Assemble) -> None:
    image = assemble(
        START.replace("push r7             ; 3", "call #deepest")
        + "deepest:\n mov #0, &0x4000\n ret\n"
        + VECTOR
    )
    result = execute(image, "--stop-at", "done", code=7)
    assert result["stop"] == "fault"
    assert result["fault"]["address"] == 0x4000
    assert [f["symbol"] for f in result["fault"]["call_stack"][:3]] == [
        "deepest",
        "deeper",
        "_start",
    ]
    text = joulemark("exec", str(image), "--chip", "msp430f1611", code=7)
    assert "0x4000" in text.stderr
    assert "deepest" in text.stderr
    assert "Traceback" not in text.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--stop-at", "dome"], "done"),
        (["--read", "0x1100"], "ADDRESS:LENGTH"),
        (["--read", "0x1100:18446744073709551616"], "32 bits"),
        (["--read", "0x1100:many"], "not a number"),
        (["--set", "speed"], "NAME=VALUE"),
        (["--set", "no-such-setting=1"], "no-such-setting"),
        (["--set", "dco_trim_ppm=-1"], "setting 'dco_trim_ppm': -1 is not from 0 to"),
        (["--set", "dco_trim_ppm=99999999999"], "setting 'dco_trim_ppm': 99999999999 is not"),
        (["--stop-at", "0xffffffff"], "--stop-at: address 0xffffffff is beyond the 16-bit"),
        (["--raw", "-1"], "--raw: -1 is not an address"),
        (["--raw", "0x100000000"], "--raw: 0x100000000 is not an address"),
    ],
)
def test_a_bad_option_is_one_clear_error(
    assemble: Assemble, options: list[str], message: str
) -> None:
    image = assemble(START + VECTOR)
    done = joulemark("exec", str(image), "--chip", "msp430f1611", *options, code=3)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_chip_offers_those_there_are(assemble: Assemble) -> None:
    done = joulemark("exec", str(assemble(START)), "--chip", "msp430f1612", code=3)
    assert "msp430f1611" in done.stderr


@pytest.mark.parametrize("damage", ["empty", "truncated", "noise", "absent", "foreign"])
def test_a_bad_image_is_one_clear_error(assemble: Assemble, tmp_path: Path, damage: str) -> None:
    whole = assemble(START + VECTOR).read_bytes()
    path = tmp_path / "bad.elf"
    if damage == "foreign":
        path = Path("/bin/true")
    elif damage != "absent":
        path.write_bytes(
            {"empty": b"", "truncated": whole[:70], "noise": bytes(range(256))}[damage]
        )
    done = joulemark("exec", str(path), "--chip", "msp430f1611", code=3)
    assert str(path) in done.stderr
    assert ("--raw ADDRESS loads it as raw bytes" in done.stderr) == (damage == "noise")
    assert len(done.stderr.strip().splitlines()) == 1
