"""Choosing: fronts and demands on made-up costs, and the command as an engineer types it."""

import csv
import io
import itertools
import json
import random
import time
from functools import partial
from pathlib import Path

import pytest

from command import joulemark
from joulemark import choose
from joulemark.analysis import choice
from joulemark.analysis.choice import FRONT, Demands, Option
from joulemark.catalogue.primitives import Library, library
from joulemark.records.record import PrimitiveRecord
from joulemark.records.store import Store
from joulemark.subjects.primitive import choose as choosing
from made import made

CASE = ("choose", "--board", "telosb", "--kind", "hash", "--size", "16")


def record(**given: object) -> PrimitiveRecord:
    values: dict[str, object] = {
        "cycles": 100,
        "time_ps": 10**9,
        "energy_net_nj": 100,
        "energy_gross_nj": 120,
        "flash_bytes": 1000,
        "ram_bytes": 10,
        "stack_bytes": 50,
        "trials": 8,
        "addresses_equal": True,
        "secret_independent": True,
        "subject_status": "standard",
        "main": True,
    }
    return made(**(values | given))


def option(**given: object) -> Option:
    (found,) = choice.options([record(**given)], {"hash": ["hash"]})
    return found


def test_the_front_is_what_nothing_dominates() -> None:
    draw = random.Random(3)
    found = [
        option(
            implementation=f"i{n}",
            time_ps=draw.randrange(1, 6) * 10**9,
            energy_net_nj=draw.randrange(1, 6),
            flash_bytes=draw.randrange(1, 6),
            ram_bytes=draw.randrange(1, 6),
        )
        for n in range(60)
    ]

    def beats(a: Option, b: Option) -> bool:
        pairs = [(a.of(m), b.of(m)) for m in FRONT]
        return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)

    front = choice.front(found)
    assert front
    for one in found:
        beaten = any(beats(other, one) for other in found)
        assert (one.build in front) != beaten
    # The cheapest by any metric ties with something on the front.
    for metric in FRONT:
        best = min(o.of(metric) for o in found)
        assert any(o.of(metric) == best for o in found if o.build in front)


def test_a_message_costs_the_sum_of_its_operations_and_the_most_of_memory() -> None:
    records = [
        record(operation="init", energy_net_nj=3, flash_bytes=5, stack_bytes=9, time_ps=2 * 10**6),
        record(operation="hash", energy_net_nj=4, flash_bytes=7, stack_bytes=8, time_ps=5 * 10**6),
    ]
    (both,) = choice.options(records, {"hash": ["init", "hash"]})
    assert both.energy_j == pytest.approx(7e-9)
    assert both.time_s == pytest.approx(7e-6)
    assert (both.flash_bytes, both.stack_bytes) == (7, 9)
    assert choice.options(records[:1], {"hash": ["init", "hash"]}) == []
    # 7 nJ at 2 V every second: 3.5 nC per second, and 3.6 C are 1 mAh.
    assert both.mah_a_year(1.0, 2.0) == pytest.approx(3.5e-9 * 31_557_600 / 3.6)


def test_equal_costs_that_are_summed_in_another_order_stay_equal() -> None:
    """A tie is broken by flash, not by the last digit of a float."""
    found = [
        choice.options(
            [
                record(operation="init", energy_net_nj=first, flash_bytes=flash, optimisation=opt),
                record(energy_net_nj=24186.35835 - first, flash_bytes=flash, optimisation=opt),
            ],
            {"hash": ["init", "hash"]},
        )[0]
        for first, flash, opt in ((0.1, 5812, "O3"), (7.7, 5804, "Os"), (1234.56789, 5808, "O2"))
    ]
    assert [o.flash_bytes for o in choice.ranked(found, "energy")] == [5804, 5808, 5812]


