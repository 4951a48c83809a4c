"""Make a release: `make release VERSION=0.3.0`.

Sets the version, gathers the fragments in `changes/` into the changelog, and commits; builds the
sdist and the wheel from that commit, installs each in an environment of its own and measures with
it; and only then tags the commit. If a step fails, nothing is tagged, and the message says how to
go back.
"""

import argparse
import datetime
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION = re.compile(r'^version = "([^"]+)"', re.MULTILINE)
UNRELEASED = "## Unreleased\n"
MEASURES = ("run", "--board", "telosb", "--primitive", "xtea", "--size", "8")


class RefusedError(Exception):
    """The release cannot be made; the message says why, and how to mend it."""


def gather(root: Path, version: str, date: str) -> None:
    """Move the fragments and what is unreleased under a version's heading in CHANGELOG.md.

    Raises:
        RefusedError: there is nothing to release, or the version is there already.
    """
    path = root / "CHANGELOG.md"
    text = path.read_text(encoding="utf-8")
    if f"\n## {version}" in text:
        raise RefusedError(f"CHANGELOG.md has {version} already: give another VERSION")
    before, found, after = text.partition(UNRELEASED)
    if not found:
        raise RefusedError('CHANGELOG.md has no "## Unreleased": put it above the newest version')
    fragments = sorted((root / "changes").glob("*.md"))
    old, _, rest = after.partition("\n## ")
    lines = "".join(f"{p.read_text(encoding='utf-8').strip()}\n" for p in fragments)
    if not lines and not old.strip():
        raise RefusedError("nothing changed: there is no fragment in changes/")
    new = f"{UNRELEASED}\n## {version} ({date})\n{lines}{old.lstrip()}"
    path.write_text(f"{before}{new}" + (f"\n## {rest}" if rest else ""), encoding="utf-8")
    for fragment in fragments:
        fragment.unlink()


def set_version(root: Path, version: str) -> None:
    """Set the version where it stands: the workspace's, from which all others come; and to cite.

    Raises:
        RefusedError: it is no version, or not a later one.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise RefusedError(f"{version} is no version: write VERSION=0.3.0")
    path = root / "Cargo.toml"
    text = path.read_text(encoding="utf-8")
    (had,) = VERSION.findall(text)
    if _numbers(version) <= _numbers(had):
        raise RefusedError(f"{version} is not later than {had}")
    path.write_text(VERSION.sub(f'version = "{version}"', text, count=1), encoding="utf-8")
    citation = root / "CITATION.cff"
    cited = re.sub(r"^version: .*$", f"version: {version}", citation.read_text("utf-8"), flags=re.M)
    citation.write_text(cited, encoding="utf-8")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _run(*command: str, folder: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def tried(package: Path) -> None:
    """Install a wheel or an sdist in an environment of its own, and measure with it.

    Raises:
        CalledProcessError: it does not install, or does not measure.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        _run(str(folder / "venv/bin/pip"), "install", "--quiet", str(package))
        _run(str(folder / "venv/bin/joulemark"), *MEASURES, folder=folder)


def main() -> None:
    """Release what `main` has.

    Raises:
        RefusedError: it cannot be released as it is.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    version = parser.parse_args().version
    if _run("git", "status", "--porcelain"):
        raise RefusedError("files differ from the commit: commit or remove them")
    start = _run("git", "rev-parse", "HEAD")
    set_version(ROOT, version)
    gather(ROOT, version, datetime.datetime.now(datetime.UTC).date().isoformat())
    _run("cargo", "update", "--workspace", "--offline", "--quiet")
    _run("git", "commit", "--quiet", "--all", "--message", f"Release {version}")
    try:
        for old in (ROOT / "dist").glob("*"):
            old.unlink()
        _run("tools/build-wheels.sh")
        _run(str(ROOT / ".venv/bin/python"), "-m", "build", "--sdist", "--no-isolation")
        packages = sorted((ROOT / "dist").iterdir())
        for package in packages:
            tried(package)
    except BaseException:
        print(f"release: not tagged; `git reset --hard {start}` goes back", file=sys.stderr)
        raise
    _run("git", "tag", "--annotate", f"v{version}", "--message", f"Joulemark {version}")
    print(f"v{version} is tagged:", *(p.name for p in packages))


if __name__ == "__main__":
    try:
        main()
    except RefusedError as error:
        sys.exit(f"release: {error}")
