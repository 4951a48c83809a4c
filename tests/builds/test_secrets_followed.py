"""Secrets are followed through every core: what they decide is found, and nothing else is.

`planted.c` has leaks of all kinds, and constructions that leak nothing.
"""

import json
import random
import re
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

import programs
from joulemark._engine import Image, Machine, Secrets
from joulemark.catalogue import chips
from joulemark.cli import app
from joulemark.cli._github import annotate
from joulemark.cli.leaks import _grouped
from joulemark.errors import BudgetError, ClaimError
from joulemark.images.target_headers import chip_header
from joulemark.measure.following import (
    Located,
    Place,
    Use,
    declared_public,
    leaking,
    located,
    together,
)
from joulemark.project import FIRMWARE, ROOT
from traced import Code, compared

SOURCE = Path(__file__).with_name("planted.c")
RUNTIME = FIRMWARE / "hal" / "msp430" / "runtime"


@dataclass(frozen=True)
class Core:
    """A core, a chip that has it, and how code is compiled for it."""

    name: str
    chip: str
    compile: tuple[str, ...]
    link: tuple[str, ...]
    optimisations: tuple[str, ...]


def arm(
    cpu: str, text: int, *more: str, data: int = 0x20000000
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return commands that compile and link for a Cortex-M."""
    gcc = ("arm-none-eabi-gcc", f"-mcpu={cpu}", "-mthumb")
    places = (f"-Wl,-Ttext={text:#x}", f"-Wl,-Tdata={data:#x}")
    return (*gcc, *more), (*gcc, "-nostartfiles", *places, "-Wl,-e,ends")


DIVIDES = "-DHAS_DIVISION"
RISCV = ("riscv64-unknown-elf-gcc", "-march=rv32imac_zicsr_zba_zbb", "-mabi=ilp32")


CORES = {
    "m0": Core("m0", "rp2040", *arm("cortex-m0plus", 0x20000200, data=0x20010000), ("Os", "O2")),
    "m3": Core("m3", "stm32f100rb", *arm("cortex-m3", 0x08000200, DIVIDES), ("Os", "O2")),
    "m4": Core("m4", "nrf52840", *arm("cortex-m4", 0x200, DIVIDES, "-DHAS_ECB"), ("Os", "O2")),
    "riscv": Core(
        "riscv",
        "rp2350",
        (*RISCV, DIVIDES),
        (*RISCV, "-nostdlib", "-Wl,--no-relax,-Ttext=0x20040000,-Tdata=0x20000000,-e,ends"),
        ("Os", "O2"),
    ),
    "msp430": Core(
        "msp430",
        "msp430f1611",
        ("clang-19", "--target=msp430", "-mmcu=msp430f1611", "-nostdlibinc"),
        (
            "ld.lld-19",
            *("-Ttext=0x4000", "-Tdata=0x1100", "-Tbss=0x1200", "-e", "ends"),
            "--section-start=port1_vector=0xffe8",
        ),
        ("Os",),
    ),
}
UDMA = Core(
    "udma",
    "cc2538",
    *arm("cortex-m3", 0x00200200, DIVIDES, "-DHAS_UDMA"),
    ("Os",),
)
SECRET_BYTES = 16
EXPECTED = re.compile(r"leak: (\w+)(?: \(([\w, ]+)\))? \*/")


@lru_cache
def built(core: Core, optimisation: str, folder: Path) -> Path:
    """Compile the source for a core."""
    path = folder / f"{core.name}-{optimisation}.elf"
    sources = [SOURCE, *(RUNTIME.glob("*.S") if core.name == "msp430" else ())]
    flags = [
        "-std=gnu11",
        f"-{optimisation}",
        "-g",
        "-ffreestanding",
        "-Wall",
        "-Wextra",
        "-Werror",
    ]
    if core.name == "msp430":
        (folder / "chip.h").write_text(chip_header(chips.load_chip(core.chip)))
        flags += ["-I", str(folder)]
    objects = []
    for source in sources:
        objects.append(str(path.with_suffix(f".{source.stem}.o")))
        run(*core.compile, *flags, "-c", str(source), "-o", objects[-1])
    run(*core.link, *objects, "-o", str(path))
    return path


def run(*command: str) -> None:
    """Run a command that succeeds."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def functions(kind: str) -> list[str]:
    """Return the names of functions in the source."""
    return re.findall(rf"^{kind}\((\w+)\)", SOURCE.read_text(), re.MULTILINE)


def is_planted(place: Place) -> bool:
    """Return whether a place is in the source."""
    return Path(place.file or "").name == SOURCE.name


@dataclass(frozen=True)
class Program:
    """A build, read once for all functions in it."""

    core: Core
    image: Image
    places: Located
    public_code: list[tuple[int, int]]

    def machine(self, function: str, secret: bytes | None = None) -> Machine:
        """Return a machine before a function, with another secret if one is given."""
        machine = Machine(
            chips.load_chip(self.core.chip),
            self.image,
            entry=self.image.resolve(f"run_{function}"),
        )
        if secret is not None:
            machine.write_memory(self.image.resolve("secret"), secret)
        return machine

    def followed(self, function: str, value: bytes | None = None) -> Secrets:
        """Run a function with the secret followed."""
        machine = self.machine(function, value)
        secret = ("secret 0", self.image.resolve("secret"), SECRET_BYTES)
        machine.follow_secrets([secret], self.public_code)
        stop = machine.run(until=self.image.resolve("ends"), max_cycles=100_000)
        assert stop.reason == "address", (function, stop.fault and stop.fault.message)
        return machine.secrets

    def found(self, function: str) -> set[tuple[str, int]]:
        """Return what the secret was found to decide, and in which line."""
        followed = self.followed(function)
        callers = {use.address: use.call_stack[1:] for use in followed.uses}
        found = set()
        for use in leaking(located(followed, self.places, 1).uses):
            # A product may be a call.
            places = (self.places.source(frame.address) for frame in callers[use.address])
            lines = (place.line for place in (use.place, *places) if is_planted(place))
            found.add((use.decides, next(lines, None) or 0))
        return found

    def those(self, kind: str) -> list[str]:
        """Return the functions of a kind that it has."""
        return [name for name in functions(kind) if f"run_{name}" in self.image.symbols]


@lru_cache
def program(core: Core, optimisation: str, folder: Path) -> Program:
    """Build the source, and read it."""
    path = built(core, optimisation, folder)
    image = Image.load(path)
    kind = chips.load_chip(core.chip).core
    places = Located(path, kind, image.symbols)
    return Program(core, image, places, places.public_code())


def expected(core: Core, function: str) -> set[tuple[str, int]]:
    """Return what the source says that is found."""
    lines = SOURCE.read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"LEAKS({function})"))
    end = lines.index("}", begin)
    wanted = set()
    for number in range(begin, end):
        for decides, only in EXPECTED.findall(lines[number]):
            if not only or core.name in only.split(", "):
                wanted.add((decides, number + 1))
    return wanted


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("planted")


