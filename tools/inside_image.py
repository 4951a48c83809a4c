#!/usr/bin/env python3
"""Times AES inside another project's image, with all of that system's interrupts.

`python tools/inside_image.py NAME IMAGE HOOK --system TEXT [--calls-hook]` emulates a TelosB with
the image, puts AES-128 into flash that the image leaves free, and calls it whenever the system is
about to call HOOK, a function of its tasks or of its main loop: as if AES were one of its tasks.
All else is the system's own: its clock, its ticks, its radio. The same calls with interrupts off
give the time that AES takes alone. Writes an entry of `studies/pereira-2017/inside.toml`.

`--calls-hook` calls HOOK between the windows, for a HOOK that holds off the watchdog.
"""

import argparse
import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

from joulemark._engine import Image, Machine
from joulemark.campaign.versions import engine_version
from joulemark.catalogue import boards, chips, datafile
from joulemark.errors import InputError, VerificationError
from joulemark.images import toolchain
from joulemark.project import FIRMWARE, STUDIES
from joulemark.studies.ways.kept import Entry, Kept
from joulemark.wholefile import write_whole

KEPT = STUDIES / "pereira-2017" / "inside.toml"
BOARD = "telosb"
BLOCKS = 32
"""Blocks per window: fewer than fit into the second after which Contiki's watchdog resets."""
WINDOWS = 256
BOOTED_S = 3.0
"""By then a system has set its clock and started its tasks."""

_BLOCK_CIPHER = FIRMWARE / "primitives" / "block-cipher"
_AES = _BLOCK_CIPHER / "aes"
_FLAGS = ("-O3", "-std=c11", "-ffreestanding", "-ffunction-sections", "-fdata-sections")
# FIPS 197, appendix C.1.
_KEY = bytes(range(16))
_PLAINTEXT = bytes.fromhex("00112233445566778899aabbccddeeff")
_CIPHERTEXT = bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a")
_CALLED = """
#include "aes.h"
void called(uint16_t blocks, uint8_t *out, const uint8_t *key, const uint8_t *in) {
    aes_ctx context;
    aes_init(&context, key);
    while (blocks-- != 0)
        aes_encrypt(&context, out, in, 1);
}
"""
_SCRIPT = """
ENTRY(called)
SECTIONS {{
    . = {start:#x};
    .all : {{ *(.text.called) *(.text*) *(.rodata*) }}
    /DISCARD/ : {{ *(.comment) *(.note*) }}
}}
"""
_JUMP_TO_ITSELF = 0x3FFF
_ERASED = 0xFF
_INTERRUPTS_ON = 0x0008
"""GIE of the status register. A task needs no other bit of it to be set."""


def compiled(start: int) -> bytes:
    """Return AES and its caller, linked to an address; the first byte is the entry."""
    clang, lld = toolchain.find("clang", "msp430"), toolchain.find_linker()
    includes = [
        f"-I{folder}" for folder in (_AES / "ref", _AES, _BLOCK_CIPHER, FIRMWARE / "primitives")
    ]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "called.c").write_text(_CALLED)
        (folder / "link.ld").write_text(_SCRIPT.format(start=start))
        for source in (folder / "called.c", _AES / "ref" / "aes.c"):
            flags = ["--target=msp430", "-mmcu=msp430f1611", "-DAES_KEY_BITS=128", *_FLAGS]
            out = str(folder / f"{source.stem}.o")
            toolchain.run(
                [clang.path, *flags, *includes, "-c", str(source), "-o", out], source.name
            )
        linked = [str(folder / "called.o"), str(folder / "aes.o"), "-o", str(folder / "out.bin")]
        script = ["--gc-sections", "--oformat=binary", "-T", str(folder / "link.ld")]
        toolchain.run([lld.path, *script, *linked], "linking")
        return (folder / "out.bin").read_bytes()


