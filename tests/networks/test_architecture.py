"""`joulemark architecture`: tables from one command, each number verified; another architecture."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from command import joulemark
from joulemark.catalogue import boards
from joulemark.catalogue.architectures import load_architecture
from joulemark.errors import InputError
from joulemark.images import BuiltImage, build_program, memory
from joulemark.project import FIRMWARE, NETWORKS, ROOT
from joulemark.records.record import Record
from joulemark.records.store import Store
from joulemark.subjects.architecture import ArchitectureSubject

TELOSB = boards.load_board("telosb")


def check_advice(text: str, records: Mapping[Any, Any]) -> None:
    """Check the guide's statements on the cheapest policy."""
    packet = {}
    for policy in ("Skipjack and SHA-1", "AES-128-CCM*", "Ascon-AEAD128"):
        computing = records["processing", f"{policy}: secure"]["energy_gross_nj"].value
        sending = records["communication", f"{policy}: secure"]["radio_energy_nj"].value
        packet[policy] = (computing + sending) / 1000
    figures = {
        "Skipjack and SHA-1": r"packet of 8 bytes: (\d+) to compute, (\d+) to send",
        "AES-128-CCM*": r"by the radio \d+ µJ \((\d+) and (\d+)",
        "Ascon-AEAD128": r"Ascon-AEAD128 \d+ µJ \((\d+) and (\d+)",
    }
    for policy, pattern in figures.items():
        ((computing, sending),) = re.findall(pattern, text)
        assert int(computing) + int(sending) == pytest.approx(packet[policy], rel=0.05)
    assert min(packet, key=packet.__getitem__) == "AES-128-CCM*"


def _commands() -> tuple[str, str]:
    """Return the guide's commands: those of what is shipped, and those of one's own policy."""
    text = (ROOT / "docs/architectures.md").read_text()
    shipped, own = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return shipped, own


def test_the_guides_own_policy_is_priced(tmp_path: Path) -> None:
    printed = ""
    for line in _commands()[1].splitlines():
        program, *arguments = shlex.split(line.removeprefix("$ "))
        assert program == "joulemark"
        quick = ("--repetitions", "2", "--executions", "1") if "architecture" in arguments else ()
        printed = joulemark(*arguments, *quick, folder=tmp_path).stdout
    assert "mine" in printed


def test_every_command_of_the_guide_runs_and_its_figures_are_so(tmp_path: Path) -> None:
    text = (ROOT / "docs/architectures.md").read_text()
    block, _ = _commands()
    printed = ""
    for line in block.splitlines():
        program, *arguments = shlex.split(line.removeprefix("$ "))
        assert program == ".venv/bin/joulemark"
        store = (
            ()
            if "list" in arguments
            else ("--store", str(tmp_path / "a.db"), "--repetitions", "2", "--executions", "1")
        )
        printed += joulemark(*arguments, *store).stdout
    assert "plasa" in printed
    with Store(str(tmp_path / "a.db")) as store_:
        records = {
            (r.subject.aspect, r.subject.row): {q.column(): q for q in r.quantities}
            for r in store_.records()
            if isinstance(r.subject, ArchitectureSubject)
            if not r.subject.wiring
        }

    def flash(row: str) -> int:
        value = records["memory", row]["flash_bytes"].value
        assert isinstance(value, int)
        return value

    def with_all(row: str) -> int:
        """Price a module as daidone-2014 does: with all that it is over, minus KeyDB."""
        value = records["memory", row]["with_all_flash_bytes"].value
        assert isinstance(value, int)
        return value - flash("KeyDB")

    # The paper's bars, and the guide's statements on them.
    assert flash("KeyDB") < 198
    assert with_all("STaR") < 1610
    assert with_all("Authentication") < 2720
    assert flash("Rekeying client") < 288
    star = records["processing", "STaR: secure"]["time_ps"].value / 1e6
    assert star < 96
    # The guide's statements hold while drivers below change only a little.
    told = {
        row: [float(n.replace(",", "")) for n in re.findall(r"[\d,]+", cells)]
        for row, cells in re.findall(r"^\| ([A-Z].*?) \|([\d, |]+)\|$", text, re.MULTILINE)
    }
    rekeying = records["processing", "rekeying"]["time_ps"].value / 1e6
    assert told["KeyDB, bytes"] == [198, flash("KeyDB"), flash("KeyDB")]
    assert told["STaR without cryptography, µs"] == [96, pytest.approx(star, rel=0.03)]
    assert told["Rekeying, µs"] == [925, pytest.approx(rekeying, rel=0.03)]
    for row, bar, *back in (
        ("STaR", 1610),
        ("Authentication", 2720, 1),
        ("Rekeying client", 288, 1),
    ):
        given_back = records["memory", row]["given_back_flash_bytes"].value
        ours = [flash(row), with_all(row), *(given_back for _ in back)]
        assert told[row] == [bar, *(pytest.approx(n, rel=0.03) for n in ours)]
    assert records["memory", "Rekeying client"]["given_back_flash_bytes"].value < 288
    on_air = {row: q["on_air_bytes"].value for (a, row), q in records.items() if a[0] == "c"}
    assert (on_air["bootstrapping"], on_air["rekeying"], on_air["STaR: secure"]) == (93, 47, 1)
    # Observed rows have the computed number of bytes, or the command fails. A policy whose
    # broadcast was lost may be missing.
    seen = [row for (_, row), q in records.items() if "seen_time_ps" in q]
    assert {"bootstrapping", "rekeying", "request key", "Ascon-AEAD128: secure"} <= set(seen)
    assert len(seen) >= 9
    check_advice(text, records)
    attacks = {row: q["energy_more_nj"].value for (a, row), q in records.items() if a == "attack"}
    assert len(attacks) == 9
    assert min(attacks.values()) > 0
    # The guide's statements on the dearest ones.
    frames = {row: records["attack", row]["attacker_frames"].value for row in attacks}
    dear = ["Flood of hellos", "Forged renewals, far ahead"]
    each = {row: attacks[row] / frames[row] for row in attacks if frames[row] > 9}
    assert sorted(each, key=each.__getitem__, reverse=True)[:2] == dear
    # The whole is the sum of its modules and of what they share, to the byte.
    memory = {row: q["flash_bytes"].value for (a, row), q in records.items() if a == "memory"}
    whole = memory.pop("Whole architecture")
    del memory["Basic"]
    assert sum(memory.values()) == whole


