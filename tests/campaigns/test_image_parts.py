"""Images as subjects: what their parts take, and how much of each thread's stack is used."""

import json
import random
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest
from elftools.elf.elffile import ELFFile

from command import joulemark
from joulemark.errors import InputError
from joulemark.images.lines import compiled_lines
from joulemark.images.systems import threads_of
from joulemark.records.record import Record
from joulemark.records.store import Store
from joulemark.subjects.image import ImageSubject
from joulemark.subjects.image.placing import rules_of

BOARD = "nrf52840-dk"
THREADS = Path(__file__).with_name("threads.c")
SOURCES = {
    "app/main.c": """
        void encrypt(void), deliver(void), run_threads(void), helper(void);
        __attribute__((noinline)) static void work(void) { for (volatile int i = 0; i < 30; i++); }
        int main(void) {
            work(); encrypt(); deliver(); helper(); run_threads();
            for (;;) __asm__("wfi");
        }
        void start(void) { main(); }
        volatile int behind_stacks = 1;
        void hang(void) { for (;;); }
        __attribute__((section(".vectors"), used)) void *const vectors[] =
            {(void *)0x20010000, start, hang, hang};
    """,
    "lib/crypto/cipher.c": """
        void encrypt(void) { for (volatile int i = 0; i < ROUNDS; i++); }
    """,
    "stack/os/net/mac.c": "void deliver(void) { for (volatile int i = 0; i < 20; i++); }",
    "vendor/misc.c": "void helper(void) { for (volatile int i = 0; i < 10; i++); }",
}
"""Each part's cycles are those of one loop."""
UNITS = {"ZEPHYR": "kernel/sched.c", "RIOT": "core/sched.c", "FREERTOS": "rtos/tasks.c"}


def built(folder: Path, system: str, *options: str, rounds: int = 40, debug: str = "-g") -> Path:
    """Compile the sources as files of a project with a system's kernel."""
    for name, text in (SOURCES | {UNITS[system]: THREADS.read_text()}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O1", "-ffreestanding", debug),
            *("-nostdlib", f"-D{system}", f"-DROUNDS={rounds}", "-Wl,-e,start", *options),
            *("-Wl,--section-start=.vectors=0", "-Wl,-Ttext=0x100", "-Wl,-Tdata=0x20001000"),
            *("-Wl,-Tbss=0x20000000", "-o", "app.elf", *SOURCES, UNITS[system]),
        ],
        cwd=folder,
        check=True,
    )
    return folder / "app.elf"


def measured(image: Path, *options: str) -> tuple[Record[ImageSubject], str]:
    store = image.with_suffix(".db")
    run = ("image", str(image), "--board", BOARD, "--for", "2ms", "--store", str(store))
    shown = joulemark(*run, *options).stdout
    with Store(str(store), "read") as opened:
        *_, record = opened.records()
    assert isinstance(record.subject, ImageSubject)
    return cast("Record[ImageSubject]", record), shown


def parts_of(record: Record[ImageSubject], name: str) -> Mapping[str, float]:
    return {
        q.part.partition(" ")[2]: q.value
        for q in record.quantities
        if q.name == name and q.part.startswith("part ")
    }


def test_each_function_is_in_one_part_and_all_add_up(tmp_path: Path) -> None:
    image = built(tmp_path, "RIOT")
    record, shown = measured(image)
    cycles, energy_nj = parts_of(record, "cycles"), parts_of(record, "energy_gross")
    assert sum(cycles.values()) == record.cycles
    assert sum(energy_nj.values()) == pytest.approx(record.energy_gross_nj, rel=1e-6)
    assert sum(parts_of(record, "time").values()) == record.time_ps
    assert cycles["cryptography"] == record.value("cycles", "function encrypt")
    assert cycles["network"] == record.value("cycles", "function deliver")
    assert cycles["kernel"] == sum(
        record.value("cycles", f"function {name}") or 0 for name in ("run_threads", "list", "use")
    )
    assert cycles["other"] == record.value("cycles", "function helper")
    assert (cycles["idle"], energy_nj["idle"]) == (0, record.value("energy_gross", "asleep"))
    assert "no rule places helper: they are the part other" in shown
    # A user's rules come first, and another file of rules is another result.
    rules = tmp_path / "parts.toml"
    rules.write_text('[[rule]]\npart = "application"\nfunctions = ["help*"]\n')
    again, shown = measured(image, "--parts", str(rules))
    assert "other" not in parts_of(again, "cycles")
    assert "no rule places" not in shown
    assert "of --parts" not in shown
    moved = parts_of(again, "cycles")["application"] - cycles["application"]
    assert moved == cycles["other"]
    # A rule that places nothing is told.
    rules.write_text('[[rule]]\npart = "kernel"\nfunctions = ["hlep*"]\n')
    _, shown = measured(image, "--parts", str(rules))
    assert "rule 1 of --parts, kernel, places nothing that ran" in " ".join(shown.split())


