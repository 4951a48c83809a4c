"""Headers that the build writes: which primitive the harness, or a composition, is built around."""

from collections.abc import Mapping

from joulemark.catalogue.primitives import Algorithm

FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    "identity": ("nothing",),
    "block-cipher": ("init", "encrypt", "decrypt"),
    "stream-cipher": ("init", "encrypt"),
    "hash": ("init", "update", "final"),
    "mac": ("init", "update", "final"),
    "mode": ("init", "encrypt", "decrypt"),
    "aead": ("init", "encrypt", "decrypt"),
}
"""Functions of each kind, without their prefix (firmware/primitives/KIND/KIND.h)."""

OPTIONAL_FUNCTIONS: Mapping[str, tuple[str, ...]] = {"block-cipher": ("sct",)}
"""Functions that some of a kind have, for the compositions that are built over those."""

CONSTANTS: Mapping[str, tuple[str, ...]] = {
    "identity": (),
    "block-cipher": ("KEY_BYTES", "BLOCK_BYTES"),
    "stream-cipher": ("KEY_BYTES", "NONCE_BYTES"),
    "hash": ("DIGEST_BYTES", "BLOCK_BYTES"),
    "mac": ("KEY_BYTES", "TAG_BYTES"),
    "mode": ("KEY_BYTES", "IV_BYTES"),
    "aead": ("KEY_BYTES", "NONCE_BYTES", "TAG_BYTES"),
}


def alias(kind: str, prefix: str, name: str) -> str:
    """Write a header that gives a primitive's functions the names of their role.

    Args:
        kind: of the primitive.
        prefix: of the primitive.
        name: of the role: `primitive`, or a kind's name in a composition.
    """
    role = name.replace("-", "_")
    guard = f"{role.upper()}_ALIAS_H"
    lines = [f"#ifndef {guard}", f"#define {guard}", f'#include "{prefix}.h"']
    lines.append(f"typedef {prefix}_ctx {role}_ctx;")
    functions = (*FUNCTIONS[kind], *OPTIONAL_FUNCTIONS.get(kind, ()))
    lines += [f"#define {role}_{f} {prefix}_{f}" for f in functions]
    constants = [f"{role.upper()}_{c} = {prefix.upper()}_{c}" for c in CONSTANTS[kind]]
    if constants:
        lines.append(f"enum {{ {', '.join(constants)} }};")
    return "\n".join([*lines, "#endif", ""])


def stub_defines(algorithm: Algorithm) -> dict[str, int]:
    """Sizes for the identity of a kind, so that the harness around it is the same code."""
    return {f"WIRED_{c}": algorithm.sizes.get(c.lower(), 0) for c in CONSTANTS[algorithm.kind]}
