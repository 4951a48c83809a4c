"""Tools present on this machine, tools missing, and how to get them."""

import importlib
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from joulemark.catalogue import boards, instruction_sets, libraries
from joulemark.errors import ToolError
from joulemark.images import families
from joulemark.images.toolchain import Compiler, find, find_disassembler, find_linker


@dataclass(frozen=True)
class Tool:
    """A program that some part of Joulemark calls.

    Args:
        command: its name on the PATH.
        purpose: what does not work without it.
        get: how to install it.
        needed: `joulemark run` needs it even with its defaults.
    """

    command: str
    purpose: str
    get: str
    needed: bool = False


TOOLS = (
    Tool("cargo", "builds the engine from source", "https://rustup.rs"),
    Tool("qemu-arm", "estimates of Linux boards, and studies of them", "apt install qemu-user"),
    Tool(
        "i686-linux-gnu-gcc",
        "pereira-2017's Intel Edison, by its compiler",
        "apt install gcc-i686-linux-gnu",
    ),
    Tool(
        "arm-linux-gnueabi-g++",
        "libraries from their source, for Raspberry Pis (yilmaz-2018)",
        "apt install g++-arm-linux-gnueabi",
    ),
    Tool("dpkg-source", "libraries from Debian's source packages", "apt install dpkg-dev"),
    Tool("tshark", "opens captures; the tests verify frames by it", "apt install tshark"),
    Tool("mspdebug", "independent oracle of the engine's tests", "apt install mspdebug"),
    Tool("clang-format-19", "`make check`", "apt install clang-format-19"),
    Tool("chromium", "tests of the report", "apt install chromium chromium-driver"),
)


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for; it is missing if `state` is None."""

    name: str
    purpose: str
    state: str | None
    get: str
    needed: bool


def _version(command: str) -> str:
    """Return the version that a program prints, or just that it is there."""
    try:
        done = subprocess.run(
            [command, "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return "does not start"
    found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return found.group() if found else "installed"


def examine() -> list[Finding]:
    """Look for everything that Joulemark can use."""
    findings = [
        Finding("python", "runs Joulemark", platform.python_version(), "", needed=True),
        _module("joulemark._engine", "emulates the chips", "make setup", needed=True),
        _module(
            "joulescope",
            "--meter joulescope (a driver that was not tried on the instrument)",
            "pip install joulemark[joulescope]",
        ),
    ]
    findings += [
        *(
            _llvm("clang", f"compiles firmware for {title}", partial(find, "clang", name))
            for name, title in _cores("clang")
        ),
        _llvm("ld.lld", "links firmware that clang compiles", find_linker),
        replace(_llvm("llvm-objdump", "`leaks --branches`", find_disassembler), needed=False),
    ]
    findings += map(_library, libraries.names())
    for tool in (*_compilers(), *TOOLS, *_flashing()):
        path = shutil.which(tool.command)
        state = None if path is None else f"{_version(path)}  {path}"
        findings.append(Finding(tool.command, tool.purpose, state, tool.get, tool.needed))
    return findings


def _cores(compiler: str) -> Iterator[tuple[str, str]]:
    """Yield name and title of the emulated cores whose default compiler this is."""
    for name in families.names():
        is_default = instruction_sets.compilers(name).default == compiler
        if name != "host" and is_default:
            yield name, instruction_sets.load(name).title


def _compilers() -> Iterator[Tool]:
    """Yield GCC for each emulated core."""
    for name in families.names():
        made_by = instruction_sets.compilers(name)
        title = instruction_sets.load(name).title
        purpose = f"a second compiler for {title} (--compiler gcc)"
        if made_by.default == "gcc":
            purpose = f"compiles firmware for {title}"
        if name != "host":
            yield Tool(made_by.gcc, purpose, made_by.get_gcc, needed=made_by.default == "gcc")


def _llvm(name: str, purpose: str, look: Callable[[], Compiler]) -> Finding:
    """Report on a part of LLVM: the one that the build would use."""
    try:
        tool = look()
    except ToolError as error:
        return Finding(name, purpose, None, error.mend or "", needed=True)
    found = re.search(r"\d+(\.\d+)+", tool.version)
    version = found.group() if found else tool.version
    return Finding(name, purpose, f"{version}  {tool.path}", "", needed=True)


_HEADERS = (Path("/usr/include"), Path("/usr/local/include"))


def _library(name: str) -> Finding:
    """Report on a library whose algorithms this machine may run."""
    library = libraries.load_library(name)
    found = next((p for p in (folder / library.header for folder in _HEADERS) if p.is_file()), None)
    purpose = f"`run --runner local --library {name}`"
    state = None if found is None else str(found)
    return Finding(library.title, purpose, state, f"apt install {library.package}", needed=False)


def _flashing() -> list[Tool]:
    """Return the flashing tools named in board files."""
    found: dict[str, Tool] = {}
    for name in boards.names():
        flash = boards.load_board(name).flash
        if flash is None:
            continue
        program = flash.command[0]
        tried = "" if flash.grade == "measured" else ", not tried on the board"
        purpose = f"--flash of {name}{tried}"
        if program in found:
            purpose = f"{found[program].purpose}; of {name}{tried}"
        found[program] = Tool(program, purpose, flash.get)
    return list(found.values())


def _module(name: str, purpose: str, get: str, *, needed: bool = False) -> Finding:
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        sys.modules.pop(name, None)
        return Finding(f"{name} ({error})", purpose, None, get, needed)
    return Finding(name, purpose, str(getattr(module, "__file__", "built in")), get, needed)