def test_without_debug_information_names_decide(tmp_path: Path) -> None:
    record, shown = measured(built(tmp_path, "FREERTOS", debug="-g0"))
    cycles = parts_of(record, "cycles")
    assert set(cycles) == {"application", "idle", "other"}
    assert cycles["application"] == record.value("cycles", "function main")
    assert "struct tskTaskControlBlock; compile it with -g" in shown


@pytest.mark.parametrize(
    ("system", "options", "used"),
    [
        # Without filled stacks the word below the stack pointer is not seen.
        ("ZEPHYR", (), (40, 60)),
        ("RIOT", (), (40, 60)),
        ("FREERTOS", (), (40, 60)),
        ("FREERTOS", ("-DHEAP",), (40, 60)),
        ("ZEPHYR", ("-DFILLED",), (44, 64)),
        ("RIOT", ("-DFILLED",), (44, 64)),
        ("FREERTOS", ("-DFILLED", "-DHEAP"), (44, 64)),
    ],
)
def test_stacks_are_those_of_the_kernels_lists(
    tmp_path: Path, system: str, options: Sequence[str], used: tuple[int, int]
) -> None:
    record, shown = measured(built(tmp_path, system, *options))
    for name, most in zip(("worker", "logger"), used, strict=True):
        assert record.value("stack", f"thread {name}") == most
        assert record.value("stack_size", f"thread {name}") == 256
        assert name in shown


@pytest.mark.parametrize(
    ("system", "message"),
    [("ZEPHYR", "CONFIG_THREAD_STACK_INFO"), ("RIOT", "DEVELHELP")],
)
def test_what_lists_do_not_say_is_told(tmp_path: Path, system: str, message: str) -> None:
    record, shown = measured(built(tmp_path, system, "-DBARE"))
    assert message in shown
    assert not [q for q in record.quantities if q.part.startswith("thread ")]


def test_damaged_debug_information_is_none(tmp_path: Path) -> None:
    """Whatever its sections for debuggers and symbols hold, the program is the same."""
    image = built(tmp_path, "ZEPHYR")
    sound = image.read_bytes()
    with image.open("rb") as file:
        sections = [
            (one["sh_offset"], one["sh_size"])
            for one in ELFFile(file).iter_sections()
            if one.name.startswith(".debug")
        ]
    chance = random.Random(1)
    for _ in range(15):
        damaged = bytearray(sound)
        for _ in range(50):
            start, size = chance.choice(sections)
            damaged[start + chance.randrange(size)] = chance.randrange(256)
        image.write_bytes(damaged)
        compiled_lines(image)
        # Memory that nobody wrote: the lists lead anywhere.
        threads_of(image, lambda _, length: chance.randbytes(length))


def test_parts_and_threads_are_guarded(tmp_path: Path) -> None:
    stores = []
    for number, rounds in enumerate((40, 60)):
        image = built(tmp_path / str(number), "RIOT", rounds=rounds)
        measured(image)
        stores.append(str(image.with_suffix(".db")))
    guard = ("compare", *stores, "--fail")
    told = joulemark(*guard, "part cryptography:cycles=20%", code=14).stdout
    assert "part cryptography cycles" in told
    joulemark(*guard, "part cryptography:cycles=90%")
    joulemark(*guard, "part network:energy-gross=0", "--fail", "thread *:stack=0")
    joulemark(*guard, "part *:cycles=20%", code=14)
    wrong = joulemark(*guard, "thread wroker:stack=0", code=3).stderr
    assert "no case has stack of 'thread wroker'" in wrong


def test_other_rules_are_another_case_and_no_change(tmp_path: Path) -> None:
    image = built(tmp_path, "RIOT", rounds=40)
    rules = tmp_path / "parts.toml"
    rules.write_text('[[rule]]\npart = "network"\nfunctions = ["*"]\n')
    stores = [str(tmp_path / name) for name in ("default.db", "own.db")]
    for store, options in zip(stores, ((), ("--parts", str(rules))), strict=True):
        asked = ("image", str(image), "--board", BOARD, "--for", "2ms", "--store", store)
        shown = json.loads(joulemark(*asked, *options, "--format", "json").stdout)
        assert set(shown) > {"Images"}
    assert "they have no case in common" in joulemark("compare", *stores, code=3).stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[rule]]\npart = "kernal"\nfiles = ["*"]', "rule.*part.*must be"),
        ('[[rule]]\npart = "kernel"', "needs files, functions or beside_main"),
        ("rules = 1", "unknown key"),
    ],
)
def test_wrong_rules_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "parts.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        rules_of(path)
    assert str(path) in str(caught.value)
