"""Generate C for a kind of primitive from the kind's file.

The numbers of its slots and operations, the slots themselves, aliases for a primitive's functions,
and a primitive that does nothing.
"""

import re
from collections.abc import Mapping

from joulemark.catalogue.kinds import Kind


def _identifier(name: str) -> str:
    return name.replace("-", "_")


def _guarded(name: str, lines: list[str]) -> str:
    guard = f"{_identifier(name).upper()}_H"
    return "\n".join([f"#ifndef {guard}", f"#define {guard}", *lines, "#endif", ""])


def alias(kind: Kind, prefix: str, name: str, sizes: Mapping[str, int] | None = None) -> str:
    """Generate a header that gives a primitive's functions the names of its role.

    Args:
        kind: the primitive's kind.
        prefix: the primitive's prefix.
        name: name of the role: `primitive`, or in a composition the name of the partner's kind.
        sizes: sizes that the primitive's file states, which its own header has to define alike;
            None if its variant is not known.
    """
    role = _identifier(name)
    lines = [f'#include "{prefix}.h"', f"typedef {prefix}_ctx {role}_ctx;"]
    functions = (*kind.functions, *kind.optional_functions)
    lines += [f"#define {role}_{f} {prefix}_{f}" for f in functions]
    for optional in kind.optional_functions:
        has = f"HAS_{optional.upper()}"
        lines += [f"#ifdef {prefix.upper()}_{has}", f"#define {role.upper()}_{has}", "#endif"]
    constants = [
        f"{role.upper()}_{c.upper()} = {prefix.upper()}_{c.upper()}" for c in kind.file.constants
    ]
    if constants:
        lines.append(f"enum {{ {', '.join(constants)} }};")
    stated = {} if sizes is None else {name: sizes[name] for name in kind.file.constants}
    for constant, size in stated.items():
        own = f"{prefix.upper()}_{constant.upper()}"
        said = f"primitive.toml says {size} for {constant}"
        lines.append(f'_Static_assert({own} == {size}, "{said}");')
    return _guarded(f"{role}_alias", lines)


def kind_header(kind: Kind) -> str:
    """Generate a header with the numbers of a kind's slots and operations."""
    slots = [f"SLOT_{name.upper()}" for name in kind.file.slot]
    operations = [f"OPERATION_{_identifier(name).upper()}" for name in kind.file.operation]
    lines = [
        f"enum {{ {', '.join((*slots, 'SLOTS'))} }};",
        f"enum {{ {', '.join((*operations, 'OPERATIONS'))} }};",
    ]
    if {"message", "output"} <= set(kind.file.slot):
        lines.append("#define KIND_HAS_MESSAGE_AND_OUTPUT")
    return _guarded("kind", lines)


def slots_source(kind: Kind, sizes: Mapping[str, int]) -> str:
    """Generate the definitions of a kind's slots, as large as a variant with these sizes needs."""
    lines = ['#include "harness.h"', '#include "kind.h"', '#include "noinit.h"']
    for name, slot in kind.file.slot.items():
        aligned = "_Alignas(uintptr_t)"
        lines.append(f"static HAL_NOINIT {aligned} uint8_t slot_{name}_bytes[{slot.room(sizes)}];")
    lines.append("slot slots[SLOTS] = {")
    for name in kind.file.slot:
        room = f"slot_{name}_bytes"
        lines.append(f"    [SLOT_{name.upper()}] = {{{room}, 0, sizeof {room}}},")
    cleared = sum(slot.cleared << i for i, slot in enumerate(kind.file.slot.values()))
    lines += [
        "};",
        "const uint8_t slot_count = SLOTS;",
        f"const uint16_t slots_cleared = {cleared:#x};",
    ]
    for name, constant in (("message", ""), ("output", ""), ("pieces", "const ")):
        place = f"&slots[SLOT_{name.upper()}]" if name in kind.file.slot else "NULL"
        lines.append(f"{constant}slot *const slot_{name} = {place};")
    return "\n".join([*lines, ""])


def stand_in(kind: Kind, sizes: Mapping[str, int]) -> dict[str, str]:
    """Generate a primitive that does nothing, so that the code of the harness does not change.

    Args:
        kind: kind of the primitive that it stands in for.
        sizes: sizes of that primitive.
    """
    common = f"{kind.name}.h"
    include = common if (kind.folder / common).is_file() else "crypto.h"
    declared = [re.sub(r"\bp_", "wired_", f) for f in kind.file.functions]
    constants = [f"WIRED_{c.upper()} = {sizes[c]}" for c in kind.file.constants]
    lines = [f'#include "{include}"', "typedef struct {", "    uint16_t unused;", "} wired_ctx;"]
    enum = [f"enum {{ {', '.join(constants)} }};"] if constants else []
    header = _guarded("wired", [*lines, *enum, *(f"{f};" for f in declared)])
    # The header is not included because its constants differ: one object serves the whole kind.
    bodies = list(lines)
    for function in declared:
        arguments = function.partition("(")[2].rstrip(")")
        names = re.findall(r"(\w+)(?:\[\w*\])?(?:,|$)", arguments)
        unused = [f"    (void){name};" for name in names if name != "void"]
        result = [] if function.startswith("void ") else ["    return 0;"]
        bodies += [f"{function} {{", *unused, *result, "}"]
    return {"wired.h": header, "wired.c": "\n".join([*bodies, ""])}
