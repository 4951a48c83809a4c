"""Somebody's implementation in a layout of the field, as a folder of one's own primitives.

SUPERCOP (bench.cr.yp.to) is how implementations of symmetric cryptography are exchanged, and NIST's
lightweight project took its layout: a folder with `api.h`, which states sizes, and the functions of
an operation, such as `crypto_aead_encrypt`. Its parent folder has the algorithm's name.

mupq (github.com/mupq/mupq) is how implementations of post-quantum schemes for microcontrollers are
exchanged: the same layout, with `crypto_kem_keypair` to `crypto_sign_verify`, which call
`randombytes` and a hash interface. The hash interface is that of the checkout that the folder is
in, with the assembly of its platform, as mupq's own makefiles link it; where there is none, it is
Joulemark's own.

mlkem-native and mldsa-native (github.com/pq-code-package) are measured as they come, too: a folder
with `mlkem_native.c`, all variants of which are one unit each, in portable C.
"""

import glob
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from joulemark.catalogue import instruction_sets
from joulemark.catalogue.near import near
from joulemark.catalogue.primitives import Algorithm, Primitive, library
from joulemark.errors import InputError
from joulemark.project import BUILD, FIRMWARE

_MUPQ, _SUPERCOP = FIRMWARE / "mupq", FIRMWARE / "supercop"
_NATIVE = {"mlkem_native.c": "kem/ml-kem", "mldsa_native.c": "signature/ml-dsa"}
"""The unit that is a whole library of a primitive."""
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)
_DEFINED = re.compile(r"^\s*#\s*define\s+(CRYPTO_[A-Z]+)\s+\(?(\d+)\)?\s*$", re.MULTILINE)
_SUFFIXES = (".c", ".S", ".s")
_READ = (*_SUFFIXES, ".h", ".i", ".inc")
_VERSION = re.compile(r"(?<=.)(v|round)[0-9]+$")
"""What follows an algorithm's name in SUPERCOP: `tinyjambu128v2`."""


@dataclass(frozen=True)
class _Interface:
    """What SUPERCOP calls for a kind of primitive."""

    functions: tuple[str, ...]
    """The first of these that an implementation has is called."""
    sizes: Mapping[str, str]
    """The macro of its api.h for each of the kind's sizes; others are the algorithm's."""
    operations: tuple[str, ...]
    """The kind's operations that a call for a whole message can be."""
    context: tuple[str, ...]


