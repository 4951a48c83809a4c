"""Options that belong to a meter: a command has those of the meter that --meter names."""

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli._options import FiniteCommand

if TYPE_CHECKING:
    from joulemark.meters.options import Declared

_METER = "--meter"
_NAMED, _GIVEN = "joulemark.meter", "joulemark.meter.given"
_ARGUMENTS = "joulemark.arguments"


class MeasuringCommand(FiniteCommand):
    """A command with --meter, which takes and shows the options that the meter declares."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Find the meter first, so that its options are among the command's."""
        ctx.meta[_NAMED] = _named(args)
        ctx.meta[_GIVEN] = {}
        ctx.meta[_ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the command's own options and the meter's."""
        own = super().get_params(ctx)
        return [*own, *_parameters(self.declared(ctx.meta.get(_NAMED)))]

    def declared(self, meter: str | None) -> "list[Declared]":
        """Return the options of a meter, or those that the command has without one."""
        if meter is None:
            return []
        from joulemark import meters

        return meters.options(meter)


def given(ctx: typer.Context) -> dict[str, object]:
    """Return the given meter options, by parameter."""
    values: dict[str, object] = ctx.meta[_GIVEN]
    return values


def arguments(ctx: typer.Context) -> list[str]:
    """Return the command's arguments as given."""
    found: list[str] = ctx.meta[_ARGUMENTS]
    return found


def _named(args: list[str]) -> str | None:
    """Return the value of --meter."""
    for index, argument in enumerate(args):
        if argument.startswith(f"{_METER}="):
            return argument.partition("=")[2]
        if argument == _METER and index + 1 < len(args):
            return args[index + 1]
    return None


def _parameters(options: "Iterable[Declared]") -> list[Any]:
    """Return the options as Typer makes them from a function's parameters."""

    def command() -> None:
        raise NotImplementedError

    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                f"meter_{one.parameter}",
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[
                    one.kind | None,
                    typer.Option(
                        one.option.flag,
                        help=one.option.help,
                        metavar=one.option.unit.upper() if one.option.unit in {"A", "V"} else None,
                        callback=_keep(one.parameter),
                        expose_value=False,
                    ),
                ],
            )
            for one in options
        ]
    )
    made = typer.Typer(add_completion=False)
    made.command(add_help_option=False)(command)
    return list(typer.main.get_command(made).params)


def _keep(parameter: str) -> Callable[[typer.Context, Any], Any]:
    def keep(ctx: typer.Context, value: Any) -> Any:
        if value is not None:
            ctx.meta[_GIVEN][parameter] = value
        return value

    return keep
