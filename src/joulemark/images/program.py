"""Build the image of a program: compile what is not in the cache, link, describe."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from joulemark.catalogue import boards, kinds
from joulemark.catalogue.boards import Board
from joulemark.catalogue.primitives import Implementation
from joulemark.errors import InputError
from joulemark.images import cache, headers, memory, parts, toolchain
from joulemark.images.architectures import Architecture
from joulemark.images.built import BuiltImage
from joulemark.images.families.host import host_target
from joulemark.images.parts import Part, Program, Unit
from joulemark.images.sources import Sources
from joulemark.images.targets import Target, board_target
from joulemark.project import BUILD, FIRMWARE, ROOT
from joulemark.project import sources as sources_of
from joulemark.wholefile import write_whole

PROTOCOL, WIDE_PROTOCOL = 3, 4
"""Of images whose sizes fit 16 bits, and of those with slots or stacks that may be longer."""
_NARROW_MAX = 0xFFFF
_ENTRY = "3"
"""Version of the files that an image's cache entry holds beside the image."""
_HARNESS = FIRMWARE / "harness"
_STANDARD = ("-std=c11", "-Wall", "-Wextra")
_SECTIONS = ("-ffunction-sections", "-fdata-sections")
_FIXED = ("-O2",)
"""Flags of the harness, which do not depend on the case: neither does the empty window's cost."""


def _generated(texts: Mapping[str, str]) -> Path:
    """Write generated files to the cache and return their folder."""
    key = cache.digest(part for item in sorted(texts.items()) for part in item)
    with cache.entry("generated", key) as (folder, work):
        if work is not None:
            for name, text in texts.items():
                (work / name).write_text(text)
    return folder


def _compile(target: Target, unit: Unit, sources: Sources) -> tuple[Path, bool, list[str]]:
    """Compile one source; return its object, whether it was cached, and the command."""
    name = cache.relative(unit.source, ROOT)
    generated = unit.source.is_relative_to(BUILD)
    label = unit.source.name if generated else _label(unit.source)
    flags = [*target.flags, *unit.flags, *_STANDARD, *_SECTIONS]
    if target.compiler.name == "clang" and (generated or unit.source.is_relative_to(FIRMWARE)):
        # Our sources are kept free of clang's warnings; other compilers have different ones.
        flags.append("-Werror")
    parts: list[str | bytes] = [target.compiler.version, label, *flags]
    flags.append(f"-ffile-prefix-map={BUILD}=build")
    flags.append(f"-ffile-prefix-map={ROOT}=.")
    flags += [f"-ffile-prefix-map={cache.relative(folder, ROOT)}=." for folder in sources_of()]
    for included, digest in sources.closure(unit.source, unit.includes):
        parts += [included, digest]
    key = cache.digest(parts)
    includes = [f"-I{cache.relative(folder, ROOT)}" for folder in unit.includes]
    command = [target.compiler.path, *flags, *includes, "-c", name, "-o"]
    with cache.entry("objects", key) as (folder, work):
        # The linker's map contains the objects' names, which must not depend on the cache.
        output = f"{unit.source.stem}{unit.source.suffix.replace('.', '_')}.o"
        if work is not None:
            made = [*command, cache.relative(work / output, ROOT)]
            toolchain.run(made, f"compiling {name}")
        command.append(cache.relative(folder / output, ROOT))
        return folder / output, work is None, command


def _label(source: Path) -> str:
    """Return a source's name that is independent of where a checkout or a user's folder lies."""
    for folder in sources_of():
        if source.is_relative_to(folder.parent):
            return cache.relative(source, folder)
    return cache.relative(source, ROOT)


