"""Skeletons for users' additions: files to start from, with the gaps marked.

A skeleton is not a working stub: until it is filled in, it is refused or its output is wrong.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from joulemark.catalogue import boards, chips, kinds
from joulemark.catalogue.datafile import NOT_YET_CHECKED
from joulemark.catalogue.kinds import Kind
from joulemark.catalogue.near import near
from joulemark.catalogue.primitives import NAME, Primitive, library
from joulemark.errors import InputError

Files = Mapping[str, str]
"""Texts by path relative to the output folder."""


def primitive(name: str, like: str | None) -> Files:
    """Return an implementation of a primitive, and the primitive if it does not exist yet.

    Raises:
        InputError: the name is not KIND/NAME/IMPLEMENTATION, the kind does not exist, or the
            implementation does.
    """
    _no_like(like, "primitive")
    parts = name.split("/")
    if len(parts) != 3 or not all(re.fullmatch(NAME, part) for part in parts):
        mend = "write KIND/NAME/IMPLEMENTATION, such as block-cipher/aes/mine"
        raise InputError(f"{name!r} names no implementation", "NAME", mend)
    kind_name, own, implementation = parts
    known = kinds.known()
    if kind_name not in known:
        raise InputError(f"no such kind: {kind_name}", "NAME", near(kind_name, known))
    kind = known[kind_name]
    there = library().primitives.get(f"{kind_name}/{own}")
    variant = library().algorithms.get(own)
    if there is None and variant is not None:
        what, family = f"{own} is a variant of {variant.primitive.path}", variant.primitive.path
        mend = f'write {family}/{implementation}, with variants = ["{own}"] in its file'
        raise InputError(what, "NAME", mend)
    if there is not None and implementation in {part.name for part in there.parts}:
        what = f"{own} has an implementation {implementation} already"
        raise InputError(what, "NAME", "give another name")
    prefix = there.file.prefix if there else re.sub(r"\W", "_", own)
    variants = list(there.file.variant) if there else [own]
    folder = f"{kind_name}/{own}"
    files = {
        f"{folder}/{implementation}/implementation.toml": _implementation(variants),
        f"{folder}/{implementation}/{prefix}.h": _header(kind, prefix, there),
        f"{folder}/{implementation}/{prefix}.c": _source(kind, prefix),
    }
    if there is None:
        files[f"{folder}/primitive.toml"] = _primitive(kind, own, prefix)
        files[f"{folder}/vectors.toml"] = _vectors(kind, own)
        files[f"{folder}/oracle.py"] = _oracle(kind, own)
    return files


def _implementation(variants: list[str]) -> str:
    only = f"variants = {variants[:1]!r}".replace("'", '"')
    return f"""\
description = "one sentence: how it is written, and what is good about it"
method = "the paper or section that it follows"
secret_independent = false # true: neither time nor addresses depend on secrets; it is tried
word_bits = 32
# cores = ["armv7m"]       # where it runs, if not anywhere: assembly
# {only} # if it has not all variants
# Code that lies elsewhere, as seen from this folder:
# sources = ["../../../../library/src/*.c"]
# include = ["../../../../library/include"]
# define = {{ SOME_OPTION = 1 }}
"""


def _declarations(kind: Kind, prefix: str) -> list[str]:
    return [re.sub(r"\bp_", f"{prefix}_", function) for function in kind.file.functions]


def _value(size: str, there: Primitive | None) -> str:
    """Return a constant's value in C, as far as the primitive's variants agree on it."""
    variants = (there.file.variant or {there.name: there.file.sizes}) if there else {}
    known = {name: variant.sizes.get(size) for name, variant in variants.items()}
    if len(set(known.values())) == 1 and isinstance(value := known.popitem()[1], int):
        return f"{value},"
    values = ", ".join(f"{value} of {name}" for name, value in known.items() if value is not None)
    return f"0, // fill in{f': {values}' if values else ''}"


def _header(kind: Kind, prefix: str, there: Primitive | None) -> str:
    common = f"{kind.name}.h"
    include = common if (kind.folder / common).is_file() else "crypto.h"
    guard = f"{prefix.upper()}_H"
    constants = [
        f"    {prefix.upper()}_{c.upper()} = {_value(c, there)}" for c in kind.file.constants
    ]
    return "\n".join(
        [
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            f'#include "{include}"',
            "",
            f'#error "fill in {prefix}.h and {prefix}.c, then remove this line"',
            "",
            *(["enum {", *constants, "};", ""] if constants else []),
            "typedef struct {",
            "    uint8_t state[1]; // fill in",
            f"}} {prefix}_ctx;",
            "",
            *(f"{line};" for line in _declarations(kind, prefix)),
            "",
            "#endif",
            "",
        ]
    )


def _source(kind: Kind, prefix: str) -> str:
    lines = [f'#include "{prefix}.h"', ""]
    for line in _declarations(kind, prefix):
        names = re.findall(r"(\w+)(?:\[\w*\])?(?:,|\)$)", line)
        lines += [f"{line} {{", *(f"    (void){n};" for n in names if n != "void")]
        lines += [] if line.startswith("void ") else ["    return 0;"]
        lines += ["}", ""]
    return "\n".join(lines)


def _primitive(kind: Kind, name: str, prefix: str) -> str:
    sizes = "\n".join(f"{size} = 16 # fill in" for size in kind.file.constants)
    return f"""\
