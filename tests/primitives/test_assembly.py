"""Assembly that LLVM's assembler for the MSP430 takes as it is meant."""

import re
import subprocess

import pytest

from emulated import BOARD
from joulemark.catalogue.primitives import Implementation
from joulemark.images import build_image
from joulemark.project import ROOT
from vectors import IMPLEMENTATIONS

_STATEMENT = re.compile(r"^\s*(?:[\w.$]+:)?\s*(?P<name>[a-z][\w.]*)\s+(?P<operands>\S.*)$")


def swallowed(text: str) -> list[str]:
    """Return statements that clang 19 silently drops: `mov (2+2)(r12), r4`.

    They have an operand that begins with a parenthesis; macros' arguments may become operands.
    """
    found = []
    for line in text.splitlines():
        statement = _STATEMENT.match(line.partition(";")[0])
        if statement and re.search(r"(?:^|,)\s*\(", statement["operands"]):
            found.append(line.strip())
    return found


def each_source_once() -> list[Implementation]:
    """Return implementations that cover all assembly sources, HAL and runtime included."""
    first = {way.parts[0].folder: way for way in IMPLEMENTATIONS if way.runs_on(BOARD.core)}
    return [w for w in first.values() if any(s.suffix == ".S" for s in w.parts[0].sources)]


@pytest.mark.parametrize("implementation", each_source_once(), ids=str)
def test_no_operand_begins_with_a_parenthesis(implementation: Implementation) -> None:
    image = build_image(implementation, BOARD, compiler="clang", optimisation="Os")
    for command in image.commands:
        if "-c" not in command or not command[command.index("-c") + 1].endswith(".S"):
            continue
        preprocess = [*command[: command.index("-c")], "-E", command[command.index("-c") + 1]]
        done = subprocess.run(preprocess, cwd=ROOT, check=True, capture_output=True, text=True)
        assert swallowed(done.stdout) == []


def test_what_is_swallowed_is_seen() -> None:
    text = " mov (2+2)(r12), r4\n.rept (2)\n mov r4, (2+2)(r12)\n mov #(2), &(4)\nl: m (2)\n nop"
    assert swallowed(text) == ["mov (2+2)(r12), r4", "mov r4, (2+2)(r12)", "l: m (2)"]
