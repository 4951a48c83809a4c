"""`joulemark compare`: show what changed between two stores, exports or commits.

joulemark compare before.db after.db --fail cycles=1% --fail stack=32
joulemark compare v1.0 v1.1 --source joulemark -- --board openmote-cc2538
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.cli import app
from joulemark.cli._options import to_write
from joulemark.errors import InputError, JoulemarkError, RegressionError, ToolError
from joulemark.words import counted

if TYPE_CHECKING:
    from joulemark.analysis.changes import Compared

PLACEMENTS = 4
"""Places of a commit's code in flash: 16 bytes, the longest line of a supported chip's buffers."""

_EXPORTS = (".csv", ".json", ".parquet", ".db")


class Form(StrEnum):
    """Output formats of `compare`."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    JUNIT = "junit"


_ENDINGS = {".txt": Form.TEXT, ".md": Form.MARKDOWN, ".json": Form.JSON, ".xml": Form.JUNIT}


@app.command(context_settings={"allow_extra_args": True})
def compare(
    ctx: typer.Context,
    base: Annotated[
        str, typer.Argument(metavar="BASE", help="A store, an exported file, or a commit.")
    ],
    head: Annotated[
        str, typer.Argument(metavar="HEAD", help="Store, file or commit to compare with BASE.")
    ],
    fail: Annotated[
        list[str] | None,
        typer.Option(
            "--fail",
            metavar="LIMIT",
            help="cycles=5%, stack=32, part network:cycles=5%, secrets, missing, ...; repeatable.",
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--source",
            metavar="FOLDER",
            help="For commits: the folder within a git repository that --source of `run` names.",
        ),
    ] = None,
    campaign: Annotated[
        Path | None,
        typer.Option("--campaign", help="For commits: the campaign to measure, as for `run`."),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option("--format", help="Output format; a file's ending says it if not given."),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out",
            callback=to_write,
            help="Output file, .txt, .md, .json or .xml (JUnit); repeatable; standard output if "
            "not given.",
        ),
    ] = None,
) -> None:
    """Compare results case by case, and fail where they grew beyond limits.

    Deterministic results are compared exactly, those of instruments by their intervals. A limit is
    a fraction or an amount, in cycles, µs, nJ or bytes. Exits with 14 if a case goes beyond a
    limit, or no longer has a number. With --source, commits are checked out beside the
    repository's own tree and measured; options of `run` follow --. What was measured at several
    --placements is compared by its mean over them, so that code that only moved is no change.
    """
    from joulemark.analysis.changes import Limits
    from joulemark.analysis.changes import compare as compute
    from joulemark.records.sides import rows
    from joulemark.report import changes as written
    from joulemark.wholefile import write_whole

    limits = Limits.parse(fail or [])
    outputs = [(path, form or _form_of(path)) for path in out or ()]
    with tempfile.TemporaryDirectory(prefix="joulemark-") as scratch:
        commits = _Commits(source, campaign, ctx.args, Path(scratch))
        for side in (base, head):
            commits.check(side)
        sides = [rows(commits.store_of(side)) for side in (base, head)]
    found = compute(sides[0], sides[1], limits)
    if not any(c.state not in {"new", "missing"} for c in found):
        what = "they have no case in common"
        raise InputError(what, f"{base}, {head}", "measure both with the same campaign")
    writers = {
        Form.TEXT: written.text,
        Form.MARKDOWN: written.markdown,
        Form.JSON: written.as_json,
        Form.JUNIT: written.junit,
    }
    names = Path(base).name, Path(head).name
    if not outputs:
        typer.echo(writers[form or Form.TEXT](found, *names, fail or []))
    for path, chosen in outputs:
        write_whole(
            path, f"{writers[chosen](found, *names, fail or [])}\n".encode(), "the comparison"
        )
        typer.echo(f"{written.counted(found, fail or [])}: {path}")
    _complain(found)