title = "{name}"
prefix = "{prefix}"
specification = "the document that defines it"
year = 2026
status = "research" # standard | finalist | research | deprecated | broken
status_source = "who says so"

[variant.{name}]
security_bits = 128 # fill in
{sizes}
"""


def _vectors(kind: Kind, name: str) -> str:
    names = [*kind.file.input, *kind.results]
    values = "\n".join(f'# {value} = "00" # hexadecimal' for value in names)
    return f"""\
# Published vectors, each with its origin.
[[vector]]
origin = "document, table or page"
variant = "{name}"
{values}
"""


def _oracle(kind: Kind, name: str) -> str:
    results = ", ".join(f'{r}=b""' for r in kind.results)
    inputs = ", ".join(f"inputs.{n}" for n in kind.file.input)
    return f'''\
"""{name}, by an independent library."""

from joulemark.oracle import Compute, Inputs, Output


def compute(variant: str, inputs: Inputs, over: Compute | None) -> Output:
    """Take {inputs or "nothing"}; give what must come out, by other code than what is measured."""
    return Output({results})  # fill in
'''


def board(name: str, like: str | None) -> Files:
    """Return a board that is copied from one with the same chip.

    Raises:
        InputError: there is no such board, or the name is invalid.
    """
    _check_name(name)
    if like is None:
        mend = f"give one of {', '.join(boards.names())}"
        raise InputError("a new board begins as a copy of another", "--like", mend)
    model = boards.load_board(like)
    text = boards.path_of(like).read_text(encoding="utf-8")
    return {f"boards/{name}.toml": _renamed(text, model.name, name, "board")}


def chip(name: str, like: str | None) -> Files:
    """Return a chip that is copied from one of the same series.

    Raises:
        InputError: there is no such chip, or the name is invalid.
    """
    _check_name(name)
    if like is None:
        mend = f"give one of its series: {', '.join(chips.names())}"
        raise InputError("a new chip begins as a copy of another", "--like", mend)
    chips.load_chip(like)
    text = chips.path_of(like).read_text(encoding="utf-8")
    return {f"chips/{name}.toml": _renamed(text, like, name, "chip")}


def _renamed(text: str, old: str, new: str, what: str) -> str:
    """Return a renamed copy that is refused until its checklist is done."""
    renamed = re.sub(
        rf'^name = "{re.escape(old)}"', f'name = "{new}"', text, count=1, flags=re.MULTILINE
    )
    return (
        f"# A copy of {old}. Go through every constant and its source: what is left as it is\n"
        f"# says that the {what} {new} has it too. Then remove the next line.\n"
        f'{NOT_YET_CHECKED} = "remove this line when every constant is this {what}\'s own"\n'
        + renamed
    )


def instrument(name: str, like: str | None) -> Files:
    """Return a meter for the folder that JOULEMARK_INSTRUMENTS names.

    Raises:
        InputError: the name is invalid.
    """
    _no_like(like, "instrument")
    _check_name(name)
    return {
        f"meters/{name.replace('-', '_')}.py": f'''\
"""{name}: what it is, in one sentence.

The document that its commands and its accuracy are from, with sections.
"""

from joulemark.clock import HOST, Clock
from joulemark.errors import MeterError
from joulemark.meters import Specification
from joulemark.meters.options import Port, StatedAccuracy
from joulemark.meters.polled import Polled
from joulemark.meters.samples import Accuracy

_INTERVAL_S = 0.1
"""From one reading to the next: document, section."""


def open_meter(resource: Port, accuracy: StatedAccuracy, clock: Clock = HOST) -> Polled:
    """The instrument at a port.

    Raises:
        MeterError: it cannot be reached.
    """

    def read() -> tuple[float, float]:
        raise MeterError("is not read yet", "{name}", "fill in: current in ampere, volt")

    specification = Specification(
        title="{name}",
        document="fill in: what the accuracy is from",
        rate_hz=1 / _INTERVAL_S,
        resolution="fill in, with its unit",
        measures_voltage=True,
    )
    bound = Accuracy(accuracy, 0.0)
    return Polled(read, _INTERVAL_S, bound, specification, where=str(resource), clock=clock)
'''
    }


def campaign(name: str, like: str | None) -> Files:
    """Return a campaign's file.

    Raises:
        InputError: the name is invalid.
    """
    _no_like(like, "campaign")
    _check_name(name)
    return {
        f"{name}.toml": """\