_WHOLE = ("const uint8_t *message", "size_t length")
_INTERFACES = {
    "aead": _Interface(
        ("crypto_aead_encrypt",),
        {
            "key_bytes": "CRYPTO_KEYBYTES",
            "nonce_bytes": "CRYPTO_NPUBBYTES",
            "tag_bytes": "CRYPTO_ABYTES",
        },
        ("encrypt", "decrypt"),
        ("uint8_t key[CRYPTO_KEYBYTES]",),
    ),
    "hash": _Interface(("crypto_hash",), {"digest_bytes": "CRYPTO_BYTES"}, ("hash",), _WHOLE),
    "mac": _Interface(
        ("crypto_auth", "crypto_onetimeauth"),
        {"key_bytes": "CRYPTO_KEYBYTES", "tag_bytes": "CRYPTO_BYTES"},
        ("mac",),
        ("uint8_t key[CRYPTO_KEYBYTES]", *_WHOLE),
    ),
    "stream-cipher": _Interface(
        ("crypto_stream_xor",),
        {"key_bytes": "CRYPTO_KEYBYTES", "nonce_bytes": "CRYPTO_NONCEBYTES"},
        ("encrypt",),
        ("uint8_t key[CRYPTO_KEYBYTES]", "uint8_t nonce[CRYPTO_NONCEBYTES]"),
    ),
}
_OF_MUPQ = ("kem", "signature")
_HEADERS = {
    **{
        f"crypto_{name}.h": '#include "supercop.h"\n'
        for name in ("aead", "hash", "auth", "onetimeauth", "stream")
    },
    **{f"crypto_verify_{size}.h": '#include "supercop.h"\n' for size in (8, 16, 32)},
    **{
        f"crypto_{name}.h": f"#include <stdint.h>\ntypedef {name}_t crypto_{name};\n"
        for name in (f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
    },
}
"""What SUPERCOP writes for each implementation."""


def source(folder: Path, named: str | None = None) -> Path:
    """Return a folder for `--source` that describes an implementation as it stands.

    Args:
        folder: the implementation's, such as `crypto_aead/asconaead128/ref`.
        named: the algorithm, if its parent folder does not have its name.

    Raises:
        InputError: it is no folder, has no api.h or no sources, is for no core of a board, is of no
            primitive here, or is not what its api.h or its functions have to be.
    """
    # Not resolved: sources that are links include what is beside the link.
    folder = Path(os.path.normpath(Path.cwd() / folder))
    if folder.is_file():
        mend = f"name the folder that has api.h, such as {folder.parent}"
        raise InputError("is a file", str(folder), mend)
    if not folder.is_dir():
        raise InputError("there is no such folder", str(folder))
    for unit, path in _NATIVE.items():
        if (folder / unit).is_file():
            if named is not None:
                raise InputError(f"{unit} is all of {path}", "--as", "--primitive names one of it")
            return _native(folder, unit, library().primitives[path])
    if not (folder / "api.h").is_file():
        found = [*folder.glob("*/api.h"), *folder.glob("*/*/api.h")]
        inside = sorted(str(path.parent.relative_to(folder)) for path in found)
        mend = "name an implementation's folder, such as crypto_aead/asconaead128/ref"
        if inside:
            more = f", and {len(inside) - 8} more" if len(inside) > 8 else ""
            mend = f"name one of {', '.join(inside[:8])}{more}"
        raise InputError("there is no api.h in it", str(folder), mend)
    # Implementations share sources by links.
    if away := sorted(path.name for path in folder.iterdir() if not path.exists()):
        mend = "check out the whole repository"
        raise InputError(f"{away[0]} is a link to a file that is not there", str(folder), mend)
    algorithm = _algorithm(folder, named)
    own = sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES)
    if not own:
        raise InputError(f"there is no source in it ({', '.join(_SUFFIXES)})", str(folder))
    if algorithm.kind in _OF_MUPQ:
        return _of_mupq(folder, algorithm, own)
    return _of_supercop(folder, algorithm, own)


def _of_mupq(folder: Path, algorithm: Algorithm, own: Sequence[Path]) -> Path:
    """Describe a KEM or a signature, with the hash interface that it includes."""
    made, where = _places(folder, algorithm.primitive, _name("mupq", folder), of=algorithm.name)
    commons = list(_commons(folder))
    _describe(
        where,
        folder,
        # Their C is GNU's, in which this is a word of the language.
        {"asm": "__asm__", "MUPQ": 1},
        [folder, *commons, _MUPQ],
        sources=[*own, *_of_interface(own, folder, commons)],
        keys={"variants": [algorithm.name]},
    )
    _write_calls(where, algorithm.primitive, ["api.h"])
    return made


def _of_supercop(folder: Path, algorithm: Algorithm, own: Sequence[Path]) -> Path:
    """Describe what has a function of SUPERCOP's for the kind of an algorithm."""
    interface = _INTERFACES[algorithm.kind]
    function = _function(folder, algorithm, interface)
    _check_sizes(folder, algorithm, interface)
    primitive = algorithm.primitive
    made, where = _places(folder, primitive, _name("supercop", folder), of=algorithm.name)
    keys: dict[str, object] = {
        "variants": [algorithm.name],
        "operations": interface.operations,
    }
    if cores := _cores(folder):
        keys["cores"] = cores
    if algorithm.kind == "aead":
        # A tag lies behind its ciphertext, in the same buffer.
        room = algorithm.room("message")
        keys |= {"together.sizes": ["message", "tag_bytes"], "together.bytes_max": room}
    # A checkout of SUPERCOP has headers of its own beside the operations.
    shared = [
        top / "include" for top in folder.parents if (top / "include/randombytes.h").is_file()
    ]
    includes = [folder, _SUPERCOP, *shared[:1]]
    _describe(where, folder, {"asm": "__asm__"}, includes, sources=own, keys=keys)
    prefix, contract = primitive.file.prefix, algorithm.contract
    common = f"{contract.name}.h"
    sizes = {name: interface.sizes.get(name) for name in contract.file.constants}
    constants = [
        f"{prefix.upper()}_{name.upper()} = {macro or algorithm.sizes[name]}"
        for name, macro in sizes.items()
    ]
    declared = [re.sub(r"\bp_", f"{prefix}_", each) for each in contract.file.functions]
    guard = f"{prefix.upper()}_H"
    lines = [
        f"#ifndef {guard}",
        f"#define {guard}",
        f'#include "{common if (contract.folder / common).is_file() else "crypto.h"}"',
        '#include "api.h"',
        f"enum {{ {', '.join(constants)} }};",
        "typedef struct {",
        *(f"    {member};" for member in interface.context),
        f"}} {prefix}_ctx;",
        *(f"{each};" for each in declared),
        "#endif",
    ]
    for header, text in {**_HEADERS, f"{prefix}.h": "\n".join([*lines, ""])}.items():
        _write(where / header, text)
    _write_calls(where, primitive, [], f"#define LAYOUT_CALL {function}\n")
    return made


