"""Build the QEMU plugin that estimates cycles, on and for this machine."""

import shutil
from pathlib import Path

from joulemark.errors import ToolError
from joulemark.images import cache, toolchain
from joulemark.project import ROOT

FOLDER = ROOT / "estimates"
_FLAGS = ("-O2", "-std=gnu11", "-Wall", "-Wextra", "-shared", "-fPIC", "-fvisibility=hidden")


def build_plugin() -> Path:
    """Build the plugin.

    Raises:
        BuildError: the compiler rejects it.
        ToolError: the compiler is missing.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        raise ToolError("no C compiler (cc)", mend="install the Debian package gcc")
    sources = sorted(FOLDER.glob("*.c"))
    parts: list[str | bytes] = [*_FLAGS, toolchain.version(compiler)]
    key = cache.digest(parts + [p.read_bytes() for p in sorted(FOLDER.glob("*.[ch]"))])
    with cache.entry("plugins", key) as (folder, work):
        if work is not None:
            command = [compiler, *_FLAGS, *map(str, sources), "-o", str(work / "plugin.so")]
            toolchain.run(command, "compiling the plugin that estimates")
    return folder / "plugin.so"