class Inside:
    """A running system with AES in its flash, stopped where its hook is about to be called.

    Args:
        image: the system's.
        hook: a function that it calls with interrupts enabled, and not from a handler.
        interrupts: whether AES may be interrupted.

    Raises:
        InputError: the image has no such function, never calls it, or leaves too little flash free.
    """

    def __init__(self, image: Image, hook: str, *, interrupts: bool) -> None:
        board = boards.load_board(BOARD)
        self._chip = chips.load_chip(board.chip)
        self._hook = image.resolve(hook)
        self._interrupts = interrupts
        self.machine = Machine(self._chip, image, wiring=board.wiring, profile=True)
        self.machine.run(until_ps=int(BOOTED_S * 1e12))
        if self.machine.run(until=self._hook, max_cycles=2**28).reason != "address":
            raise InputError(f"{hook} is never called", "--hook", "name a function of its tasks")
        self._place(len(compiled(0x8000)))

    def _place(self, size: int) -> None:
        """Place the code, the instruction that it returns to, and its buffers."""
        flash = next(m for m in self._chip.memories if m.kind == "flash" and m.size > 2**14)
        room = bytes([_ERASED]) * (size + 4)
        at = self.machine.read_memory(flash.start, flash.size).find(room)
        if at < 0:
            what = f"less than {size} bytes of flash are free"
            raise InputError(what, "IMAGE", "take a smaller image")
        self._return = (flash.start + at + 1) & ~1
        self._code = self._return + 2
        self.machine.write_memory(self._return, _JUMP_TO_ITSELF.to_bytes(2, "little"))
        self.machine.write_memory(self._code, compiled(self._code))
        # Far below the stack of a task, where no small system keeps anything.
        self._buffers = (self.machine.registers["sp"] & ~1) - 1024
        self.machine.write_memory(self._buffers, _KEY + _PLAINTEXT)

    def encrypt(self) -> int:
        """Encrypt a window's blocks, and return the cycles that passed.

        Raises:
            VerificationError: the output is wrong.
        """
        key, plaintext, out = (self._buffers + n for n in (0, 16, 32))
        self.machine.write_memory(out, bytes(16))
        cycles = self._call(self._code, (BLOCKS, out, key, plaintext))
        if self.machine.read_memory(out, 16) != _CIPHERTEXT:
            raise VerificationError("AES gave a wrong output inside the image")
        return cycles

    def call_hook(self) -> None:
        """Call the hook itself."""
        self._call(self._hook, ())

    def _call(self, address: int, arguments: tuple[int, ...]) -> int:
        machine = self.machine
        sp = machine.registers["sp"] - 2
        machine.write_memory(sp, self._return.to_bytes(2, "little"))
        for name, value in (
            ("sp", sp),
            ("sr", _INTERRUPTS_ON if self._interrupts else 0),
            *((f"r{12 + n}", value) for n, value in enumerate(arguments)),
            ("pc", address),
        ):
            machine.set_register(name, value)
        before = machine.cycles
        stopped = machine.run(until=self._return, max_cycles=2**28)
        if stopped.reason != "address":
            why = stopped.fault.message if stopped.fault else stopped.reason
            raise InputError(f"the system did not come back: {why}", "IMAGE", "try --calls-hook")
        return machine.cycles - before

    def handlers(self) -> dict[str, int]:
        """Return the cycles of each interrupt handler, with all that it calls, by name."""
        vectors = {
            int.from_bytes(self.machine.read_memory(at, 2), "little")
            for name, at in self._chip.vectors.items()
            if name != "reset"
        }
        functions = self.machine.profile.functions
        return {f.name: f.total_cycles for f in functions if f.address in vectors and f.calls}


def measured(
    image: Image, hook: str, *, calls_hook: bool = False, windows: int = WINDOWS
) -> dict[str, Any]:
    """Measure AES alone and inside a system."""
    cycles = {}
    for interrupts in (False, True):
        inside = Inside(image, hook, interrupts=interrupts)
        inside.machine.clear_observations()
        total = 0
        for _ in range(windows):
            total += inside.encrypt()
            if calls_hook:
                inside.call_hook()
        cycles[interrupts] = total
    return {
        "clock_hz": inside.machine.clock_hz,
        "blocks": windows * BLOCKS,
        "alone_cycles": cycles[False],
        "inside_cycles": cycles[True],
        "interrupt_cycles": inside.handlers(),
    }


def main() -> None:
    """Measure, and write the entry."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", help="of the entry")
    parser.add_argument("image", type=Path)
    parser.add_argument("hook")
    parser.add_argument("--system", required=True, help="what it is, and where it is from")
    parser.add_argument("--calls-hook", action="store_true")
    given = parser.parse_args()
    entry = Entry(
        system=given.system,
        file=given.image.name,
        sha256=hashlib.sha256(given.image.read_bytes()).hexdigest(),
        hook=given.hook,
        calls_hook=given.calls_hook,
        what=f"AES-128, ref, {toolchain.find('clang', 'msp430').version} {_FLAGS[0]}",
        **measured(Image.load(given.image), given.hook, calls_hook=given.calls_hook),
        engine=engine_version(),
    )
    known = datafile.read(KEPT, Kept).entry if KEPT.exists() else {}
    write(known | {given.name: entry}, KEPT)
    print(entry.model_dump_json(indent=1))


def write(entries: dict[str, Entry], path: Path) -> None:
    """Write the file."""
    lines = ["# Written by tools/inside_image.py: AES inside of other projects' images."]
    for name, entry in entries.items():
        values = entry.model_dump()
        interrupts = values.pop("interrupt_cycles")
        lines += ["", f"[entry.{name}]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
        lines += [f"[entry.{name}.interrupt_cycles]"]
        lines += [f"{key} = {value}" for key, value in interrupts.items()]
    write_whole(path, ("\n".join(lines) + "\n").encode(), "the file")


if __name__ == "__main__":
    main()