BUILDS = [(core, flag) for core in CORES.values() for flag in core.optimisations]


@pytest.mark.parametrize(("core", "flag"), BUILDS, ids=lambda x: getattr(x, "name", x))
def test_planted_leaks_are_found_at_their_lines(core: Core, flag: str, folder: Path) -> None:
    build = program(core, flag, folder)
    planted = {name: wanted for name in build.those("LEAKS") if (wanted := expected(core, name))}
    assert len(planted) >= 60
    wrong = {}
    for function in build.those("LEAKS"):
        here, wanted = build.found(function), planted.get(function, set())
        # GCC makes conditional instructions of short branches.
        here = {("branch" if decides == "condition" else decides, line) for decides, line in here}
        if here != wanted:
            wrong[function] = (sorted(here), sorted(wanted))
    assert not wrong


@pytest.mark.parametrize(("core", "flag"), BUILDS, ids=lambda x: getattr(x, "name", x))
def test_clean_constructions_raise_no_alarm(core: Core, flag: str, folder: Path) -> None:
    build = program(core, flag, folder)
    names = build.those("KEEPS")
    assert len(names) >= 40
    alarms = {name: uses for name in names if (uses := build.found(name))}
    assert not alarms


@pytest.mark.parametrize(("core", "flag"), BUILDS, ids=lambda x: getattr(x, "name", x))
def test_what_pairs_of_runs_show_was_found(core: Core, flag: str, folder: Path) -> None:
    """Whatever two runs differ in, seen without the engine's following, following has named."""
    build = program(core, flag, folder)
    code, ends = Code(build.places.path, build.places.core), build.image.resolve("ends") & ~1
    shown, unnamed = set(), []
    for function in [*build.those("LEAKS"), *build.those("KEEPS")]:
        source = random.Random(function)
        secrets = [source.randbytes(SECRET_BYTES) for _ in range(2)]
        named = {use.address for secret in secrets for use in build.followed(function, secret).uses}
        pair = build.machine(function, secrets[0]), build.machine(function, secrets[1])
        for divergence in compared(code, pair, lambda at: at == ends):
            shown.add(function)
            declared = any(map(build.places.why_public, divergence.causes))
            if not declared and not divergence.is_named(named):
                unnamed.append((function, divergence))
    assert not unnamed
    assert len(shown) >= 20


