"""Somebody's implementation in mupq's layout, as a folder of one's own primitives.

mupq (github.com/mupq/mupq) is how implementations of post-quantum schemes for microcontrollers are
exchanged: a folder with `api.h` and the functions that it declares, `crypto_kem_keypair` to
`crypto_sign_verify`, which call `randombytes` and a hash interface. Its parent folder has the
scheme's name. The hash interface is that of the checkout that the folder is in, with the assembly
of its platform, as mupq's own makefiles link it; where there is none, it is Joulemark's own.

mlkem-native and mldsa-native (github.com/pq-code-package) are measured as they come, too: a folder
with `mlkem_native.c`, all variants of which are one unit each, in portable C.
"""

import glob
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from joulemark.catalogue.near import near
from joulemark.catalogue.primitives import NAME, Algorithm, Primitive, library
from joulemark.errors import InputError
from joulemark.project import BUILD, FIRMWARE

_OURS = FIRMWARE / "mupq"
_KINDS = ("kem", "signature")
"""Kinds that can be measured so."""
_NATIVE = {"mlkem_native.c": "kem/ml-kem", "mldsa_native.c": "signature/ml-dsa"}
"""The unit that is a whole library of a primitive."""
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)
_SUFFIXES = (".c", ".S", ".s")


def source(folder: Path) -> Path:
    """Return a folder for `--source` that describes an implementation as it stands.

    Args:
        folder: the implementation's, such as `crypto_kem/ml-kem-512/m4fspeed`.

    Raises:
        InputError: it is no folder, has no api.h or no sources, or its scheme is no primitive here.
    """
    # Not resolved: sources that are links include what is beside the link.
    folder = Path(os.path.normpath(Path.cwd() / folder))
    if not folder.is_dir():
        raise InputError("there is no such folder", f"--mupq {folder}")
    for unit, path in _NATIVE.items():
        if (folder / unit).is_file():
            return _native(folder, unit, library().primitives[path])
    if not (folder / "api.h").is_file():
        mend = "name an implementation's folder, such as crypto_kem/ml-kem-512/m4fspeed"
        raise InputError("there is no api.h in it", f"--mupq {folder}", mend)
    # Implementations share sources by links.
    if away := sorted(path.name for path in folder.iterdir() if not path.exists()):
        mend = "check out the whole repository"
        raise InputError(
            f"{away[0]} is a link to a file that is not there", f"--mupq {folder}", mend
        )
    algorithm = _algorithm(folder)
    own = sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES)
    if not own:
        what = f"there is no source in it ({', '.join(_SUFFIXES)})"
        raise InputError(what, f"--mupq {folder}")
    name = "mupq-" + re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-")
    primitive = algorithm.primitive
    made, where = _places(folder, primitive, name)
    commons = list(_commons(folder))
    sources = [*own, *_of_interface(own, folder, commons)]
    includes = [folder, *commons, _OURS]
    prefix = primitive.file.prefix
    _describe(
        where,
        f"{folder.parent.name}/{folder.name} as it stands",
        # Their C is GNU's, in which this is a word of the language.
        {"asm": "__asm__", "MUPQ": 1},
        includes,
        f'variants = ["{algorithm.name}"]\n'
        f"sources = {json.dumps([glob.escape(path) for path in _relative(sources, where)])}\n",
    )
    _write(
        where / f"{prefix}.c",
        f'#include "{prefix}.h"\n#include "api.h"\n\n'
        f"#define MUPQ_NAME(function) {prefix}##function\n"
        f'#include "{algorithm.kind}.inc"\n',
    )
    return made


def _native(folder: Path, unit: str, primitive: Primitive) -> Path:
    """Describe mlkem-native or mldsa-native, whose every source is included by one."""
    name = unit.removesuffix(".c").replace("_", "-")
    made, where = _places(folder, primitive, name)
    prefix, header = primitive.file.prefix, f"native-{primitive.kind}.h"
    _describe(where, f"{name} as it comes, in C", {"MUPQ": 1}, [folder, _OURS])
    _write(where / "native.c", f'#include "{header}"\n#include "{unit}"\n')
    _write(
        where / f"{prefix}.c",
        f'#include "{prefix}.h"\n#include "{header}"\n\n'
        f"#define MUPQ_NAME(function) {prefix}##function\n"
        f'#include "{primitive.kind}.inc"\n',
    )
    return made


def _places(folder: Path, primitive: Primitive, name: str) -> tuple[Path, Path]:
    """Return the folder for `--source`, and that of an implementation in it."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
    made = BUILD / "mupq" / f"{folder.parent.name}-{folder.name}-{digest}"
    return made, made / primitive.path / name


def _describe(
    where: Path,
    description: str,
    define: Mapping[str, int | str],
    include: Iterable[Path],
    more: str = "",
) -> None:
    """Write an implementation.toml."""
    defines = ", ".join(f"{name} = {json.dumps(value)}" for name, value in define.items())
    where.mkdir(parents=True, exist_ok=True)
    _write(
        where / "implementation.toml",
        f'description = "{description}"\n'
        f'method = "mupq\'s layout"\n'
        "secret_independent = false # nobody claims it here\n"
        "word_bits = 32\n"
        f"{more}"
        f"include = {json.dumps(_relative(include, where))}\n"
        f"define = {{ {defines} }}\n",
    )


def _algorithm(folder: Path) -> Algorithm:
    scheme = folder.parent.name
    known = {
        name: algorithm
        for name, algorithm in library().algorithms.items()
        if algorithm.kind in _KINDS and algorithm.over is None
    }
    if not re.fullmatch(NAME, scheme) or scheme not in known:
        what = f"no primitive here is named {scheme}, as its parent folder is"
        where = f"--mupq {folder}"
        raise InputError(f"{what}: there would be no oracle", where, near(scheme, known))
    return known[scheme]


def _commons(folder: Path) -> Iterator[Path]:
    """Yield the folders of the checkout's hash interface, the platform's own first."""
    for parent in folder.parents:
        found = [c for c in (parent / "common", parent / "mupq/common") if c.is_dir()]
        if any((common / "fips202.h").is_file() for common in found):
            yield from found
            return


def _of_interface(own: Iterable[Path], folder: Path, commons: list[Path]) -> list[Path]:
    """Return the sources of the interface that the implementation includes, directly or not."""
    found: dict[str, Path] = {}
    # What calls `randombytes` draws the inputs of the operation; the board has a HAL of its own.
    seen = {"randombytes", "hal"}
    waiting = [*own, *folder.glob("*.h"), *folder.glob("*.i")]
    while waiting:
        for header in _INCLUDE.findall(waiting.pop().read_text(encoding="utf-8", errors="replace")):
            stem = Path(header).stem
            if stem in seen or (folder / header).exists():
                continue
            seen.add(stem)
            for common in commons or [_OURS]:
                for path in sorted(common.glob(f"{stem}*")):
                    # The platform's comes first, and replaces what has the same name.
                    is_source = path.suffix in _SUFFIXES and "test" not in path.stem
                    if is_source and path.stem not in found:
                        found[path.stem] = path
                        waiting.append(path)
                    elif path.suffix == ".h" and path.is_file():
                        waiting.append(path)
    return list(found.values())


def _relative(paths: Iterable[Path], to: Path) -> list[str]:
    return [os.path.relpath(path, to) for path in paths]


def _write(path: Path, text: str) -> None:
    """Write a file unless it is the same already: its time would change what is built."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
