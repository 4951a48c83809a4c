"""Cortex-M3 chips: images on each board against the oracle, and what happens to bad ones."""

import json
import struct
from pathlib import Path

import pytest

from command import joulemark
from joulemark import boards
from joulemark._engine import EngineError, Image, Machine

BOARDS = ["sensortag-cc2650", "openmote-cc2538", "stm32vldiscovery"]
RAM_TOP = 0x20001000
UDF, LOOP = 0xDE00, 0xE7FE
LDR_R0_R0 = 0x6800
MOVS_R0_FF_LSLS = [0x20FF, 0x0600]  # movs r0, #0xff; lsls r0, r0, #24


def machine(tmp_path: Path, code: list[int], **options: object) -> Machine:
    """Code after a vector table whose exceptions all go to its first instruction."""
    table = struct.pack("<16I", RAM_TOP, *[0x40 | 1] * 15)
    path = tmp_path / "image.bin"
    path.write_bytes(table + struct.pack(f"<{len(code)}H", *code))
    return Machine(boards.load_chip("cc2650"), Image.load(path, 0), **options)  # type: ignore[arg-type]


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
    assert "lockup: a fault inside the" in stop.fault.message


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
    base = boards.load_chip(chip).vectors["RESET"] - 4
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