def image(also: list[str], **options: Any) -> bytes:
    wiring = load_architecture("plasa").wiring_of("msp430")
    built = build_program("plasa/application", TELOSB, also=also, wiring=wiring, **options)
    return built.path.read_bytes()


def sections(built: BuiltImage) -> Counter[tuple[str, str]]:
    """Return bytes of flash by source and function or constant, as the linker reports them."""
    line = r"^ *\w+ +\w+ +(\w+) +\d+ +\S*\d+-\w+-(\w+)_[cS]\.o:\(\.(?:text|rodata)\.([\w.]+)"
    text = (built.path.parent / "image.map").read_text()
    found: Counter[tuple[str, str]] = Counter()
    for size, source, name in re.findall(line, text, re.MULTILINE):
        found[source, name] += int(size, 16)
    return found


def test_the_guide_has_the_rekeying_client_to_the_byte() -> None:
    """By the paper's formula: alone, and where another module has brought its dependencies."""
    plasa = load_architecture("plasa")
    wiring = plasa.wiring_of("msp430")

    def wired(*modules: str) -> BuiltImage:
        found = plasa.wired(wiring, *modules, whole=False)
        options: Any = {"also": found.parts, "keep": found.keep, "wiring": wiring}
        return build_program(
            "plasa/application", TELOSB, **options, clock="tinyos", optimisation="Os"
        )

    keys, client = wired("KeyDB"), wired("KeyDB", "Rekeying client")
    taken = sections(client) - sections(keys)
    by_source: Counter[str] = Counter()
    for (source, _), size in taken.items():
        by_source[source] += size
    engine = by_source["cc2420"] + by_source["cipher"]
    named = {
        "the client": by_source["client"],
        "its place": by_source["interception"],
        "sealed messages": by_source["messages"],
        "AES-128 by the radio": engine,
        "in all": memory.difference(client, keys).flash_bytes,
    }
    text = (ROOT / "docs/architectures.md").read_text()
    rows = dict(re.findall(r"^\| ([^|]+) \| ([\d,]+) \|$", text, re.MULTILINE))
    for what, ours in named.items():
        (told,) = (number for row, number in rows.items() if row.startswith(what))
        assert int(told.replace(",", "")) == pytest.approx(ours, rel=0.03), what
    assert by_source["client"] + by_source["interception"] < 288
    with_it = wired("KeyDB", "Authentication", "Rekeying client")
    beside = memory.difference(with_it, wired("KeyDB", "Authentication")).flash_bytes
    (told,) = re.findall(r"the paper's formula gives (\d+) bytes", text)
    assert int(told) == pytest.approx(beside, rel=0.03)
    assert beside < 288