@pytest.mark.parametrize(
    ("sends", "register", "first"),
    [
        ("sent_by_uarte", 0x40002544, 0),
        ("sent_by_twim", 0x40003544, 4),
        ("sent_by_spim", 0x40004544, 8),
        ("sent_by_radio", 0x40001504, 12),
    ],
)
def test_what_a_device_fetches_from_memory_is_named(
    sends: str, register: int, first: int, folder: Path
) -> None:
    followed = program(CORES["m4"], "Os", folder).followed(sends)
    assert followed.devices == [(register, [("secret 0", first, first + 3)])]


@pytest.mark.parametrize("core", CORES.values(), ids=lambda core: core.name)
def test_code_that_is_secret_is_found_where_it_is_executed(core: Core, folder: Path) -> None:
    build = program(core, "Os", folder)
    found = {(use.decides, use.address) for use in build.followed("code").uses}
    assert found == {("code", build.image.symbols["code"])}


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("core", [CORES["m0"], CORES["riscv"]], ids=lambda core: core.name)
def test_an_address_that_faults_is_found_too(core: Core, value: int, folder: Path) -> None:
    build = program(core, "Os", folder)
    machine = build.machine("misaligned", bytes([value]) * SECRET_BYTES)
    machine.follow_secrets([("secret 0", build.image.resolve("secret"), SECRET_BYTES)], [])
    stop = machine.run(until=build.image.resolve("ends"), max_cycles=100_000)
    assert (stop.fault is not None) == (value == 1)
    assert [use.decides for use in machine.secrets.uses] == ["address"]


def test_what_directs_a_transfer_and_what_it_moves_are_told_apart(folder: Path) -> None:
    build = program(UDMA, "Os", folder)
    for function in ("micro_dma_pointer", "micro_dma_count"):
        followed = build.followed(function)
        assert {use.decides for use in followed.uses} == {"pointer"}
        assert followed.lost
    (use,) = build.followed("micro_dma_data").uses
    assert use.decides in {"branch", "condition"}


PUBLIC_IT = """
.syntax unified
.thumb
.global inner
.type inner, %function
inner:
    push {r4, r5, lr}
    ldr r4, =0x20000000
    ldrb r0, [r4]
    movs r1, #1
    bl choose
    ldrb r0, [r4, #1]
    movs r1, #0
    bl choose
    cbz r0, 2f
    nop
2:  pop {r4, r5, pc}
choose:
    cmp r0, #2
    cbz r1, 1f
    it eq /* public: whether the first byte is 2 */
    ldreq r3, [sp]

1:  ite eq
    moveq r0, #1
    movne r0, #0
    bx lr
.size inner, .-inner
"""


