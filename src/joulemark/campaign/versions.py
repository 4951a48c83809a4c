"""What a result depends on besides its case: versions of project and engine, and this machine."""

import platform
import subprocess
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from joulemark.errors import ToolError
from joulemark.project import IS_PACKAGED, ROOT, sources


def engine_digest() -> str:
    """Return the digest of what the engine computes.

    Raises:
        ToolError: the engine is not built.
    """
    try:
        from joulemark._engine import DIGEST
    except ImportError as error:
        raise ToolError(
            "the engine is not built, or is older than this",
            "joulemark._engine",
            "give `make setup`",
        ) from error
    return DIGEST


def engine_version() -> str:
    """Return the version of the engine, and the beginning of its digest.

    Raises:
        ToolError: the engine is not built.
    """
    return f"{version('joulemark')} ({engine_digest()[:16]})"


@lru_cache(maxsize=1)
def project_commit() -> str | None:
    """Return the checkout's commit, with "+dirty" if files differ; None if it is not known."""
    if IS_PACKAGED:
        return (ROOT / "commit").read_text(encoding="utf-8").strip() or None
    return commit_of(ROOT)


def commits() -> str | None:
    """Return the commits of the project and of the user's source folders; None if none is known."""
    named = [project_commit() or "", *(commit_of(folder) or "" for folder in sources())]
    return "; ".join([named[0], *(f"source {name}" for name in named[1:] if name)]) or None


def commit_of(folder: Path) -> str | None:
    """Return the commit of the checkout that contains a folder, in the form of `project_commit`."""

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
            )
        except OSError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    commit = git("rev-parse", "HEAD")
    if commit is None:
        return None
    return f"{commit}+dirty" if git("status", "--porcelain") else commit


def host() -> str:
    """Return this machine's name, system and architecture."""
    return f"{platform.node()} ({platform.system()} {platform.machine()})"


@lru_cache(maxsize=1)
def processor() -> str:
    """Return Linux's name for this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    named = {key.strip(): value.strip() for key, value in fields.items()}
    return named.get("Model") or named.get("model name") or platform.machine()