def test_what_is_in_the_store_is_not_measured_again(tmp_path: Path) -> None:
    store = str(tmp_path / "a.db")
    once = ("--repetitions", "1", "--executions", "1")

    def priced(*options: str) -> list[Record[Any]]:
        joulemark("architecture", "plasa", "--store", store, "--only", "processing", *options)
        with Store(store) as kept:
            return kept.records(history=True)

    first = priced(*once)
    assert len(first) == 23
    assert priced(*once) == first
    # Other seeds and other parts give separate tables.
    assert len(priced(*once, "--seed", "2")) == 2 * len(first)
    wire = ("--wire", "sha-1=primitives/hash/sha-1/ref")
    assert len(priced(*once, *wire)) == 3 * len(first)


def test_the_application_is_the_same_with_the_architecture_and_without() -> None:
    wiring = load_architecture("plasa").wiring_of("msp430")
    wired = load_architecture("plasa").wired(wiring, "STaR", "Authentication")
    options: Any = {"also": wired.parts, "keep": wired.keep, "wiring": wiring}
    with_it = build_program("plasa/application", TELOSB, **options)
    without = build_program("plasa/application", TELOSB, wiring=wiring)

    def objects(built: Any) -> set[str]:
        """Return names of objects, which are derived from what they are made of."""
        ours = ("application/main.c", "csma/csma.c", "ieee802154/frame.c")
        return {c[-1] for c in built.commands if any(c[-3].endswith(name) for name in ours)}

    sources = {Path(c[-3]).name for c in with_it.commands if "-c" in c}
    assert {"star.c", "authentication.c", "interception.c"} <= sources
    assert len(objects(without)) == 3
    # A part does not include what it merely sees of other parts' headers: its code is the same.
    code = [
        sorted(Path(ROOT / path).read_bytes() for path in objects(b)) for b in (with_it, without)
    ]
    assert code[0] == code[1]


def test_without_the_architecture_the_image_is_that_of_a_tree_without_it(tmp_path: Path) -> None:
    root = tmp_path / "checkout"
    shutil.copytree(FIRMWARE, root / "firmware")
    for folder in (root / "firmware/plasa").iterdir():
        if folder.is_dir() and folder.name != "application":
            shutil.rmtree(folder)
    for name in ("chips", "boards"):
        shutil.copytree(ROOT / name, root / name)
    script = (
        "import sys\n"
        "from joulemark.catalogue import boards\n"
        "from joulemark.images import build_program\n"
        "print(build_program('plasa/application', boards.load_board('telosb')).path)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "JOULEMARK_ROOT": str(root), "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()).read_bytes() == image([])


def test_a_radio_without_aes_says_what_to_wire(tmp_path: Path) -> None:
    arguments = ("architecture", "plasa", "--board", "nrf52840-dk", "--only", "memory")
    done = joulemark(*arguments, "--store", str(tmp_path / "a.db"), code=5)
    (line,) = done.stderr.splitlines()
    wires = "--wire cipher=plasa/cipher/software --wire ccm-star=net/ccm-star/software"
    assert line.endswith(f"radio has no AES: {wires}")
    assert len(line) < 200