def test_what_one_it_block_declares_says_nothing_of_another(tmp_path: Path) -> None:
    source, path = tmp_path / "it.S", tmp_path / "it.elf"
    start = ".section .vectors\n.word 0x20001000, start + 1\n.text\nstart: bl inner\nb .\n"
    source.write_text(f".syntax unified\n.thumb\n{start}{PUBLIC_IT}")
    run("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-g", "-c", str(source), "-o", f"{source}.o")
    at = ("-Ttext=0x8000100", "--section-start=.vectors=0x8000000", "-e", "start")
    run("arm-none-eabi-ld", *at, f"{source}.o", "-o", str(path))
    done = asked(path, "--format", "json")
    (row,) = json.loads(done.stdout)
    assert "branch" in [use["decides"] for use in row["decided_by_secrets"]]
    # The comment's line, not that of the comparison whose flags decide.
    number = source.read_text().splitlines().index(next(iter(_declaring(source)))) + 1
    (declared,) = row["declared_public"]
    assert declared.startswith(f"whether the first byte is 2 ({source}:{number}): 1 decision by ")


def _declaring(source: Path) -> list[str]:
    return [line for line in source.read_text().splitlines() if "public:" in line]


def test_a_division_that_one_optimisation_emits_is_found_there(folder: Path) -> None:
    """As in KyberSlash (Bernstein and others, 2024)."""
    m4 = CORES["m4"]
    at_size = program(m4, "Os", folder).followed("kyberslash")
    assert [use.decides for use in at_size.uses] == ["time"]
    assert program(m4, "O3", folder).followed("kyberslash").uses == []


INNER = """
    ldr r0, =0x20000000
    ldr r1, [r0]
    umull r2, r3, r1, r1
    cmp r1, #0
    beq 1f
    nop
1:  ldr r2, [r0, #16]
    cmp r2, #0
    beq 2f
    nop
2:
"""


UNSEEN = """
    ldr r0, =0x20000000
    ldr r1, [r0, #16]
    cbz r1, 1f
    ldrb r1, [r0]
    ldr r1, [r0, r1]
1:
"""
"""A table that is looked up at a secret address, behind a branch that is always taken."""

SELECT = """
    ldr r0, =0x20000000
    ldr r1, [r0]
    cmp r1, #0
    ite eq
    moveq r2, #1
    movne r2, #2
    nop
"""


def asked(path: Path, *more: str) -> Result:
    chosen = ["--board", "stm32vldiscovery", "--call", "inner", "--secret", "0x20000000:4"]
    return CliRunner().invoke(app, ["leaks", str(path), *chosen, *more])


def test_a_program_of_ones_own_is_followed_through_a_call(tmp_path: Path) -> None:
    path = programs.elf(tmp_path, "stm32f100rb", INNER)
    done = asked(path, "--format", "json")
    assert isinstance(done.exception, ClaimError)
    (row,) = json.loads(done.stdout)
    uses = [(use["decides"], use["extra_cycles"]) for use in row["decided_by_secrets"]]
    assert uses == [("time", 2), ("branch", None)]
    assert {use["function"] for use in row["decided_by_secrets"]} == {"inner"}
    assert row["decided_by_secrets"][0]["secrets"] == ["0x20000000[0..3]"]
    assert row["one_way_branches"] == 2
    shown = asked(path, "--one-way").stdout
    assert shown.startswith("inner on stm32vldiscovery, its first call: ")
    assert "\nerrors, stm32vldiscovery: time " in shown
    assert "time by 0x20000000[0..3], up to 2 cycles more: inner (" in shown
    assert "always taken: inner (" in shown
    told = "2 branches went one way: nothing is known of the code behind them"
    assert f"{told}\n" in shown
    assert f"{told}; --one-way names them\n" in asked(path).stdout