@pytest.mark.parametrize(
    ("demands", "given", "objects"),
    [
        ({}, {}, False),
        ({}, {"subject_status": "finalist"}, True),
        ({"status": "finalist"}, {"subject_status": "finalist"}, False),
        ({"status": "research"}, {"subject_status": "broken"}, True),
        ({"constant_time": True}, {}, False),
        ({"constant_time": True}, {"secret_independent": False}, True),
        ({"constant_time": True}, {"cycles_min": 90, "cycles_max": 110}, True),
        ({"constant_time": True}, {"addresses_equal": False}, True),
        ({}, {"addresses_equal": False}, False),
        ({}, {"one_time_key": True}, True),
        ({"one_time_key": True}, {"one_time_key": True}, False),
        ({"security_bits": 128}, {"security_bits": 80}, True),
        ({"security_bits": 128}, {"security_bits": 128}, False),
        ({"max_flash_bytes": 999}, {}, True),
        ({"max_flash_bytes": 1000}, {}, False),
        ({"max_ram_bytes": 9}, {}, True),
        ({"max_stack_bytes": 49}, {}, True),
        ({"max_time_s": 0.9e-3}, {}, True),
        ({"max_time_s": 1.0e-3}, {}, False),
    ],
)
def test_demands(demands: dict[str, object], given: dict[str, object], *, objects: bool) -> None:
    found = choice.demands(**{"constant_time": False, **demands}).objects(option(**given))
    assert (len(found) == 1) == objects, found


def test_what_is_known_unmeasured_is_what_measuring_would_say() -> None:
    library = Library.load()
    demands = Demands(constant_time=True, security_bits=128)
    for algorithm in library.algorithms.values():
        for way in library.implementations(algorithm):
            built = option(
                subject_status=algorithm.status,
                security_bits=algorithm.sizes.get("security_bits"),
                one_time_key=algorithm.primitive.file.one_time_key,
                secret_independent=way.secret_independent,
            )
            assert demands.objects_unmeasured(way) == demands.objects(built)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store filled by an engineer's question."""
    path = str(tmp_path_factory.mktemp("choose") / "s.db")
    joulemark(*CASE, "--primitive", "sha-256", "--primitive", "sha-1", "--store", path, "-j", "2")
    return path


def test_an_engineer_chooses_and_what_is_missing_is_measured(store: str) -> None:
    done = joulemark(*CASE, "--primitive", "sha-*", "--every", "60", "--stored", "--store", store)
    rows = [line for line in done.stdout.splitlines() if "sha-256" in line]
    assert rows
    assert any(line.startswith("*") for line in rows)
    assert "sha-1 " not in done.stdout  # deprecated: not measured, not advised
    with Store(store, "read") as opened:
        records = opened.records()
    assert {r.status for r in records} == {"ok"}
    built = {(r.build.compiler, r.build.optimisation) for r in records if r.build}
    assert {o for _, o in built} == {"O3", "O2", "Os"}
    cheapest = min(r.energy_net_nj or 1e9 for r in records if r.subject.operation == "hash")  # type: ignore[attr-defined]
    found = json.loads(joulemark(*CASE, "--stored", "--store", store, "--format", "json").stdout)
    assert found["candidates"][0]["energy µJ"] == pytest.approx(cheapest / 1e3)
    flash = json.loads(
        joulemark(*CASE, "--stored", "--store", store, "--format", "json", "--sort", "flash").stdout
    )
    sizes = [c["flash"] for c in flash["candidates"]]
    assert sizes == sorted(sizes)
    assert sizes[0] == min(r.flash_bytes for r in records if r.flash_bytes)


def test_forms_hold_the_same(store: str) -> None:
    asked = (*CASE, "--stored", "--store", store, "--every", "5")
    rows = list(csv.DictReader(io.StringIO(joulemark(*asked, "--format", "csv").stdout)))
    markdown = joulemark(*asked, "--format", "markdown").stdout.splitlines()
    cells = [line for line in markdown if line.startswith("|")]
    assert len(cells) == len(rows) + 2
    # In Markdown errors stand below the table, and sizes in a column only where they differ.
    assert {line.count("|") for line in cells} == {len(rows[0]) - 1}
    assert f"errors, {rows[0]['errors']}" in markdown


