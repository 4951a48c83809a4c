"""Assembly that takes words at a time takes them from any address."""

import random
import subprocess
from pathlib import Path

import pytest

from emulated import ARM, BOARD, DSP, PICO, PICO_2, is_for
from joulemark._engine import Image, Machine
from joulemark.catalogue.boards import Board
from joulemark.catalogue.chips import load_chip
from joulemark.catalogue.primitives import Implementation
from joulemark.images.targets import board_target
from joulemark.oracle import Inputs
from joulemark.project import FIRMWARE
from vectors import IMPLEMENTATIONS

BUDGET_CYCLES = 100_000_000
MESSAGE_BYTES = 200
ASSEMBLY = [
    pytest.param(way, board, id=f"{way}-{board.name}")
    for way in IMPLEMENTATIONS
    for board in (BOARD, ARM, DSP, PICO, PICO_2)
    if way.algorithm.kind in {"block-cipher", "hash"}
    and way.algorithm.name == next(iter(way.algorithm.primitive.file.variant), way.algorithm.name)
    and is_for(way, board)
    and any(source.suffix == ".S" for part in way.parts for source in part.sources)
    and not way.accelerators
]


def build(folder: Path, way: Implementation, board: Board) -> Image:
    """Build the program around an implementation on the board's start-up code."""
    target = board_target(board, None, "clang" if board is BOARD else "gcc")
    for name, text in target.headers.items():
        (folder / name).write_text(text)
    (folder / "linker.ld").write_text(target.linker_script)
    (folder / "description.ld").write_text("")
    sizes = way.algorithm.sizes
    defines = {
        "PRIMITIVE_HEADER": f'"{way.algorithm.prefix}.h"',
        "PREFIX": way.algorithm.prefix,
        "IS_HASH": int(way.algorithm.kind == "hash"),
        "KEY_BYTES": sizes.get("key_bytes", 0),
        "BLOCK_BYTES": sizes.get("block_bytes", 0),
        "DIGEST_BYTES": sizes.get("digest_bytes", 0),
        **way.defines,
    }
    base = (*target.include_folders, folder, FIRMWARE / "hal", FIRMWARE / "primitives")
    includes = [*(f for part in way.parts for f in part.include_folders), *base]
    start = [s for s in target.sources if s.suffix == ".S" or s.stem in {"start", "memory"}]
    sources = [s for part in way.parts for s in part.sources]
    objects = []
    for number, source in enumerate((Path(__file__).with_name("unaligned.c"), *sources, *start)):
        macros = [f"-D{name}={value}" for name, value in defines.items()]
        flags = [*target.flags, "-O2", "-std=c11", *macros, f"-I{Path(__file__).parent}"]
        command = [target.compiler.path, *flags, *(f"-I{path}" for path in includes)]
        objects.append(f"{number}-{source.name}.o")
        subprocess.run([*command, "-c", source, "-o", objects[-1]], check=True, cwd=folder)
    link = [*target.link, *objects, "-o", "image.elf", *target.link_end]
    subprocess.run(link, check=True, cwd=folder)
    return Image.load(folder / "image.elf")


@pytest.mark.parametrize(("way", "board"), ASSEMBLY)
def test_any_address_gives_the_same(tmp_path: Path, way: Implementation, board: Board) -> None:
    algorithm = way.algorithm
    image = build(tmp_path, way, board)
    source = random.Random(str(way))
    sizes = algorithm.sizes
    is_hash = algorithm.kind == "hash"
    key = source.randbytes(sizes.get("key_bytes", 0))
    message = source.randbytes(MESSAGE_BYTES if is_hash else 4 * sizes["block_bytes"])
    machine = Machine(load_chip(board.chip), image)
    assert machine.run(until=image.symbols["main"], max_cycles=BUDGET_CYCLES).reason == "address"
    machine.write_memory(image.symbols["operands"], key + message)
    stop = machine.run(until=image.symbols["done"], max_cycles=BUDGET_CYCLES)
    assert stop.reason == "address", stop.fault
    given = Inputs(message=message, key=key)
    expected = algorithm.oracle(given).output
    assert machine.read_memory(image.symbols["results"], len(expected)) == expected
    assert machine.read_memory(image.symbols["differences"], 4) == bytes(4)