def test_what_is_grouped_has_the_secret_bytes_of_all(tmp_path: Path) -> None:
    path = programs.elf(tmp_path, "stm32f100rb", INNER)
    places = Located(path, "armv7m", {})

    def use(*parts: tuple[str, int, int], extra: int | None = None) -> Use:
        return Use(16, 16, "time", parts, 1, extra, (), places)

    uses = [
        use(("key", 0, 3), ("message", 8, 8)),
        use(("key", 4, 9), ("key", 12, 15), extra=1),
        use(("key", 2, 5)),
    ]
    assert together(uses).secrets == ("key[0..9]", "key[12..15]", "message[8]")
    assert "message[8], up to 1 cycle more: " in str(together(uses))
    (line,) = _grouped(uses[:2])
    assert line.startswith("time by key[0..9], key[12..15], message[8], up to 1 cycle more: ")
    assert line.endswith(" and 1 more instruction there")


def test_a_lookup_behind_a_branch_that_was_not_taken_is_not_vouched_for(tmp_path: Path) -> None:
    done = asked(programs.elf(tmp_path, "stm32f100rb", UNSEEN))
    assert done.exit_code == 0, done.output
    told = "1 branch went one way: nothing is known of the code behind it; --one-way names it"
    assert told in done.output


def test_a_select_is_said_to_be_no_leak(tmp_path: Path) -> None:
    done = asked(programs.elf(tmp_path, "stm32f100rb", SELECT))
    assert done.exit_code == 0, done.output
    assert "secrets decide 1 x select" in done.output
    assert "select: either way takes as long, so this is no leak" in done.output