def _form_of(path: Path) -> Form:
    """Return the format that a file's suffix names.

    Raises:
        InputError: it names none.
    """
    if path.suffix not in _ENDINGS:
        mend = f"end it in {', '.join(_ENDINGS)}, or give --format"
        raise InputError("the ending says no format", f"--out {path}", mend)
    return _ENDINGS[path.suffix]


def _complain(found: "Sequence[Compared]") -> None:
    broken = [c for c in found if c.broken]
    if broken:
        first = broken[0]
        raise RegressionError(
            f"{counted(len(broken), 'case')} beyond the limits",
            None,
            f"first: {first.name}, {first.place}: {first.broken[0]}",
        )


class _Commits:
    """Commits of the repository that a folder of sources is in, measured on demand."""

    def __init__(
        self, source: Path | None, campaign: Path | None, options: Sequence[str], scratch: Path
    ) -> None:
        self._source, self._campaign = source, campaign
        self._options, self._scratch = options, scratch
        if source is None and (options or campaign):
            what = "options of `run` are for commits"
            raise InputError(what, " ".join(options) or "--campaign", "name --source FOLDER")

    def check(self, side: str) -> None:
        """Look whether something is there to compare, before anything is measured.

        Raises:
            InputError: it is neither a store, an export nor a commit.
        """
        if not _is_kept(side):
            self._commit(side)

    def store_of(self, side: str) -> str:
        """Return a store or an export as it is; for a commit, the store of its measurement."""
        return side if _is_kept(side) else self._measured(*self._commit(side), side)

    def _commit(self, revision: str) -> tuple[Path, Path, str]:
        """Return the folder of sources, its repository, and a commit's name in it."""
        if self._source is None:
            mend = "give a store, an exported file, or with --source FOLDER a commit"
            raise InputError("there is no such file", revision, mend)
        source = self._source.resolve()
        if not source.is_dir():
            mend = "name a folder of the repository; `joulemark new primitive` writes one"
            raise InputError("is no folder", f"--source {source}", mend)
        root = Path(_git(source, "rev-parse", "--show-toplevel"))
        named = ["--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
        try:
            return source, root, _git(root, "rev-parse", *named)
        except InputError as error:
            mend = f"name a commit, a tag or a branch of {root}"
            raise InputError("is no commit", revision, mend) from error

    def _measured(self, source: Path, root: Path, commit: str, revision: str) -> str:
        store = str(self._scratch / f"{commit}.db")
        with _checked_out(root, commit, self._scratch / commit) as tree:
            folder = tree / source.relative_to(root)
            command = [sys.executable, "-c", "from joulemark.cli import main; main()", "run"]
            command += [str(self._campaign.resolve())] if self._campaign else []
            command += ["--source", str(folder), "--store", store, "--seed", "1"]
            if self._campaign is None and "--placements" not in self._options:
                command += ["--placements", str(PLACEMENTS)]
            command += self._options
            typer.echo(f"measuring {revision} ({commit[:12]})", err=True)
            done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        # Failed cases (6) and contradicted claims (12) are part of the comparison.
        if done.returncode not in {0, 6, 12}:
            error = JoulemarkError("could not be measured", revision, "its messages are above")
            error.exit_code = done.returncode  # type: ignore[misc]
            raise error
        return store


def _is_kept(side: str) -> bool:
    """Return whether a side is a store or an export, not a commit."""
    return "://" in side or Path(side).exists() or Path(side).suffix in _EXPORTS


@contextmanager
def _checked_out(root: Path, commit: str, folder: Path) -> Iterator[Path]:
    """Yield a commit's files in a separate working tree of the repository."""
    if not folder.exists():
        _git(root, "worktree", "add", "--detach", "--quiet", str(folder), commit)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _git(root, "worktree", "prune")


def _git(folder: Path, *arguments: str) -> Any:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise ToolError("no git", mend="install the Debian package git") from error
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["git failed"])[-1]
        what = reason.removeprefix("fatal: ")
        raise InputError(what, f"git {arguments[0]} in {folder}", "name a commit of the repository")
    return done.stdout.strip()
