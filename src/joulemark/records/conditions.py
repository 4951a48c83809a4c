"""What a result was obtained with, beyond the case: the project, the engine, the host."""

import hashlib
import platform
import subprocess
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from joulemark.errors import ToolError
from joulemark.project import ROOT


@lru_cache(maxsize=1)
def engine_version() -> str:
    """Version and binary digest of the engine.

    Raises:
        ToolError: it is not built.
    """
    spec = find_spec("joulemark._engine")
    if spec is None or spec.origin is None:
        raise ToolError("the engine is not built", "joulemark._engine", "give `make setup`")
    digest = hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()
    return f"{version('joulemark')} ({digest[:16]})"


@lru_cache(maxsize=1)
def project_commit() -> str | None:
    """The checkout's commit, with "+dirty" when files differ; None outside a checkout."""

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False
            )
        except OSError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    commit = git("rev-parse", "HEAD")
    if commit is None:
        return None
    return f"{commit}+dirty" if git("status", "--porcelain") else commit


def host() -> str:
    """This machine."""
    return f"{platform.node()} ({platform.system()} {platform.machine()})"