def test_nothing_that_satisfies_says_what_to_give_up(store: str) -> None:
    asked = (*CASE, "--stored", "--store", store)
    done = joulemark(*asked, "--max-flash", "10", "--explain", code=13)
    assert "flash at most 10 bytes:" in done.stdout
    assert "sha-256: " in done.stdout
    assert "; give up flash at most 10 bytes\n" in done.stderr


def test_what_is_to_be_given_up_helps(store: str) -> None:
    """Each alternative that is named leaves something, and no part of it does alone."""
    asked = choosing.question("telosb", "hash", size=16)
    with Store(store, "read") as opened:
        for demands in (
            Demands(max_flash_bytes=10, max_stack_bytes=10),
            Demands(max_flash_bytes=1000, max_stack_bytes=100, security_bits=512),
        ):
            answer = choosing.answer(asked, demands, opened, None)
            assert not answer.good
            objections = [set(o) for o in answer.objections.values()]
            named = [set(text.split(" and ")) for text in answer.surrenders()]
            assert named
            for given_up in named:
                assert given_up in objections
                assert not any(o < given_up for o in objections)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("--kind", "hash", "--ad-size", "16"), "--ad-size: a hash takes no associated data"),
        (("--kind", "aead", "--ad-size", "5000"), "--ad-size: none takes associated data of 5000"),
        (("--kind", "hash", "--implementation", "foo"), "--implementation: foo matches nothing"),
        (("--kind", "aead", "--size", "65535"), "--size: none takes a message of 65535 bytes"),
    ],
)
def test_what_cannot_be_says_so_from_the_store_too(
    store: str, asked: tuple[str, ...], told: str
) -> None:
    run = ("choose", "--board", "telosb", *asked, "--store", store)
    for more in ((), ("--stored",)):
        said = joulemark(*run, *more, code=3).stderr
        assert told in said
        assert "--stored" not in said


