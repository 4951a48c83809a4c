"""Linux machines, this one or another: an image is a program on standard input and output."""

from pathlib import Path

from joulemark.images import toolchain
from joulemark.images.architectures import Architecture
from joulemark.images.targets import Target, sources_in
from joulemark.project import FIRMWARE

_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1")
_WITNESSED = ("-g", "-no-pie")
_FUZZED = "-fsanitize=fuzzer-no-link"
"""Clang only: lets the same objects be linked with a fuzzer."""


def host_target(
    compiler: str,
    *,
    sanitize: bool,
    architecture: Architecture | None = None,
    witness: Path | None = None,
) -> Target:
    """Describe this machine, or one of another architecture; see `build_local`.

    Raises:
        ToolError: the compiler is missing.
    """
    own: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    if architecture is None:
        found = toolchain.find(compiler, "host")
    else:
        found, own = architecture.compiler(compiler)
    flags = ("-D_GNU_SOURCE", *own)
    if sanitize:
        flags += (*_SANITIZERS, *([_FUZZED] if found.name == "clang" else []))
    folder = FIRMWARE / "hal" / "host"
    sources = sources_in(folder)
    if witness is not None:
        flags += _WITNESSED
        link = ("-Wl,--wrap=hal_serial_read",)
        sources = tuple(source for source in sources if source.name != "marker.c")
        sources += (witness,)
    return Target(
        instruction_set="host",
        compiler=found,
        flags=flags,
        include_folders=(folder,),
        sources=sources,
        headers={},
        linker_script="",
        link=(found.path, *flags, *link),
        link_end=(),
        linker_version=found.version,
        description={"board": "host", "clock_hz": "0", "timer_hz": "100000000"},
    )
