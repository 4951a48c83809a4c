"""Cycles of code on cores whose pipelines LLVM describes, by llvm-mca.

QEMU's plugin counts pairs of consecutive blocks. The second block of a pair adds the cycles that
llvm-mca gives for both, less those that it gives for the first alone.
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
"""LLVM tools that are called."""
_TAIL = 24
"""Instructions of the first block that are scheduled before the second."""
_COVERED = 0.999
"""Share of all instructions whose pairs are scheduled; the rest are charged the mean of these."""
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
"""How often one block's code followed another's; code in hexadecimal, one word per instruction."""

_KNOWN: dict[tuple[Target, tuple[str, str]], int] = {}
"""Cycles that pairs add, cached for this process."""


def pairs(counts: Mapping[str, Any]) -> Pairs:
    """Return the pairs that the plugin wrote."""
    blocks, found = counts["blocks"], Pairs()
    for first, second, count in counts["pairs"]:
        found[blocks[str(first)], blocks[str(second)]] += count
    return found


def cycles(counted: Pairs, target: Target) -> float:
    """Return the cycles of pairs.

    Raises:
        ToolError: LLVM's tools are not installed, or reject the code.
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
    """Return the cycles that each second block adds; cached, since an image's cases share pairs."""
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
    """Return the instructions of blocks in the assembler's syntax."""
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
    """Return an instruction as llvm-mca is to see it.

    LLVM's models give everything microcoded a latency of 100 cycles, and QEMU executes a repeated
    string instruction once per element, so each element would take 100 cycles. Instead, schedule
    the load, the store and the pointer steps that the instruction stands for; the core's start-up
    cost is left out.
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
    """Return the cycles of each region by itself."""

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
    """Return the path of one of LLVM's tools.

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