def _around_primitive(
    target: Target, implementation: Implementation, optimisation: str, *, stand_in: bool
) -> Program:
    """Return the harness around a primitive, or around a stand-in that does nothing."""
    toolchain.check_optimisation(optimisation)
    # The caller checks accelerators: a target describes a chip, but an accelerator may be in a
    # board's radio.
    if not implementation.runs_on(target.instruction_set, implementation.accelerators):
        mend = f"it is for {', '.join(sorted(implementation.cores or ()))}"
        raise InputError(f"does not run on {target.instruction_set}", str(implementation), mend)
    algorithm = implementation.algorithm
    kind = algorithm.contract
    texts = dict(target.headers)
    prefix = "wired" if stand_in else algorithm.prefix
    texts["primitive.h"] = headers.alias(kind, prefix, "primitive", algorithm.sizes)
    texts["kind.h"] = headers.kind_header(kind)
    texts["slots.c"] = headers.slots_source(kind, algorithm.sizes)
    if algorithm.over is not None:
        over = algorithm.over
        texts["over.h"] = headers.alias(over.contract, over.prefix, over.kind, over.sizes)
    if stand_in:
        texts |= headers.stand_in(kind, algorithm.sizes)
    generated = _generated(texts)
    base = (*target.include_folders, FIRMWARE / "hal", generated, FIRMWARE / "primitives")

    if stand_in:
        defines: tuple[str, ...] = ()
        folders: list[Path] = [kind.folder]
        own = [Unit(generated / "wired.c", (*folders, *base), _FIXED)]
    else:
        defines = tuple(f"-D{k}={v}" for k, v in sorted(implementation.defines.items()))
        folders = [f for part in implementation.parts for f in part.include_folders]
        own = []
        for number, part in enumerate(implementation.parts):
            rest = [*implementation.parts[number:], *implementation.parts[:number]]
            includes = tuple(dict.fromkeys(f for p in rest for f in p.include_folders))
            flags = (f"-{optimisation}", *defines)
            own += [Unit(source, (*includes, *base), flags) for source in part.sources]
    rooms = (slot.room(algorithm.sizes) for slot in kind.file.slot.values())
    is_wide = max(target.ram_bytes - 1, *rooms) > _NARROW_MAX
    fixed = (*_FIXED, "-DHARNESS_WIDE") if is_wide else _FIXED
    harness = [
        Unit(_HARNESS / name, (_HARNESS, *base), fixed)
        for name in ("main.c", "harness.c", "command-frame.c")
    ]
    harness += [
        Unit(kind.folder / "kind.c", (_HARNESS, *folders, *base), (*fixed, *defines)),
        Unit(generated / "slots.c", (_HARNESS, *base), fixed),
    ]
    options = _FIXED if stand_in else (f"-{optimisation}",)
    flags_text = " ".join([*options, *target.flags, *defines])
    return Program(
        parts=(
            Part("runtime", "runtime", _runtime(target, base)),
            Part("harness", "harness", tuple(harness)),
            Part(memory.PRIMITIVE, "primitive", tuple(own)),
        ),
        description={
            "protocol": str(WIDE_PROTOCOL if is_wide else PROTOCOL),
            "primitive": f"identity of {algorithm.kind}" if stand_in else algorithm.name,
            "implementation": "wired" if stand_in else implementation.name,
            "compiler": target.compiler.version,
            "flags": flags_text,
            **target.description,
            "operations": ",".join(kind.file.operation),
            "slots": ",".join(kind.file.slot),
            "message_bytes": str(algorithm.room("message")),
        },
        flags=flags_text,
    )


def _runtime(target: Target, base: tuple[Path, ...]) -> tuple[Unit, ...]:
    return tuple(Unit(source, base, _FIXED) for source in target.sources)


def _description_source(text: str) -> str:
    lines = "\n".join(f"    {json.dumps(line + chr(10))}" for line in text.splitlines())
    return (
        '#include "description.h"\n'
        f"const char description[] =\n{lines};\n"
        "const uint16_t description_bytes = sizeof description - 1;\n"
    )


def _description_script(text: str) -> str:
    """Return the description as a linker script: compiling it would take longer than linking."""
    data = text.encode()
    lines = [" ".join(f"BYTE({b:#04x})" for b in data[i : i + 12]) for i in range(0, len(data), 12)]
    end = ". = ALIGN(2); description_bytes = .;"
    return "\n".join(["description = .;", *lines, end, f"SHORT({len(data)})", ""])