# joulemark run FILE. Each key is a name or number, or a list of them; what is left out is the
# default. Names of primitives, implementations and operations may be globs.
board = ["telosb", "sensortag-cc2650", "openmote-cc2538"]
primitive = ["aes-128-ccm", "ascon-aead128"]
operation = ["encrypt", "decrypt"]
size = [16, 64]       # message bytes
ad_size = [0, 16]     # associated data
compiler = ["clang", "gcc"]
opt = ["O3", "Os"]
trials = 8            # executions of each case, each with its own random keys and messages
seed = 1              # the same inputs each time: what another day's run is compared with
"""
    }


def study(name: str, like: str | None) -> Files:
    """Return a study of a paper.

    Raises:
        InputError: the name is invalid.
    """
    _no_like(like, "study")
    _check_name(name)
    return {
        f"studies/{name}/study.toml": """\
# docs/adding-a-study.md is the contract.
title = "The paper's title"
authors = "Its authors"
published = "year, and where"
about = "For a reader who does not know the paper: what it measured."
would_tell = "the paper's own image on our board"   # why ours differs, where nothing here does

[conditions]
stated = ["what the paper says of how it measured"]
inferred = []           # { what = "what it does not say", evidence = "why it must have been so" }

[tolerance]             # stated before ours is run
factor = 1.5
reason = "why ours may be off by as much, and still agree"

[defaults]              # for all questions
way = "campaign"
board = "telosb"

[[section]]
name = "table-1"
title = "The table's title"

[[section.item]]
id = "aes_16"
what = "AES-128, a block"
unit = "ms"
value = 1.0             # the paper's
# How to obtain ours; without it, or what it `needs`, nobody can tell what came of the item:
# ours = { primitive = "aes-128", operation = "encrypt", size = 16, metric = "time" }
"""
    }


def scenario(name: str, like: str | None) -> Files:
    """Return a scenario for `budget`.

    Raises:
        InputError: the name is invalid.
    """
    _no_like(like, "scenario")
    _check_name(name)
    return {
        f"scenarios/{name}.toml": """\
title = "What the device does, in a line"
description = "What it does all day"
board = "openmote-cc2538"
tolerance = 0.2         # of constants whose source states no error, as a fraction

[battery]
capacity_ah = 2.0
capacity_tolerance = 0.15
capacity_to_v = 2.0     # down to which the maker states the capacity
cutoff_v = 2.0          # at which the device stops
self_discharge_per_year = 0.03
source = ""             # fill in: the data sheet, or "assumed: ..."

[radio]
transmit = "tx-0dbm"    # states of the board's radio
receive = "rx"
listen_s = 2.4e-3       # for each message: acknowledgement, channel check

[[message]]
every_s = 60.0
payload_bytes = 40
security_bytes = 10     # that protection adds on air

[[message.protection]]  # an operation whose cost is measured
primitive = "aes-128-ccm"
operation = "encrypt"
message_bytes = 40

[what_if]               # changes to try, one at a time
primitive = ["ascon-aead128"]
message_every_s = [10.0, 600.0]
"""
    }


def part(name: str, like: str | None) -> Files:
    """Return an application: a part of a program, for the motes of a network.

    Raises:
        InputError: the name is invalid, or there is such a part.
    """
    _no_like(like, "part")
    _check_name(name)
    return {
        f"{name}/part.toml": """\
title = "one sentence: what it does"
role = ""               # fill in: application | driver | protocol
needs = ["net/radio"]   # parts, or primitives' implementations: primitives/block-cipher/aes/ref
wired = ["radio"]       # interfaces that it calls: the board, or the program's wiring, has the part
define = {}             # macros, for all parts of the program
""",
        f"{name}/main.c": """\
#include "hal.h"
#include "radio.h"

int main(void) {
    hal_init();
    for (const char *text = "fill in\\n"; *text != 0; text++)
        hal_serial_write((uint8_t)*text);
    for (;;)
        continue;
}
""",
    }


def policy(name: str, like: str | None) -> Files:
    """Return a policy of the security architecture PLASA, which is priced as those that it has.

    Raises:
        InputError: the name is invalid.
    """
    _no_like(like, "policy")
    _check_name(name)
    return {
        f"{name}/modules.toml": f"""\
# docs/architectures.md is the contract.
architecture = "plasa"

[[module]]
name = "STaR's engine: {name}"
parts = ["{name}"]
over = ["STaR"]
""",
        f"{name}/part.toml": f"""\
