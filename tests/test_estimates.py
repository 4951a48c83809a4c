"""The models of in-order cores, and estimates with them."""

import ctypes
import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from command import joulemark
from joulemark.catalogue import machines
from joulemark.images.plugin import FOLDER
from joulemark.measure.estimated import CORES


class Instruction(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int),
        *((name, ctypes.c_uint32) for name in ("reads", "early", "address", "late", "writes")),
        ("soon", ctypes.c_uint32),
        ("words", ctypes.c_uint),
    ]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("models") / "models.so"
    sources = [str(FOLDER / name) for name in ("a32.c", "core.c")]
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", *sources, "-o", str(path)], check=True)
    made = ctypes.CDLL(str(path))
    made.a32_decode.restype = Instruction
    made.core_named.restype = ctypes.c_void_p
    return made


def assembled(text: str, folder: Path) -> list[int]:
    source, made, raw = folder / "code.s", folder / "code.o", folder / "code.bin"
    source.write_text(f".arm\n{text}\n")
    target = ["--target=arm-linux-gnueabi", "-march=armv6kz", "-c", str(source), "-o", str(made)]
    subprocess.run(["clang-19", *target], check=True)
    objcopy = shutil.which("llvm-objcopy-19") or "llvm-objcopy"
    subprocess.run([objcopy, "-O", "binary", "-j", ".text", str(made), str(raw)], check=True)
    data = raw.read_bytes()
    return [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]


CASES = {
    # One after the other, whatever the width.
    "add r0, r0, r1; add r0, r0, r1; add r0, r0, r1; add r0, r0, r1": (4, 4),
    # Two at a time where there are two slots.
    "add r0, r4, r5; add r1, r4, r5; add r2, r4, r5; add r3, r4, r5": (4, 2),
    # A load's result: 3 cycles on the ARM1176, 2 on the A53 for what adds.
    "ldr r0, [r1]; add r2, r0, r0": (4, 3),
    # What is shifted is needed a stage before.
    "add r0, r1, r2; add r3, r4, r0, ror #8": (3, 3),
    "add r0, r1, r2; add r3, r0, r4, ror #8": (2, 2),
    # An address: one stage before, and two.
    "add r0, r1, r2; ldr r3, [r0]": (3, 4),
    # What is stored is needed a stage after.
    "add r0, r1, r2; str r0, [r4]": (2, 1),
    # 64 bits of product: 3 cycles of issue each; one a cycle.
    "umull r0, r1, r4, r5; umull r2, r3, r4, r5": (6, 2),
    # One transfer a cycle.
    "ldr r0, [r4]; ldr r1, [r5]; ldr r2, [r6]": (3, 3),
    # An address that is written back is there in the next cycle.
    "ldr r0, [r4], #4; add r5, r4, r4": (2, 2),
    # Eight words, two at a time.
    "ldmia r0, {r1-r8}": (4, 4),
    # A condition waits for flags, and keeps what it would write.
    "cmp r0, r1; addeq r2, r2, r3": (2, 2),
}


@pytest.mark.parametrize("text", CASES)
def test_cycles_of_short_sequences(text: str, models: ctypes.CDLL, tmp_path: Path) -> None:
    codes = assembled(text.replace(";", "\n"), tmp_path)
    decoded = (Instruction * len(codes))(*(models.a32_decode(code) for code in codes))
    found = tuple(
        models.core_cycles(ctypes.c_void_p(models.core_named(name)), decoded, len(codes))
        for name in (b"arm1176", b"cortex-a53")
    )
    assert found == CASES[text]


def test_a_machine_is_estimated(tmp_path: Path) -> None:
    command = ("estimate", "raspberry-pi-zero-w", "--primitive", "aes-128", "--seed", "1")
    some = (*command, "--operation", "encrypt", "--size", "16", "--implementation", "ttable")
    rows = json.loads(joulemark(*some, "--format", "json", folder=tmp_path).stdout)
    (row,) = rows
    # Ten rounds of sixteen tables' words, and no faster than one instruction a cycle.
    assert 400 < row["instructions"] < 2000
    assert row["instructions"] <= row["cycles"] < 3 * row["instructions"]
    assert row["grade"] == "estimated"
    text = joulemark(*some, folder=tmp_path).stdout
    assert "33% at worst" in text
    other = joulemark(*some[:1], "raspberry-pi-3b", *some[2:], "--format", "json", folder=tmp_path)
    assert json.loads(other.stdout)[0]["cycles"] < row["cycles"]
    exported = joulemark("export", "--format", "csv", "--out", "x.csv", folder=tmp_path)
    assert exported.returncode == 0
    assert "estimate" in (tmp_path / "x.csv").read_text()


def test_what_cannot_be_estimated(tmp_path: Path) -> None:
    edison = joulemark(
        "estimate", "intel-edison", "--primitive", "aes-128", folder=tmp_path, code=3
    )
    assert "there is no model of the Silvermont" in edison.stderr
    assert "no such machine" in joulemark("estimate", "abacus", folder=tmp_path, code=3).stderr


def test_published_measurements_are_of_machines_with_a_model() -> None:
    results = tomllib.loads((FOLDER / "published.toml").read_text())["result"]
    assert {r["machine"] for r in results} <= set(machines.names())
    assert all(machines.load_machine(r["machine"]).core in CORES for r in results)
