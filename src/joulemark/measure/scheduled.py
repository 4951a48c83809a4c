"""Cycles of code on cores whose pipelines LLVM describes, by llvm-mca.

The plugin of QEMU counts pairs of blocks that followed one another. Of a pair, what the second adds
to the end of the first is what llvm-mca gives for both, less what it gives for the first alone.
"""

import json
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joulemark.errors import ToolError

_VERSION = "19"
TOOLS = ("llvm-mc", "llvm-objdump", "llvm-mca")
"""Of LLVM, that are called."""
_TAIL = 24
"""Instructions of the first block that are scheduled before the second."""
_COVERED = 0.999
"""The part of all instructions whose pairs are scheduled; the rest counts as the mean of these."""
_OPERAND = re.compile(r"\s*<[^>]*>")
_STRING = re.compile(
    r"(?:rep[nz]*e?\s+)?(?P<what>stos|movs)(?P<size>[bwlq])\s+"
    r"(?P<what_it_stores>%\w+|\(%\w+\)), %es:\((?P<to>%\w+)\)"
)
_ACCUMULATOR = {"b": "%al", "w": "%ax", "l": "%eax", "q": "%rax"}


@dataclass(frozen=True)
class Target:
    """A core as LLVM names it."""

    triple: str
    processor: str


Pairs = Counter[tuple[str, str]]
"""How often a block's code came after another's; code as hexadecimal, an instruction a word."""

_KNOWN: dict[tuple[Target, tuple[str, str]], int] = {}
"""What pairs add that this process has asked for."""


def pairs(counts: Mapping[str, Any]) -> Pairs:
    """Pairs as the plugin wrote them."""
    blocks, found = counts["blocks"], Pairs()
    for first, second, count in counts["pairs"]:
        found[blocks[str(first)], blocks[str(second)]] += count
    return found


def cycles(counted: Pairs, target: Target) -> float:
    """Cycles of pairs.

    Raises:
        ToolError: LLVM's tools are not installed, or refuse the code.
    """
    weights = {pair: n * _length(pair[1]) for pair, n in counted.items() if n > 0}
    total, covered, hot = sum(weights.values()), 0, []
    for pair in sorted(weights, key=lambda p: -weights[p]):
        if covered >= _COVERED * total:
            break
        hot.append(pair)
        covered += weights[pair]
    if not hot:
        return 0.0
    added = _added(hot, target)
    took = sum(counted[pair] * added[pair] for pair in hot)
    return took * total / covered


def _length(code: str) -> int:
    return code.count(" ") + 1


def _added(hot: list[tuple[str, str]], target: Target) -> dict[tuple[str, str], int]:
    """Cycles that the second of each pair adds; an image's cases have most pairs in common."""
    asked = [pair for pair in hot if (target, pair) not in _KNOWN]
    if asked:
        lines = _disassembled(sorted({code for pair in asked for code in pair}), target)
        regions: dict[str, list[str]] = {}
        for number, (first, second) in enumerate(asked):
            tail = lines[first][-_TAIL:]
            regions[f"tail{number}"] = tail
            regions[f"both{number}"] = tail + lines[second]
        found = _scheduled(regions, target)
        for number, pair in enumerate(asked):
            _KNOWN[target, pair] = found[f"both{number}"] - found.get(f"tail{number}", 0)
    return {pair: _KNOWN[target, pair] for pair in hot}


def _disassembled(codes: list[str], target: Target) -> dict[str, list[str]]:
    """Instructions of blocks, as the assembler reads them."""
    source = "".join(
        f"b{number}:\n" + "".join(f".byte {_octets(word)}\n" for word in code.split())
        for number, code in enumerate(codes)
    )
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "code.o")
        _tool("llvm-mc", f"-triple={target.triple}", "-filetype=obj", "-o", str(made), told=source)
        text = _tool("llvm-objdump", "-d", "--no-show-raw-insn", "--no-leading-addr", str(made))
    found: dict[str, list[str]] = {code: [] for code in codes}
    at: list[str] | None = None
    for line in text.splitlines():
        if line.startswith("<b") and line.endswith(">:"):
            at = found[codes[int(line[2:-2])]]
        elif at is not None and line.strip() and "<unknown>" not in line:
            at += _plain(_OPERAND.sub("", line.strip())).splitlines()
    return found


def _plain(line: str) -> str:
    """An instruction as llvm-mca shall see it.

    LLVM's models give all that is microcoded one latency of 100 cycles, and QEMU executes a
    repeated string instruction once for each element: so each element would take 100 cycles. It is
    scheduled as the load, the store and the steps of pointers that it stands for; what the core
    takes to begin is left out.
    """
    if (string := _STRING.fullmatch(line)) is None:
        return line
    what, size, stored, to = string.groups()
    steps = [f"lea 1({to}), {to}"]
    if what == "movs":
        register = _ACCUMULATOR[size]
        steps += [f"lea 1({stored.strip('()')}), {stored.strip('()')}"]
        return "\n".join(
            [f"mov{size} {stored}, {register}", f"mov{size} {register}, ({to})", *steps]
        )
    return "\n".join([f"mov{size} {stored}, ({to})", *steps])


def _octets(word: str) -> str:
    return ", ".join(f"0x{word[i : i + 2]}" for i in range(0, len(word), 2))


def _scheduled(regions: Mapping[str, list[str]], target: Target) -> dict[str, int]:
    """Cycles of each region by itself."""

    def source() -> Iterator[str]:
        for name, lines in regions.items():
            if lines:
                yield f"# LLVM-MCA-BEGIN {name}"
                yield from lines
                yield "# LLVM-MCA-END"

    text = _tool(
        "llvm-mca",
        f"-mtriple={target.triple}",
        f"-mcpu={target.processor}",
        "-iterations=1",
        "-call-latency=1",
        "-skip-unsupported-instructions=any",
        "-json",
        told="\n".join(source()) + "\n",
    )
    return {
        region["Name"]: region["SummaryView"]["TotalCycles"]
        for region in json.loads(text)["CodeRegions"]
    }


def find(name: str) -> str:
    """Where one of LLVM's tools is.

    Raises:
        ToolError: it is not installed.
    """
    path = shutil.which(f"{name}-{_VERSION}")
    if path is None:
        raise ToolError(f"no {name}-{_VERSION}", mend=f"install the Debian package llvm-{_VERSION}")
    return path


def _tool(name: str, *arguments: str, told: str = "") -> str:
    path = find(name)
    command = [path, *arguments]
    done = subprocess.run(command, input=told, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ToolError(f"{name} refuses: {done.stderr.strip()[:400]}", path)
    return done.stdout
