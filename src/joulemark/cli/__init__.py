"""The command `joulemark`."""

import importlib
import pkgutil
import sys
from typing import Annotated

import typer

from joulemark.errors import JoulemarkError

EXIT_CODES = """Exit codes: 0 done; 1 internal error; 2 wrong usage; 3 a file or value is wrong;
4 a tool is missing; 5 the firmware does not build; 6 an output is wrong; 7 the emulated program
faulted; 8 it spent its cycles or fell asleep before its end; 9 the results store failed; 10 the
image does not answer; 11 an instrument failed; 130 interrupted."""

app = typer.Typer(
    name="joulemark",
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


# Each module of the package adds its commands.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")


def main() -> None:
    """Run the command line; every failure is one message and a documented exit code."""
    debug = "--debug" in sys.argv[1:]
    if debug:
        # The option means the same wherever it stands.
        sys.argv = [sys.argv[0], "--debug", *(a for a in sys.argv[1:] if a != "--debug")]
    try:
        app(prog_name="joulemark")
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
        typer.echo(
            f"joulemark: internal error: {type(error).__name__}: {error}; "
            "--debug shows where; please report it",
            err=True,
        )
        sys.exit(1)