def _function(folder: Path, algorithm: Algorithm, interface: _Interface) -> str:
    """Return the function to call.

    Raises:
        InputError: no file of the folder has one.
    """
    texts = [_text(path) for path in folder.iterdir() if path.suffix in _READ]
    for function in interface.functions:
        if any(re.search(rf"\b{function}\b", text) for text in texts):
            return function
    kinds = {k for k, i in _INTERFACES.items() for f in i.functions for t in texts if f in t}
    what = f"{algorithm} needs {' or '.join(interface.functions)}, which no file in it has"
    mend = f"it has an algorithm of kind {' and '.join(sorted(kinds))}: say which by --as"
    raise InputError(what, str(folder), mend if kinds else None)


def _check_sizes(folder: Path, algorithm: Algorithm, interface: _Interface) -> None:
    """Compare the sizes in api.h with the algorithm's.

    The compiler compares those that are no plain numbers.

    Raises:
        InputError: one is missing or another.
    """
    path = folder / "api.h"
    text = _text(path)
    stated = {name: int(value) for name, value in _DEFINED.findall(text)}
    for size, macro in interface.sizes.items():
        if macro not in text:
            kind = "an AEAD" if algorithm.kind == "aead" else f"a {algorithm.kind}"
            mend = f"{kind} needs {', '.join(interface.sizes.values())}"
            raise InputError(f"there is no {macro}", str(path), mend)
        wanted = algorithm.sizes[size]
        if stated.get(macro, wanted) != wanted:
            what = f"{macro} is {stated[macro]}, but {algorithm} has {size} {wanted}"
            raise InputError(what, str(path), "--as ALGORITHM names another")
    if secret := stated.get("CRYPTO_NSECBYTES", 0):
        what = f"CRYPTO_NSECBYTES is {secret}, and no primitive here has secret nonces"
        raise InputError(what, str(path))


def _cores(folder: Path) -> list[str]:
    """Return the cores that an implementation's file `architectures` names; none without it.

    Raises:
        InputError: no board has one of them.
    """
    path = folder / "architectures"
    if not path.is_file():
        return []
    named = _text(path).split()
    cores = [
        core
        for core in instruction_sets.names()
        if set(named) & set(instruction_sets.load(core).supercop)
    ]
    if not cores:
        what = f"it is for {', '.join(named)}, and no board here is"
        raise InputError(what, str(path), "name the folder of another implementation")
    return cores


def _native(folder: Path, unit: str, primitive: Primitive) -> Path:
    """Describe mlkem-native or mldsa-native, whose every source is included by one."""
    name = unit.removesuffix(".c").replace("_", "-")
    made, where = _places(folder, primitive, name, of=primitive.name)
    _describe(where, folder, {"MUPQ": 1}, [folder, _MUPQ], keys={})
    header = f"native-{primitive.kind}.h"
    _write(where / "native.c", f'#include "{header}"\n#include "{unit}"\n')
    _write_calls(where, primitive, [header])
    return made


def names(folder: Path) -> tuple[str, str]:
    """Return the names of an algorithm and an implementation, by the folders that they are in.

    They follow `crypto_OPERATION`, and an implementation's may be in several folders:
    `crypto_auth/siphash24/moon/armv6`. Without such a folder they are the last two.
    """
    parts = folder.parts
    starts = [n for n, part in enumerate(parts[:-2]) if re.fullmatch(r"crypto_[a-z_]+", part)]
    start = starts[-1] + 1 if starts else len(parts) - 2
    return parts[start], "/".join(parts[start + 1 :])