def test_what_an_implementation_cannot_be_is_not_measured(tmp_path: Path) -> None:
    asked = (*CASE, "--primitive", "sha-1", "--store", str(tmp_path / "s.db"))
    done = joulemark(*asked, code=13)
    assert "status standard" in done.stderr
    with Store(tmp_path / "s.db", "read") as opened:
        assert opened.records() == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--kind", "hush"), 3, "did you mean hash?"),
        (("--board", "telosc"), 3, "telosb"),
        (("--clock", "slow"), 3, "has no clock slow"),
        (("--operation", "encrypt"), 3, "hash has no operation encrypt"),
        (("--primitive", "rot13"), 3, "rot13 matches nothing of kind hash; there are"),
        (("--kind", "block-cipher", "--size", "5000"), 3, "or multiples of 16 up to 1024"),
        (("--sort", "beauty"), 2, "energy"),
        (("--size", "70000"), 2, "65535"),
        (("--kind", "key-agreement"), 3, "agree of key-agreement takes no message; leave it out"),
        (("--every", "0"), 2, "--every"),
        (("--every", "5 days"), 2, "a number alone is seconds"),
        (("--status", "good"), 2, "standard"),
    ],
)
def test_bad_input(tmp_path: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    done = joulemark(*CASE, *arguments, "--store", str(tmp_path / "s.db"), code=code)
    assert message in done.stderr


def test_a_key_agreement_needs_no_size(tmp_path: Path) -> None:
    """No strength suffices, so nothing is measured."""
    command = ("choose", "--board", "telosb", "--kind", "key-agreement", "--status", "standard")
    for size in ((), ("--size", "0")):
        some = (*command, *size, "--security-bits", "4000", "--store", str(tmp_path / "s.db"))
        assert "none of" in joulemark(*some, code=13).stderr


def test_a_ciphers_key_setup_has_no_message(tmp_path: Path) -> None:
    command = ("choose", "--board", "telosb", "--kind", "block-cipher", "--operation", "init")
    some = (
        "--no-constant-time",
        "--primitive",
        "present-80",
        "--max-flash",
        "1",
        "--store",
        str(tmp_path / "s.db"),
    )
    assert "flash at most 1 bytes" in joulemark(*command, *some, code=13).stderr


def test_stored_without_anything_says_how_to_get_it(store: str) -> None:
    done = joulemark(
        "choose", "--board", "telosb", "--kind", "mac", "--stored", "--store", store, code=3
    )
    assert "leave --stored out" in done.stderr


def test_choosing_over_a_full_store_takes_under_a_second(tmp_path: Path) -> None:
    """As many records as the default campaign has cases; a tenth of them are candidates."""
    path = tmp_path / "full.db"
    full = [
        record(
            key=f"{kind} {name} {opt} {size}",
            kind=kind,
            primitive=f"{kind}-{name}",
            optimisation=opt,
            message_bytes=size,
            energy_net_nj=size + name,
        )
        for kind, name, opt, size in itertools.product(
            ("hash", "mac", "aead", "mode"), range(60), ("O3", "O2", "Os"), range(8, 96, 8)
        )
    ]
    assert len(full) == 7920
    with Store(path) as opened:
        opened.append(*full)
    asked = (*CASE, "--primitive", "*", "--stored", "--store", str(path))
    joulemark(*asked)
    started = time.process_time()
    done = joulemark(*asked, "--format", "json")
    assert time.process_time() - started < 1
    assert len(json.loads(done.stdout)["candidates"]) == 60 * 3


def test_memory_counts_what_the_caller_holds() -> None:
    kem = library()["ml-kem-512"]
    held = {o: kem.contract.buffers_bytes(o, kem.sizes) for o in ("keygen", "encapsulate")}
    # FIPS 203, table 3: keys of 800 and 1632 bytes, ciphertext 768, secret 32; seeds of 64 and 32.
    assert held == {"keygen": 64 + 1632 + 800, "encapsulate": 32 + 800 + 768 + 32}
    x25519 = library()["x25519"]
    assert x25519.contract.buffers_bytes("agree", x25519.sizes) == 3 * 32
    aead = library()["aes-128-ccm"]
    sizes = {**aead.sizes, "message": 40, "ad": 12}
    held_bytes = aead.contract.buffers_bytes("encrypt", sizes)
    assert held_bytes == 16 + aead.sizes["nonce_bytes"] + 12 + 40 + 40 + aead.sizes["tag_bytes"]


def test_what_does_not_fit_is_named_with_what_is_missing() -> None:
    small = option(primitive="small", stack_bytes=100)
    large = [
        option(primitive="large", implementation=i, stack_bytes=n)
        for i, n in (("a", 400), ("b", 300))
    ]
    weak = option(primitive="weak", stack_bytes=900, subject_status="broken")
    demands = choice.demands(max_memory_bytes=small.memory_bytes, max_flash_bytes=1000)
    judged = choice.Judged(demands=demands, found=[small, *large, weak])
    assert judged.good == [small]
    assert judged.too_large() == {"large": (large[1], {"RAM in all": 200})}


ON_TWO = ("choose", "--board", "stm32vldiscovery", "--board", "openmote-cc2538", "--stored")
VERIFY = (*ON_TWO, "--kind", "signature", "--operation", "verify", "--primitive", "ml-dsa-*")


@pytest.fixture(scope="module")
def on_two(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of ML-DSA on two boards of one instruction set, the smaller too small for -65."""

    def verify(board: str, primitive: str, **given: object) -> PrimitiveRecord:
        of_board = {"board": board, "primitive": primitive, "kind": "signature"}
        how = {"operation": "verify", "implementation": "armv7m-lean", "message_bytes": 32}
        return record(**(of_board | how | {"stack_bytes": 2800, "ram_bytes": 1} | given))

    path = str(tmp_path_factory.mktemp("two") / "s.db")
    failure = "stack-overflow: the stack grows into data: it may use 0x1 and up (address 0x0)"
    with Store(path) as opened:
        opened.append(
            verify("stm32vldiscovery", "ml-dsa-44", key="a"),
            verify("stm32vldiscovery", "ml-dsa-65", key="b", status="failed", failure=failure),
            verify("stm32vldiscovery", "ml-dsa-87", key="c", status="failed", failure=failure),
            verify("openmote-cc2538", "ml-dsa-44", key="d", energy_net_nj=50),
            verify("openmote-cc2538", "ml-dsa-65", key="e", stack_bytes=2900),
        )
    return path


def test_of_several_boards_each_ones_best_is_shown_and_what_is_missing(on_two: str) -> None:
    rows = list(
        csv.DictReader(io.StringIO(joulemark(*VERIFY, "--format", "csv", "--store", on_two).stdout))
    )
    shown = [(row["board"], row["primitive"], row["energy µJ"]) for row in rows]
    assert shown == [
        ("stm32vldiscovery", "ml-dsa-44", "0.1"),
        ("stm32vldiscovery", "ml-dsa-65", ""),
        ("openmote-cc2538", "ml-dsa-44", "0.05"),
        ("openmote-cc2538", "ml-dsa-65", "0.1"),
    ]
    # FIPS 204, table 2: a public key of 1952 bytes, a signature of 3309; the chip has 8 KB.
    needed = 1 + 2900 + 1952 + 3309 + 32
    assert [row["missing RAM"] for row in rows] == ["", str(needed - 8192), "", ""]
    text = joulemark(*VERIFY, "--store", on_two).stdout
    assert f"ml-dsa-65 does not fit: {needed - 8192:,} bytes of RAM are missing" in text
    assert "as on openmote-cc2538" in text
    assert "ml-dsa-87 has no figure: stack-overflow" in text


def test_python_answers_for_several_boards_as_the_command_does(on_two: str) -> None:
    boards = ["stm32vldiscovery", "openmote-cc2538"]
    asked = partial(
        choose,
        boards,
        "signature",
        operation="verify",
        primitive="ml-dsa-*",
        stored=True,
        store=on_two,
    )
    found = asked()
    assert list(found["board"]) == [name for name in boards for _ in range(2)]
    assert list(found["missing RAM"].dropna()) == [2]
    limited = asked(max_memory_bytes=6500)
    assert list(limited["energy µJ"].dropna()) == []
    assert (limited["missing RAM"] > 0).all()


def test_several_boards_where_nothing_satisfies(on_two: str) -> None:
    done = joulemark(*VERIFY, "--max-memory", "100", "--store", on_two, code=13)
    assert "stm32vldiscovery: nothing satisfies all demands: give up RAM in all" in done.stdout
    assert "on any of 2 boards" in done.stderr


def test_a_board_that_nothing_runs_on_leaves_the_others_theirs(on_two: str) -> None:
    done = joulemark(*VERIFY, "--board", "telosb", "--store", on_two)
    assert "telosb: nothing" in done.stdout
    assert ["openmote-cc2538", "ml-dsa-44"] in [
        line.split()[:2] for line in done.stdout.splitlines()
    ]


def test_updates_are_of_one_board() -> None:
    done = joulemark(*ON_TWO, "--kind", "update", code=3)
    assert "give one board" in done.stderr


def test_a_rank_of_a_protocols_side_says_which() -> None:
    from joulemark.cli.choose import By, _ranked_by

    def told(kind: str, *operation: str) -> list[str]:
        asked = choosing.question("telosb", kind, operation=operation)
        return list(_ranked_by(asked, By.ENERGY))

    assert told("kem") == [
        "ranked by energy: decapsulate alone; --operation encapsulate ranks the other side"
    ]
    assert told("kem", "encapsulate")[0].startswith("ranked by energy: encapsulate alone; ")
    assert told("signature", "verify")[0].endswith("--operation sign ranks the other side")
    assert told("hash") == []