@pytest.mark.parametrize(
    ("line", "declares"),
    [
        ("if (x) /* public: parity */", "parity"),
        ("if (x) // public: parity", "parity"),
        ("if (x) /* public: */", None),
        ("if (x) /* public */", None),
        ("if (x) // public:", None),
        ('if (x) puts("/* public: in a string */");', None),
        ('if (*x == "a"[0]) /* public: parity */', "parity"),
        ("""if (*x == '"') /* public: parity */""", "parity"),
        ("if (x) // see http://public: nothing here", None),
    ],
)
def test_a_comment_without_a_reason_declares_nothing(
    line: str, declares: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "source.c"
    alone = line.removeprefix("if (x) ")
    above = declares if alone.startswith("/") else None
    path.write_text(f"int f;\n{line}\n    return;\n{alone}\n    if (y)\n")
    found = [declared_public(path, number) for number in (1, 2, 3, 5)]
    # Beside code a comment is of that line alone.
    assert found == [None, declares, None, above]


def test_github_shows_leaks_at_their_lines(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build = program(CORES["m3"], "Os", folder)
    uses = leaking(located(build.followed("branch"), build.places, 1).uses)
    ((_, line),) = expected(CORES["m3"], "branch")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    annotate(uses)
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(ROOT))
    annotate(uses)
    shown = capsys.readouterr().out
    assert shown.startswith(f"::error file=tests/builds/planted.c,line={line},title=")
    assert "by secret[0]" in shown
    # Without a line, as of a library whose sources are elsewhere, it is of the whole run.
    elsewhere = Place("memcmp", "../newlib/memcmp.c", 60, 0x8000100, "bne")
    annotate([SimpleNamespace(place=elsewhere, title="a secret decides (branch)")])
    assert capsys.readouterr().out.startswith("::error title=a secret decides (branch)::")


def test_more_cycles_are_not_advised_where_nothing_wakes_the_program(tmp_path: Path) -> None:
    path = programs.elf(tmp_path, "stm32f100rb", "wfi")
    told = str(asked(path, "--call", "hard").exception)
    assert "it sleeps at inner (0x" in told
    assert "nothing can wake it" in told


def test_what_a_call_decided_before_it_stopped_returning_is_told(tmp_path: Path) -> None:
    path = programs.elf(tmp_path, "stm32f100rb", INNER + "2: b 2b\n")
    done = asked(path, "--max-cycles", "1000")
    assert isinstance(done.exception, ClaimError)
    assert "time by 0x20000000[0..3]" in done.output
    told = re.search(
        r"until then: --call: inner did not return: 1,00\d cycles are spent", done.output
    )
    assert told is not None
    nothing = asked(programs.elf(tmp_path, "stm32f100rb", "2: b 2b"), "--max-cycles", "1000")
    assert isinstance(nothing.exception, BudgetError)
    assert "secrets decide nothing" in nothing.output


def test_one_of_several_static_symbols_is_not_chosen_in_silence(tmp_path: Path) -> None:
    inner = "b 3f\n.type twice, %function\ntwice: bx lr\n3: nop"
    path = programs.elf(tmp_path, "stm32f100rb", inner, ".type twice2, %function\ntwice2: b .")
    renamed = tmp_path / "renamed.elf"
    rename = ["--redefine-sym", "twice2=twice", str(path), str(renamed)]
    subprocess.run(["arm-none-eabi-objcopy", *rename], check=True)
    told = str(asked(renamed, "--call", "twice").exception)
    assert told.startswith("--call: 2 symbols are called twice; give the address of one: 0x")


def test_a_file_that_is_not_there_is_named_once(tmp_path: Path) -> None:
    assert str(asked(tmp_path / "none.elf").exception).count("none.elf") == 1


@pytest.mark.parametrize("more", [(), ("--power",)])
def test_a_secret_longer_than_its_variable_is_refused(more: tuple[str, ...], folder: Path) -> None:
    path = str(built(CORES["m3"], "Os", folder))
    chosen = ["leaks", path, *more, "--board", "stm32vldiscovery", "--call", "run_branch"]
    done = CliRunner().invoke(app, [*chosen, "--secret", f"secret:{SECRET_BYTES + 1}"])
    told = str(done.exception)
    assert told.startswith("--secret: secret has 16 bytes, not 17; write secret:16, or ADDRESS")


@pytest.mark.parametrize("more", [(), ("--power",)])
def test_a_variable_cannot_be_called(more: tuple[str, ...], folder: Path) -> None:
    path = str(built(CORES["m3"], "Os", folder))
    chosen = ["leaks", path, *more, "--board", "stm32vldiscovery", "--call", "secret"]
    done = CliRunner().invoke(app, [*chosen, "--secret", "secret:16"])
    assert str(done.exception) == "--call: secret is a variable; give a function"


@pytest.mark.parametrize("more", [(), ("--power",)])
def test_cycles_of_a_program_need_one(more: tuple[str, ...]) -> None:
    asked = ["leaks", "--primitive", "aes-128", *more, "--max-cycles", "9"]
    done = CliRunner().invoke(app, asked)
    assert str(done.exception).startswith("--max-cycles: needs a program")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--call", "outer_"], "--call: no symbol 'outer_'"),
        (["--secret", "key"], "--secret: 'key' is no secret; write SYMBOL:BYTES"),
        (["--secret", "0x10000000:4"], "no secret can be followed at 0x10000000"),
        (["--primitive", "aes-128"], "--primitive: is measured instead of a program"),
        (["--call", "hard", "--max-cycles", "9999"], "hard was not called: "),
        (["--call", "hard", "--max-cycles", "9999"], "the program itself must call what --call"),
        (["--secret", "outer:4"], "--secret: outer is a function; give a variable, or an address"),
        (["--implementation", "x"], "--implementation: is a primitive's, and a program was given"),
        (["--operation", "x"], "--operation: is a primitive's"),
        (["--compiler", "gcc"], "--compiler: a program is not built again"),
        (["--opt", "O2"], "--opt: a program is not built again"),
        (["--branches"], "--branches: compares trials"),
        (["--cover"], "--cover: a program is followed as it is called"),
        (["--no-follow"], "--no-follow: a program is only followed"),
    ],
)
def test_what_cannot_be_followed_is_refused(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    path = programs.elf(tmp_path, "stm32f100rb", INNER)
    done = asked(path, *arguments)
    assert message in str(done.exception)