title = "STaR's policy {name}"
role = "protocol"
wired = []              # interfaces that it calls: ascon-aead128, sha-1, skipjack, ccm-star, ...
""",
        f"{name}/{name}.c": """\
/* fill in: this policy sends the payload in the clear, and protects nothing. */
#include "policy.h"

/* After the payload: boots and count, the low byte first. */
enum { OVERHEAD = 6 };

static bool secure(const star_context *packet, uint8_t *payload, uint8_t length) {
    uint8_t *trailer = payload + length;
    for (uint8_t i = 0; i < 2; i++)
        trailer[i] = (uint8_t)(packet->boots >> 8 * i);
    for (uint8_t i = 0; i < 4; i++)
        trailer[2 + i] = (uint8_t)(packet->count >> 8 * i);
    return true;
}

static bool unsecure(star_context *packet, uint8_t *payload, uint8_t length) {
    const uint8_t *trailer = payload + length;
    packet->boots = (uint16_t)(trailer[0] | trailer[1] << 8);
    packet->count = 0;
    for (uint8_t i = 6; i-- > 2;)
        packet->count = packet->count << 8 | trailer[i];
    return true;
}

/* 6 and 7 are free. */
STAR_POLICY = {.id = 6,
               .overhead = OVERHEAD,
               .is_authenticated = false, /* true: unsecure proves boots and count */
               .secure = secure,
               .unsecure = unsecure};
""",
        f"{name}/oracle.py": f'''\
"""What the policy's packets must be: made independently of its code in C."""

NUMBER = 6
NAME = "{name}"
OVERHEAD = 6


def secured(key: bytes, header: bytes, payload: bytes, boots: int, count: int) -> bytes:
    """Return what follows the control field: the secured payload, and the bytes after it."""
    # fill in
    return payload + boots.to_bytes(2, "little") + count.to_bytes(4, "little")
''',
    }


def kind(name: str, like: str | None) -> Files:
    """Return a kind of primitives.

    Raises:
        InputError: the name is invalid, or there is such a kind.
    """
    _no_like(like, "kind")
    _check_name(name)
    if name in kinds.known():
        raise InputError(f"there is a kind {name} already", "NAME", "give another name")
    return {
        f"{name}/kind.toml": f"""\
# docs/adding-a-kind.md is the contract.
title = "{name}"
main_operation = "compute"
functions = ["void p_compute(uint8_t *out, const uint8_t *in)"] # of each primitive, for prefix p
constants = ["block_bytes"]   # each variant states them; P_BLOCK_BYTES in C

[slot]                        # the image's buffers, in number order
message = {{ bytes = "block_bytes" }}
output = {{ bytes = "block_bytes", cleared = true }}

[input]                       # drawn at random for the oracle
message = {{ size = "block_bytes", secret = true }}

[operation.compute]
takes = ["message"]           # slots written before
gives = ["output"]            # slots compared afterwards with what the oracle returns

[[service]]                   # a user's need: a row of the report's advice
title = "{name}"
operations = ["compute"]
""",
        f"{name}/kind.c": """\
/* How the harness calls a primitive of this kind. */
#include "context.h"

#error "fill in: before, step and after of each operation, then remove this line"

static crypto_status compute(void) {
    primitive_compute(slots[SLOT_OUTPUT].bytes, slots[SLOT_MESSAGE].bytes);
    return CRYPTO_OK;
}

static void show(void) {
    slots[SLOT_OUTPUT].length = PRIMITIVE_BLOCK_BYTES;
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_COMPUTE] = {nothing, compute, show, false},
};
const uint8_t kind_operation_count = OPERATIONS;
""",
    }


MAKERS: Mapping[str, Callable[[str, str | None], Files]] = {
    "primitive": primitive,
    "board": board,
    "chip": chip,
    "instrument": instrument,
    "campaign": campaign,
    "study": study,
    "scenario": scenario,
    "part": part,
    "policy": policy,
    "kind": kind,
}


def write(files: Files, folder: Path) -> list[Path]:
    """Write a skeleton; existing files are not touched.

    Returns:
        Paths of the written files.

    Raises:
        InputError: a file exists already, or cannot be written.
    """
    for name in files:
        if (folder / name).exists():
            mend = "remove it, or give another name"
            raise InputError("is there already", str(folder / name), mend)
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise InputError(what, str(folder), "name another folder by --out") from error
    return [folder / name for name in files]


def _check_name(name: str) -> None:
    if not re.fullmatch(NAME, name):
        raise InputError(f"{name!r} is no name", "NAME", "use a-z, 0-9 and hyphens")


def _no_like(like: str | None, what: str) -> None:
    if like is not None:
        raise InputError(f"a {what} is like no other", "--like", "leave it out")
