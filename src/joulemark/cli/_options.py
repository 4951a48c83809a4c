"""Options that several commands share."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from joulemark.errors import InputError

DEFAULT_STORE = "results/joulemark.db"
DEFAULT_REPORT = Path("results/report.html")


def default_report(store: Path | None) -> Path:
    """Return where to write a store's report: beside it and named after it (stores share folders).

    Args:
        store: its file; None for a server's. A store of the default name gets report.html.
    """
    if store is None:
        return DEFAULT_REPORT
    if store.name == Path(DEFAULT_STORE).name:
        return store.with_name(DEFAULT_REPORT.name)
    return store.with_name(f"{store.name.removesuffix('.db')}-{DEFAULT_REPORT.name}")


def _beginning(names: Iterable[str], typed: str) -> list[str]:
    return sorted(name for name in names if name.startswith(typed))


def complete_board(incomplete: str) -> list[str]:
    """Return boards that begin with this, for a shell."""
    from joulemark.catalogue import boards

    return _beginning(boards.names(), incomplete)


def complete_chip(incomplete: str) -> list[str]:
    """Return chips that begin with this, for a shell."""
    from joulemark.catalogue import chips

    return _beginning(chips.names(), incomplete)


def complete_kind(incomplete: str) -> list[str]:
    """Return kinds of primitives that begin with this, for a shell."""
    from joulemark.catalogue import kinds

    return _beginning([*kinds.titles(), "update"], incomplete)


def complete_primitive(incomplete: str) -> list[str]:
    """Return primitives that begin with this, for a shell."""
    from joulemark.catalogue.primitives import library

    return _beginning(library().algorithms, incomplete)


def _without_dash(names: str | list[str] | None) -> str | list[str] | None:
    """Return optimisations as builds name them, without the dash of compilers' -O3."""
    if isinstance(names, str):
        return names.removeprefix("-")
    return names and [name.removeprefix("-") for name in names]


OptimisationOption = Annotated[
    str,
    typer.Option(
        "--opt", metavar="NAME", callback=_without_dash, help="Optimisation: O3, O2, Os or O0."
    ),
]
OptimisationsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--opt",
        metavar="NAME",
        callback=_without_dash,
        help="Optimisation, such as O3 or Os; repeatable.",
    ),
]


def _own_sources(folders: list[Path] | None) -> list[Path] | None:
    from joulemark import project

    if folders:
        project.set_sources(folders)
    return folders


SourceOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--source",
        metavar="FOLDER",
        callback=_own_sources,
        is_eager=True,
        help="A folder of your own: primitives, boards, chips, parts, networks, scenarios, studies "
        "(`joulemark new`); repeatable.",
    ),
]


def _as_it_stands(ctx: typer.Context, folders: list[Path] | None) -> list[Path] | None:
    """Add somebody's implementations to a user's folders, after those of --source.

    Returns the folders that describe them.

    Raises:
        InputError: it is none, or an algorithm is named without it.
    """
    named = ctx.params.get("as_algorithm")
    if folders:
        from joulemark import project
        from joulemark.catalogue import layouts

        made = [layouts.source(folder, named) for folder in dict.fromkeys(folders)]
        project.set_sources([*project.sources(), *made])
        return made
    if named is not None:
        raise InputError("names the algorithm of --supercop", "--as", "give --supercop FOLDER")
    return folders


def refuse_left_out(layout: list[Path] | None, primitive: list[str] | None) -> None:
    """Refuse primitives none of which has an implementation of --supercop as a part.

    Raises:
        InputError: a folder of --supercop would not be measured.
    """
    from fnmatch import fnmatchcase

    from joulemark.catalogue.primitives import library

    if not layout or not primitive:
        return
    parts = {
        part
        for name, algorithm in library().algorithms.items()
        if any(fnmatchcase(name, pattern) for pattern in primitive)
        for way in library().implementations(algorithm)
        for part in way.name.split("+")
    }
    for made in layout:
        for described in made.glob("*/*/*/implementation.toml"):
            if described.parent.name not in parts:
                what = "leaves out the algorithm of --supercop"
                mend = f"leave it out, or name the algorithm of {described.parent.name}"
                raise InputError(what, "--primitive", mend)


LayoutOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--supercop",
        "--mupq",
        metavar="FOLDER",
        callback=_as_it_stands,
        help="Somebody's implementation as it stands, in the layout of SUPERCOP and of NIST's "
        "lightweight project (api.h, crypto_aead_* or crypto_hash), or of mupq and pqm4 "
        "(crypto_kem_* or crypto_sign_*); in the folder of its algorithm, such as "
        "crypto_aead/asconaead128/ref. Or mlkem-native/mlkem, mldsa-native/mldsa. Repeatable.",
    ),
]
AlgorithmOption = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="ALGORITHM",
        is_eager=True,
        help="With --supercop: the algorithm that it is, such as ascon-aead128, if its folder is "
        "not named so.",
        autocompletion=complete_primitive,
    ),
]


class FiniteCommand(TyperCommand):
    """A command whose numbers are finite: Typer takes `nan` in every range, and `inf`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        for parameter in self.params:
            given = ctx.params.get(parameter.name)
            for value in given if isinstance(given, list | tuple) else [given]:
                if isinstance(value, float) and not math.isfinite(value):
                    what = f"{value:g} is out of range"
                    raise InputError(what, parameter.opts[0], "give a finite number")
        return rest


def to_write(given: Any) -> Any:
    """Return an option's file or files, but refuse what cannot be written before anything is done.

    Raises:
        InputError: one cannot be written.
    """
    from joulemark import wholefile

    for path in given if isinstance(given, list | tuple) else [given]:
        if path is not None:
            wholefile.check(path)
    return given


_LOST_PART_MAX = 0.9


def lost_part(given: str | float) -> float:
    """Return the part of frames that is lost, from a number or a percentage.

    Typer hands a default over, too.

    Raises:
        InputError: it is neither, or more than nine tenths.
    """
    text = str(given)
    try:
        part = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        part = math.nan
    if not 0 <= part <= _LOST_PART_MAX:
        mend = f"give a number from 0 to {_LOST_PART_MAX:g}, or a percentage"
        raise InputError(f"{text!r} is no part of the frames", "--loss", mend)
    return part


StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="URL",
        help="Results store: a file, or an SQLAlchemy URL.",
        envvar="JOULEMARK_STORE",
    ),
]

MessageSize = Annotated[
    int | None,
    typer.Option(
        "--size",
        min=0,
        max=65535,
        metavar="BYTES",
        help="Message size; 64 if not given, where there is a message.",
    ),
]