def _make(target: Target, program: Program, sources: Sources) -> BuiltImage:
    """Compile a program's parts and link them."""
    compiled = [
        (part, *_compile(target, unit, sources)) for part in program.parts for unit in part.units
    ]
    description = dict(program.description)
    flags = map(target.linker_flag, program.linker_flags)
    target = replace(target, link=(*target.link, *flags))
    link_parts: list[str | bytes] = [
        _ENTRY,
        target.linker_version,
        target.linker_script,
        *target.link,
    ]
    for part, path, *_ in compiled:
        # What was compiled, not its text: a comment makes no other image.
        link_parts += [part.name, part.role, path.read_bytes()]
    link_parts += [text for item in sorted(description.items()) for text in item]
    build_id = cache.digest(link_parts)
    description = {"protocol": description["protocol"], "build": build_id[:16], **description}
    commands = [command for *_, command in compiled]
    cached = all(there for _, _, there, _ in compiled)
    text = "".join(f"{k}={v}\n" for k, v in description.items())
    objects = [(part, path) for part, path, *_ in compiled]
    if not target.linker_script:
        source = _generated({"description.c": _description_source(text)}) / "description.c"
        described, _, command = _compile(target, Unit(source, (_HARNESS,), _FIXED), sources)
        commands.append(command)
        objects.append((Part("harness", "harness", ()), described))
    linked = _linked(objects)
    commands.append([*target.link, *linked, "-o", "image.elf", *target.link_end])
    with cache.entry("images", build_id) as (folder, work):
        if work is not None:
            cached = False
            (work / "description.txt").write_text(text)
            if target.linker_script:
                (work / "linker.ld").write_text(target.linker_script)
                (work / "description.ld").write_text(_description_script(text))
            _link(target, linked, work, commands[-1], BUILD / "failed" / build_id[:40])
    _keep(commands, folder / "commands.json")
    return BuiltImage(
        folder / "image.elf",
        build_id[:16],
        description,
        target.compiler.version,
        program.flags,
        cached,
    )


def _linked(objects: list[tuple[Part, Path]]) -> dict[str, tuple[str, Path]]:
    """Return the names to link objects by, which do not depend on the cache: part and object."""
    return {
        f"{number:02}-{part.role}-{path.name}": (part.name, path)
        for number, (part, path) in enumerate(objects)
    }


def _link(
    target: Target, linked: dict[str, tuple[str, Path]], work: Path, command: list[str], kept: Path
) -> None:
    """Link in a separate folder, so that no name in the result depends on the cache."""
    for name, (_, path) in linked.items():
        shutil.copyfile(path, work / name)
    toolchain.run(command, "linking", work, kept)
    if target.linker_script:
        image = work / "image.elf"
        library = bool(target.link_end)
        memory.attribute(image, linked, library=library).save(work)


def _keep(commands: list[list[str]], path: Path) -> None:
    """Write the commands of an image beside it, if they are not there.

    Another checkout, perhaps gone since, may have built the same image from sources of its own:
    lines, and what they declare, are those of the sources that were asked for last.
    """
    text = json.dumps(commands)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_whole(path, text.encode(), "an image's commands")


def build_local(
    implementation: Implementation,
    *,
    compiler: str = "clang",
    optimisation: str = "O2",
    sanitize: bool = False,
    architecture: Architecture | None = None,
    witness: Path | None = None,
) -> BuiltImage:
    """Build an image as a program for this machine; it uses standard input and output.

    Args:
        implementation: the implementation to build.
        compiler: `clang`, `gcc` or the name of a clang.
        optimisation: `O3`, `O2`, `Os` or `O0`.
        sanitize: stop at the first undefined behaviour or invalid memory access.
        architecture: architecture of another machine to build for.
        witness: a source in place of the marker's, which learns where windows begin and end and,
            as `__wrap_hal_serial_read`, of each byte that is read; the program is then at fixed
            addresses and has debug information.

    Raises:
        BuildError: the compiler or linker rejects the program.
        InputError: an option is invalid, or the implementation does not run here.
        ToolError: the compiler is missing.
    """
    target = host_target(compiler, sanitize=sanitize, architecture=architecture, witness=witness)
    program = _around_primitive(target, implementation, optimisation, stand_in=False)
    return _make(target, program, Sources())


_PLACED = "    *-primitive-*.o(.text"
"""Line of linker scripts before which the primitive's code begins."""


def _placed(target: Target, offset_bytes: int) -> Target:
    """Return a target whose images have the primitive's code this much further on."""
    if _PLACED not in target.linker_script:
        what = f"its linker script places no primitive's code: {target.instruction_set}"
        raise InputError(what, "--placements", "leave it out")
    moved = target.linker_script.replace(_PLACED, f"    . += {offset_bytes};\n{_PLACED}", 1)
    return replace(target, linker_script=moved)


