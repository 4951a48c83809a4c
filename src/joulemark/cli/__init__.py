"""The command `joulemark`."""

import joulemark.cli._start  # isort: skip  # noqa: F401

import codecs
import errno
import importlib
import io
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info

from joulemark.cli._options import FiniteCommand
from joulemark.errors import InputError, JoulemarkError

EXIT_CODES = """Exit codes: 0 done; 1 internal error; 2 wrong usage; 3 a file or value is wrong;
4 a tool is missing; 5 the firmware does not build; 6 a case failed: its output is wrong, or it
could not be measured; 7 the emulated program faulted; 8 it spent its cycles or fell asleep before
its end; 9 the results store failed; 10 the image does not answer; 11 an instrument failed; 12 a
claim of secret-independence is contradicted; 13 nothing satisfies all demands; 14 a comparison
found more than its limits allow; 15 a study's verdict is not the one that is pinned;
16 frames on the air break their network's policy or misuse its keys;
130 interrupted; 141 nobody reads the output."""

_BROKEN_PIPE = 128 + signal.SIGPIPE


class _Commands(TyperGroup):
    """The modules of this package: each is a command of that name, imported when it is called.

    A command's line in `--help` is its module's first line: "`joulemark NAME`: what it does." The
    lines below it are examples, at the end of the command's own help.
    """

    def list_commands(self, _: Any) -> list[str]:
        return sorted(_command_name(path) for path in _modules())

    def get_command(self, _: Any, cmd_name: str) -> TyperCommand | None:
        if cmd_name not in self.list_commands(None):
            return None
        name = f"{__name__}.{cmd_name.replace('-', '_')}"
        importlib.import_module(name)
        (info,) = (
            i for i in app.registered_commands if i.callback and i.callback.__module__ == name
        )
        info.name = cmd_name
        info.epilog = _examples(sys.modules[name].__doc__ or "")
        if info.cls is TyperCommand:  # Others are made of it.
            info.cls = FiniteCommand
        command = get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=None)
        assert isinstance(command, TyperCommand)  # noqa: S101
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.list_commands(ctx):
            # Typer needs the commands to suggest alternatives to a misspelt name.
            known = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
            self.commands = {name: command for name, command in known.items() if command}
        return super().resolve_command(ctx, args)

    def format_commands(self, _: Any, formatter: Any) -> None:
        rows = [(_command_name(path), _summary(path)) for path in _modules()]
        with formatter.section("Commands"):
            formatter.write_dl(sorted(rows))


def _modules() -> list[Path]:
    return [p for p in Path(__file__).parent.glob("*.py") if not p.name.startswith("_")]


def _command_name(module: Path) -> str:
    return module.stem.replace("_", "-")


def _summary(module: Path) -> str:
    with module.open(encoding="utf-8") as lines:
        text = lines.readline().strip().strip('"').partition(": ")[2].removesuffix(".")
    return text[:1].upper() + text[1:]


def _examples(docstring: str) -> str:
    lines = [line.strip() for line in docstring.splitlines()[1:] if line.strip()]
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


app = typer.Typer(
    name="joulemark",
    cls=_Commands,
    help="What security costs on a constrained device: time, energy, flash, RAM, stack.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"joulemark {version('joulemark')}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where in the program an error arose.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """What security costs on a constrained device: time, energy, flash, RAM, stack."""


def _silence() -> None:
    # The interpreter flushes once more on exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stdout_is_at_fault(error: OSError) -> bool:
    """Return whether standard output cannot be written; if so, print nothing more."""
    if error.filename is not None or error.errno != errno.ENOSPC:
        return False
    _silence()
    return True


def _run() -> None:
    """Run the command; if the reader of its output has gone (`| head`), end as SIGPIPE would."""
    try:
        app(prog_name="joulemark")
    except SystemExit as end:
        # Typer and rich turn a broken pipe into exit code 1.
        broken = isinstance(end.__context__, BrokenPipeError)
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            broken = True
        if not broken:
            raise
    _silence()
    sys.exit(_BROKEN_PIPE)


_PLAIN = {"µ": "u", "±": "+-", "→": "->", "…": "...", "Ω": "ohm"}


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """Return what stands for characters that a terminal does not have: uJ for µJ."""
    assert isinstance(error, UnicodeEncodeError)  # noqa: S101
    some = error.object[error.start : error.end]
    return "".join(_PLAIN.get(letter, "?") for letter in some), error.end


def main() -> None:
    """Run the command line; every failure is one message and a documented exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it is closed
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("joulemark", _in_ascii)
        sys.stdout.reconfigure(errors="joulemark")
    debug = "--debug" in sys.argv[1:]
    if debug:
        # The option means the same wherever it stands.
        sys.argv = [sys.argv[0], "--debug", *(a for a in sys.argv[1:] if a != "--debug")]
    try:
        _run()
    except JoulemarkError as error:
        if debug:
            raise
        typer.echo(f"joulemark: {error}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("joulemark: interrupted", err=True)
        sys.exit(130)
    except Exception as error:
        if debug:
            raise
        if isinstance(error, OSError) and _stdout_is_at_fault(error):
            typer.echo(f"joulemark: standard output: {error.strerror}", err=True)
            sys.exit(InputError.exit_code)
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            # Such a path is from the user: nothing else asks for one this long.
            path = os.fsencode(error.filename or "").decode("utf-8", "backslashreplace")
            typer.echo(f"joulemark: {path}: {error.strerror}", err=True)
            sys.exit(InputError.exit_code)
        typer.echo(
            f"joulemark: internal error: {type(error).__name__}: {error}; "
            "--debug shows where; please report it",
            err=True,
        )
        sys.exit(1)