def test_a_wrong_name_or_board_is_one_clear_error(tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "a.db"))
    for arguments, message in (
        (("plas",), "no such architecture"),
        (("plasa", "--board", "stm32vldiscovery"), "its radio has no driver here"),
        (("plasa", "--clock", "9 GHz"), "9 GHz"),
    ):
        done = joulemark("architecture", *arguments, *store, code=3)
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('over = ["STaR"]', 'over = ["Star"]'), "there is no module Star"),
        (('keep = ["star_change"', 'kept = ["star_change"'), "unknown key"),
        (("application = ", "# "), "missing"),
    ],
)
def test_a_wrong_file_is_one_clear_error(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    folder = tmp_path / "plasa"
    folder.mkdir()
    text = (FIRMWARE / "plasa/architecture.toml").read_text()
    assert change[0] in text
    (folder / "architecture.toml").write_text(text.replace(*change))
    with pytest.raises(InputError, match=message):
        load_architecture("plasa", tmp_path)


def test_rows_come_as_json(tmp_path: Path) -> None:
    options = (
        "--repetitions",
        "2",
        "--executions",
        "1",
        "--format",
        "json",
        "--store",
        str(tmp_path / "a.db"),
    )
    rows = json.loads(joulemark("architecture", "plasa", *options).stdout)
    assert {"memory", "processing", "communication"} == {row["aspect"] for row in rows}
    secure = next(r for r in rows if r["row"] == "STaR: secure" and r["quantity"] == "cycles")
    assert secure["value"] > 0


def test_boards_of_two_kinds_speak_under_it(tmp_path: Path) -> None:
    lines = tmp_path / "uart"
    options = ("--for", "1300ms", "--uart", str(lines), "--json")
    joulemark("network", str(NETWORKS / "plasa-mixed.toml"), *options)
    (heard,) = (path.read_text().splitlines() for path in lines.glob("authority.*"))
    for mote in (2, 3):
        assert f"admitted {mote}" in heard
        pattern = rf"heard 64(..)001122334455 from {mote}"
        numbers = [int(n, 16) for n in re.findall(pattern, "\n".join(heard))]
        assert len(numbers) >= 2
        assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("board", ["openmote-cc2538", "sensortag-cc2650"])
def test_every_operation_is_right_on_arm(tmp_path: Path, board: str) -> None:
    options = ("--board", board, "--only", "processing", "--format", "json")
    short = ("--repetitions", "1", "--executions", "1", "--store", str(tmp_path / "a.db"))
    rows = json.loads(joulemark("architecture", "plasa", *options, *short).stdout)
    assert len({row["row"] for row in rows}) == 23


def test_what_an_attack_achieves_is_found() -> None:
    broken = load_architecture("plasa").oracle.broken
    right = ["admitted 2", "heard 6401001122334455 from 2", "heard 6402001122334455 from 2"]
    assert broken({"authority": right, "sensor": ["sent 1"]}) is None
    for lines, sensor, message in (
        ([*right, right[1]], [], "number 1 of 2 after 2"),
        ([*right, "heard 6403001122334456 from 2"], [], "nobody has sent"),
        (["admitted 2"], [], "hears nothing"),
        (right, ["heard 8"], "not for it"),
    ):
        assert message in str(broken({"authority": lines, "sensor": sensor}))


@pytest.mark.parametrize(
    ("wire", "message"),
    [
        ("cipher", "not INTERFACE=PART"),
        ("ciphre=plasa/cipher/software", "is wired to ciphre"),
        ("cipher=nothing", "no part nothing to wire to cipher; there are plasa/cipher/radio, "),
        ("boots=boots/msp340", "did you mean boots/msp430"),
    ],
)
def test_wrong_wires_are_one_clear_error(tmp_path: Path, wire: str, message: str) -> None:
    options = ("--wire", wire, "--only", "memory", "--store", str(tmp_path / "a.db"))
    assert message in joulemark("architecture", "plasa", *options, code=3).stderr


@pytest.mark.parametrize("board", ["telosb", "openmote-cc2538"])
def test_another_architecture_is_a_file(tmp_path: Path, board: str) -> None:
    store = ("--store", str(tmp_path / "a.db"))
    once = ("--repetitions", "1", "--executions", "1")
    options = ("--board", board, "--format", "json", *once, *store)
    rows = json.loads(joulemark("architecture", "link-security", *options).stdout)
    value = {(row["row"], row["quantity"]): row["value"] for row in rows}
    parts = ("CCM*", "Keys, devices, rules and procedures", "Secured slots", "Interaction")
    whole = value["Whole architecture", "flash_bytes"]
    assert sum(value[part, "flash_bytes"] for part in parts) == whole
    # sciancalepore-2016: 3.4 to 7.2 kB of a TelosB, 7.7 to 12.8 kB of an OpenMote.
    assert 4000 < whole < 8000
    assert value["Data frame, ENC-MIC-32", "on_air_bytes"] == 6
    assert value["Data frame, ENC-MIC-32", "seen_frames"] > 3
    # A data frame has seven blocks; an acknowledgement has only open bytes.
    data, acknowledgement = (
        value[f"{w}: secure", "cycles"] for w in ("data frame", "acknowledgement")
    )
    assert 1.5 * acknowledgement < data
    # With security in the radio, what was secured cannot be observed.
    wire = ("--wire", "ccm-star=net/ccm-star/hardware", "--only", "processing")
    done = joulemark("architecture", "link-security", *wire, *store, code=3)
    assert "has no table of processing with these parts" in done.stderr


def test_a_mote_is_admitted_over_the_air_and_again_after_a_restart(tmp_path: Path) -> None:
    lines = tmp_path / "uart"
    options = ("--for", "2700ms", "--uart", str(lines), "--store", str(tmp_path / "a.db"))
    joulemark("network", str(NETWORKS / "plasa-telosb.toml"), *options, "--json")
    heard = (lines / "authority.usart1.txt").read_text()
    before, _, after = heard.partition("admitted 2")[2].partition("admitted 2")
    # The payloads that arrive are the application's: 'd', a number, and five bytes.
    for part in (before, after):
        numbers = [int(n, 16) for n in re.findall(r"heard 64(..)001122334455 from 2", part)]
        assert len(numbers) >= 1
        assert numbers == sorted(numbers)
        assert "refused" not in part
    assert before.count("heard") > 8
    sent = (lines / "sensor.usart1.txt").read_text()
    # Before there is a key nothing goes out, and nothing was sent unprotected.
    assert "not sent 0" in sent