def build_image(
    implementation: Implementation,
    board: Board,
    *,
    clock: str | None = None,
    compiler: str = "clang",
    optimisation: str = "O3",
    offset_bytes: int = 0,
    sources: Sources | None = None,
) -> BuiltImage:
    """Build an image for a board.

    Args:
        implementation: the implementation to build.
        board: the board to build for.
        clock: one of the board's clock profiles; the board's default if none is given.
        compiler: `clang`, `gcc` or the name of a clang.
        optimisation: `O3`, `O2`, `Os` or `O0`.
        offset_bytes: how much further on in flash the primitive's code begins: with line buffers
            or a cache, time depends on addresses.
        sources: share one between all images that are built from the same state of the tree.

    Raises:
        BuildError: the compiler or linker rejects the program.
        InputError: an option is invalid, or the implementation does not run on this chip.
        ToolError: the compiler is missing.
    """
    sources = sources or Sources()
    made_for = (board.name, clock, compiler)
    target = sources.once(made_for, lambda: board_target(board, clock, compiler))
    kept = sources
    stand_in = sources.once(
        (*made_for, implementation.algorithm.name),
        lambda: _make(
            target,
            _around_primitive(target, implementation, optimisation, stand_in=True),
            kept,
        ),
    )
    program = _around_primitive(target, implementation, optimisation, stand_in=False)
    image = _make(_placed(target, offset_bytes) if offset_bytes else target, program, sources)
    return replace(image, stand_in=stand_in.path, cached=image.cached and stand_in.cached)


RADIO = "radio"
"""The interface of programs that send and receive."""


def wired_on(board: Board, wiring: Mapping[str, str]) -> dict[str, str]:
    """Return the parts behind interfaces on a board; `radio` defaults to its radio's driver."""
    driver = board.radio.driver if board.radio is not None else None
    return ({} if driver is None else {RADIO: driver}) | dict(wiring)


def build_program(
    name: str,
    board: Board,
    *,
    also: Sequence[str] = (),
    without: Sequence[str] = (),
    keep: Sequence[str] = (),
    wiring: Mapping[str, str] | None = None,
    define: Mapping[str, int] | None = None,
    clock: str | None = None,
    compiler: str = "clang",
    optimisation: str = "O3",
    sources: Sources | None = None,
) -> BuiltImage:
    """Build an image of an application and all parts that it needs, for a board.

    Args:
        name: the application's folder under `firmware`; its part.toml lists what it needs.
        board: the board to build for.
        also: parts to add although the application is unaware of them.
        without: parts to leave out. `memory.difference` of the images with and without a part is
            the part's price.
        keep: functions to keep in the image even if nothing calls them.
        wiring: folders of the parts behind the interfaces that parts are wired to (`wired` in their
            part.toml); `radio` defaults to the driver that the board's file names.
        define: macros for all parts, which override those of their files.
        clock: one of the board's clock profiles; the board's default if none is given.
        compiler: `clang`, `gcc` or the name of a clang.
        optimisation: `O3`, `O2`, `Os` or `O0`, for the parts.
        sources: share one between all images that are built from the same state of the tree.

    Raises:
        BuildError: the compiler or linker rejects the program.
        InputError: an option or a part's file is invalid.
        ToolError: the compiler is missing.
    """
    toolchain.check_optimisation(optimisation)
    sources = sources or Sources()
    target = sources.once(
        (board.name, clock, compiler), lambda: board_target(board, clock, compiler)
    )
    behind = wired_on(board, wiring or {})
    try:
        folders = parts.closure(name, also=tuple(also), without=tuple(without), wiring=behind)
    except parts.UnwiredError as error:
        if error.interface == RADIO:
            raise boards.without_driver(board.name) from error
        raise
    texts = dict(target.headers)
    over = parts.over(folders)
    if over is not None and over.kind is not None:
        kind = kinds.known()[over.kind]
        texts["over.h"] = headers.alias(kind, over.prefix, over.kind)
    base = (
        *target.include_folders,
        FIRMWARE / "hal",
        _generated(texts),
        FIRMWARE / "primitives",
    )
    operations = [name for part in folders for name in part.operations]
    commands = {"operations": ",".join(operations), "slots": "message,output"}
    defines = [f"-D{k}={v}" for k, v in sorted((define or {}).items())]
    flags = " ".join([f"-{optimisation}", *target.flags, *defines])
    program = Program(
        parts=(
            Part("runtime", "runtime", _runtime(target, base)),
            *parts.compiled(folders, base, (f"-{optimisation}",), define or {}),
        ),
        description={
            "protocol": str(PROTOCOL),
            "program": name,
            "parts": ",".join(part.name for part in folders),
            "compiler": target.compiler.version,
            "flags": flags,
            **target.description,
            **(commands if operations else {}),
        },
        flags=flags,
        linker_flags=(
            *(f"--wrap={name}" for name in sorted({w for part in folders for w in part.wraps})),
            *(f"--undefined={name}" for name in keep),
        ),
    )
    return _make(target, program, sources)