def _name(layout: str, folder: Path) -> str:
    """Return an implementation's name in results.

    Everybody's is `ref`; with its algorithm's folder, two versions of it stay apart in a store.
    """
    algorithm, name = names(folder)
    if layout == "supercop":
        name = f"{algorithm}-{name}"
    return f"{layout}-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _places(folder: Path, primitive: Primitive, name: str, *, of: str) -> tuple[Path, Path]:
    """Return the folder for `--source`, and that of an implementation of an algorithm in it."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
    made = BUILD / "layouts" / f"{name}-{of}-{digest}"
    return made, made / primitive.path / name


def _describe(
    where: Path,
    folder: Path,
    define: Mapping[str, int | str],
    include: Iterable[Path],
    *,
    sources: Iterable[Path] = (),
    keys: Mapping[str, object],
) -> None:
    """Write an implementation.toml."""
    defines = ", ".join(f"{name} = {json.dumps(value)}" for name, value in define.items())
    lists = {
        **keys,
        "sources": [glob.escape(path) for path in _relative(sources, where)],
        "include": _relative(include, where),
    }
    where.mkdir(parents=True, exist_ok=True)
    _write(
        where / "implementation.toml",
        f"description = {json.dumps(f'{folder.parent.name}/{folder.name} as it stands')}\n"
        'method = "its author\'s"\n'
        "secret_independent = false # nobody claims it here\n"
        "word_bits = 32\n"
        + "".join(f"{key} = {json.dumps(values)}\n" for key, values in lists.items())
        + f"define = {{ {defines} }}\n",
    )


def _write_calls(
    where: Path, primitive: Primitive, headers: Iterable[str], defined: str = ""
) -> None:
    """Write the source that has the primitive's functions and calls the implementation's."""
    prefix = primitive.file.prefix
    includes = "".join(f'#include "{header}"\n' for header in (f"{prefix}.h", *headers))
    named = f"#define LAYOUT_NAME(function) {prefix}##function\n"
    calls = f'#include "{primitive.kind}.inc"\n'
    _write(where / f"{prefix}.c", f"{includes}\n{named}{defined}{calls}")


def _algorithm(folder: Path, named: str | None) -> Algorithm:
    """Return the algorithm that is named, or that the parent folder is named after.

    Raises:
        InputError: there is none here.
    """
    known = {
        name: algorithm
        for name, algorithm in library().algorithms.items()
        if algorithm.kind in (*_INTERFACES, *_OF_MUPQ) and algorithm.over is None
    }
    if named is not None:
        if named not in known:
            what = f"no primitive that comes in such a layout is named {named}"
            raise InputError(what, "--as", near(named, known))
        return known[named]
    scheme, _ = names(folder)
    if scheme in known:
        return known[scheme]
    wanted = _plain(_VERSION.sub("", scheme))
    alike = [algorithm for name, algorithm in known.items() if _plain(name) == wanted]
    if len(alike) != 1:
        what = f"no primitive here is named {scheme}, as its folder is"
        mend = f"say which it is by --as ALGORITHM; {near(scheme, known)}"
        raise InputError(what, str(folder), mend)
    return alike[0]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


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
        for header in _INCLUDE.findall(_text(waiting.pop())):
            stem = Path(header).stem
            if stem in seen or (folder / header).exists():
                continue
            seen.add(stem)
            for common in commons or [_MUPQ]:
                for path in sorted(common.glob(f"{stem}*")):
                    # The platform's comes first, and replaces what has the same name.
                    is_source = path.suffix in _SUFFIXES and "test" not in path.stem
                    if is_source and path.stem not in found:
                        found[path.stem] = path
                        waiting.append(path)
                    elif path.suffix == ".h" and path.is_file():
                        waiting.append(path)
    return list(found.values())


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _relative(paths: Iterable[Path], to: Path) -> list[str]:
    return [os.path.relpath(path, to) for path in paths]


def _write(path: Path, text: str) -> None:
    """Write a file unless it is the same already: its time would change what is built."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
