"""Modelled power: planted leaks of shares are found at their lines, and clean code raises no alarm.

`masked.S` has the programs. A correlation attack finds the key of AES without masks, and weights
that were used to make traces are fitted back to them.
"""

import json
import re
import shlex
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from joulemark._engine import ACTIVITY, Image, Machine
from joulemark.analysis import side_channel
from joulemark.catalogue import chips
from joulemark.catalogue.boards import load_board
from joulemark.cli import _output, _power, app
from joulemark.cli._output import Form
from joulemark.errors import ClaimError, InputError
from joulemark.measure import power, weights
from joulemark.measure.following import Place
from joulemark.project import ROOT

SOURCE = Path(__file__).with_name("masked.S")
BOARDS = {"stm32vldiscovery": ("cortex-m3", 0x08000200), "nrf52840-dk": ("cortex-m4", 0x200)}
PLANTED = re.findall(r"^function (leaks_by_\w+)", SOURCE.read_text(), re.MULTILINE)


@lru_cache
def built(board: str, folder: Path) -> Path:
    cpu, text = BOARDS[board]
    (folder / "sbox.inc").write_text(f".byte {', '.join(map(str, side_channel.aes_sbox()))}\n")
    path = folder / f"{board}.elf"
    compile_ = ["arm-none-eabi-gcc", f"-mcpu={cpu}", "-nostdlib", "-g", f"-I{folder}"]
    places = [f"-Wl,-Ttext={text:#x}", "-Wl,-Tbss=0x20000000", "-Wl,-e,starts"]
    # The assembler's own search path is not the compiler's.
    compile_ += [f"-Wa,-I{folder}"]
    subprocess.run([*compile_, *places, str(SOURCE), "-o", str(path)], check=True)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("masked")


def modelled(
    path: Path, board: str, function: str, *secrets: power.Shared, traces: int = 200
) -> power.Modelled:
    fresh = [("masks", 2)] if "sub_bytes" in function else []
    target = power.OfProgram(path, load_board(board), function, secrets, fresh=fresh)
    return power.model(target, function, traces=traces)


def leaks(*arguments: str, catch: bool = False) -> Result:
    return CliRunner().invoke(app, ["leaks", "--power", *arguments], catch_exceptions=catch)


WORD = power.Shared(("share0", "share1"), 4)
STATE = power.Shared(("state0", "state1"), 16)


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("function", PLANTED)
def test_a_planted_leak_is_found_at_its_line(function: str, board: str, folder: Path) -> None:
    found = modelled(built(board, folder), board, function, WORD)
    lines = SOURCE.read_text().split(f"function {function}\n")
    marked = next(line for line in lines[1].splitlines() if "@" in line)
    number = 2 + lines[0].count("\n") + lines[1].split(marked)[0].count("\n")
    (only,) = found.instructions
    assert (only.place.line, only.component) == (number, marked.split("@")[1].strip())
    assert found.diverges is None


@pytest.mark.parametrize("board", BOARDS)
def test_what_keeps_shares_apart_raises_no_alarm(board: str, folder: Path) -> None:
    assert not modelled(built(board, folder), board, "keeps_apart", WORD).leaking1


def test_a_masked_sbox_leaks_in_second_order_alone(folder: Path) -> None:
    board = "stm32vldiscovery"
    # A cycle reaches the threshold by chance, and does not when it is tested again.
    found = modelled(built(board, folder), board, "sub_bytes", STATE, traces=600)
    assert not found.leaking1
    assert min(found.t1, found.t2) > side_channel.THRESHOLD


def test_a_masked_sbox_leaks_where_a_register_keeps_a_byte_of_the_same_mask(folder: Path) -> None:
    board = "stm32vldiscovery"
    found = modelled(built(board, folder), board, "leaks_in_sub_bytes", STATE)
    (only,) = found.instructions
    assert (only.component, only.place.instruction) == ("register distance", "mov r8, r3")


def test_the_key_of_aes_without_masks_is_found(folder: Path) -> None:
    path = built("stm32vldiscovery", folder)
    target = power.OfProgram(
        path,
        load_board("stm32vldiscovery"),
        "unmasked",
        [power.Shared(("key",), 16)],
        plaintext="state0",
    )
    found = power.model(target, "unmasked", traces=200)
    assert found.recovered >= 12
    assert sum("S-box's output" in line_of(place) for place in found.attack_places) >= 12
    told = _power._about_power([{"board": "stm32vldiscovery", "function": "unmasked"}], [found])
    assert "few or none say nothing of bit-sliced or fixsliced code" in "".join(told)


def line_of(place: Place) -> str:
    return SOURCE.read_text().splitlines()[(place.line or 1) - 1]


def test_a_program_whose_shares_leak_ends_the_command(folder: Path) -> None:
    path, where = built("stm32vldiscovery", folder), ("--board", "stm32vldiscovery")
    of = ("--secret", "share0^share1:4", "--traces", "80")
    done = leaks(str(path), *where, "--call", "leaks_by_bus", *of, catch=True)
    assert isinstance(done.exception, ClaimError)
    assert "model, not measured" in done.output
    assert "masked.S" in done.output
    done = leaks(str(path), *where, "--call", "keeps_apart", *of, "--format", "json")
    (row,) = json.loads(done.output)
    assert (row["grade"], row["traces"], row["instructions"]) == ("model", 80, [])


def test_github_shows_the_line_at_which_shares_leak(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(ROOT))
    path, where = built("stm32vldiscovery", folder), ("--board", "stm32vldiscovery")
    of = ("--call", "leaks_by_bus", "--secret", "share0^share1:4", "--traces", "80")
    (shown,) = re.findall("^::error.*$", leaks(str(path), *where, *of, catch=True).output, re.M)
    number = int(re.findall(r"masked\.S,line=(\d+),title=a secret shows", shown)[0])
    assert "@ bus distance" in SOURCE.read_text().splitlines()[number - 1]


def test_findings_are_the_last_that_a_narrow_terminal_omits(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = built("stm32vldiscovery", folder)
    found = modelled(path, "stm32vldiscovery", "leaks_by_bus", WORD, traces=80)
    names = {"board": "stm32vldiscovery", "implementation": "aes-128/armv7m-fixslice"}
    monkeypatch.setattr(_output, "width", lambda: 60)
    _power._show_power([names | {"build": "gcc -O2"}], [found], Form.TEXT)
    head = capsys.readouterr().out.splitlines()[0].split()
    assert head[-2:] == ["leaking", "instructions"]


def test_the_page_shows_what_its_commands_say(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs/power-model.md").read_text()
    (block,) = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    of_primitive, *of_program = block.splitlines()
    (tmp_path / "masked.elf").symlink_to(built("stm32vldiscovery", folder))
    monkeypatch.chdir(tmp_path)
    for command in of_program:
        done = leaks(*shlex.split(command)[3:], catch=True)
        assert isinstance(done.exception, ClaimError) == ("^" in command), done.output
    kept = ("--format", "json", "--save", "traces.npz")
    (row,) = json.loads(leaks(*shlex.split(of_primitive)[3:], *kept).output)
    attack, instructions = row["attack"], row["instructions"]
    found = f"{attack['recovered']} of 16 after {attack['needs']}"
    shown = (f"{row['t1']:.1f}", f"{row['leaking_cycles']:,}", len(instructions))
    cells = " | ".join(map(str, (f"{row['cycles']:,}", *shown, f"{row['t2']:.1f}", found)))
    where = f"{row['board']} | {row['implementation']} | {row['build']} | {row['operation']}"
    assert f"| {where} | {cells} | model |" in page
    assert attack["bytes"][0]["place"]["file"].endswith("ttable/aes.c")
    with np.load("traces.npz") as arrays:
        assert arrays["traces"].shape == (200, row["cycles"])
        assert arrays["textin"].shape == (200, 16)


def test_counting_changes_no_cycle(folder: Path) -> None:
    image = Image.load(built("stm32vldiscovery", folder))
    chip = chips.load_chip("stm32f100rb")
    ends = []
    for counts in (False, True):
        machine = Machine(chip, image)
        machine.count_activity(counts)
        stop = machine.run(until=image.symbols["unmasked"], max_cycles=100_000)
        assert stop.reason == "address"
        ends.append((machine.cycles, machine.instructions, machine.registers))
        rows, executes, transfers = machine.take_activity()
        assert len(executes) == len(transfers) == 4 * len(rows) // len(ACTIVITY)
        assert bool(rows) == counts
    assert ends[0] == ends[1]


def test_weights_are_fitted_back(folder: Path, tmp_path: Path) -> None:
    target = power.OfProgram(
        built("stm32vldiscovery", folder),
        load_board("stm32vldiscovery"),
        "unmasked",
        [power.Shared(("key",), 16)],
        plaintext="state0",
    )
    source = np.random.default_rng(1)
    blocks = source.integers(0, 256, (240, 16), np.uint8)
    key = bytes(range(16))
    rows = np.stack(
        [target.given({"key": key, "state0": block.tobytes()}).rows for block in blocks]
    )
    true = np.zeros(len(ACTIVITY))
    true[[1, 2, 9]] = 0.5, 0.25, 1.0
    # Later by 7 samples, two cycles longer from cycle 100 on, as a drop of voltage, with noise.
    samples = np.repeat(-(rows @ true), 2, axis=1)
    samples = np.concatenate([samples[:, :200], samples[:, 196:200], samples[:, 200:]], axis=1)
    samples = np.pad(samples, ((0, 0), (7, 9))) + source.normal(0, 1, (240, samples.shape[1] + 16))
    path = tmp_path / "recorded.npz"
    np.savez(
        path,
        traces=samples,
        key=np.frombuffer(key, np.uint8),
        state0=blocks,
        samples_per_cycle=2,
    )
    found = weights.fitted(path, lambda inputs: target.given(inputs).rows)
    assert found.fit.stalls == 2
    assert np.abs(found.weights - true).max() < 0.15
    assert (
        found.row["correlation"]["median"] > found.row["correlation_with_equal_weights"]["median"]
    )


def test_every_published_weight_has_a_source_and_counts_something() -> None:
    for name, each in weights.published().items():
        assert each.source.startswith("elmo, ")
        assert set(each.weights) <= set(ACTIVITY)
        assert weights.named(name).max() == 1.0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--traces", "8"), "8 are too few"),
        (("--weights", "elmo"), "did you mean elmo-m3 or elmo-m0?"),
        (("--weights", "nowhere.npz"), "No such file"),
        (("--random", "masks:2"), "needs a program"),
        (("--branches",), "not of modelled power"),
        (("--board", "raspberry-pi-pico-w"), "no such board"),
    ],
)
def test_what_cannot_be_modelled_is_refused(arguments: tuple[str, ...], said: str) -> None:
    of = ("--primitive", "aes-128", "--implementation", "ttable", "--operation", "encrypt")
    done = leaks(*of, "--opt", "O2", *arguments, catch=True)
    assert isinstance(done.exception, InputError)
    assert said in str(done.exception), str(done.exception)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--secret key:16 --random key:16", "--random: key and key of --secret have bytes in"),
        ("--secret key^key:16", "--secret: key and key of --secret have bytes in common"),
        ("--secret key:16 --secret key:4", "--secret: key and key of --secret"),
        ("--secret share0^share1:4 --random share1:1", "--random: share1 and share1 of --secret"),
        ("--secret key:16 --plaintext key", "--plaintext: key and key of --secret"),
    ],
)
def test_bytes_that_are_given_twice_are_refused(given: str, said: str, folder: Path) -> None:
    """What is written last would be random in all traces, and nothing would tell them apart."""
    path, where = built("stm32vldiscovery", folder), ("--board", "stm32vldiscovery")
    done = leaks(str(path), *where, "--call", "unmasked", *given.split(), catch=True)
    assert str(done.exception).startswith(said)


def test_bytes_side_by_side_are_no_overlap() -> None:
    power._refuse_overlaps([("a", "--secret", 16, 4), ("b", "--secret", 12, 4)])
    with pytest.raises(InputError, match="b and a of --secret"):
        power._refuse_overlaps([("a", "--secret", 16, 4), ("b", "--random", 13, 4)])


@pytest.mark.parametrize("option", ["--operation encrypt", "--implementation x", "--opt O2"])
def test_options_of_primitives_are_refused_with_a_program(option: str, folder: Path) -> None:
    path, where = built("stm32vldiscovery", folder), ("--board", "stm32vldiscovery")
    of = ("--call", "unmasked", "--secret", "key:16")
    done = leaks(str(path), *where, *of, *option.split(), catch=True)
    assert isinstance(done.exception, InputError)
    assert str(done.exception).startswith(f"{option.split(maxsplit=1)[0]}: ")


@pytest.mark.parametrize("option", ["--traces 50", "--weights equal", "--save x.npz"])
def test_options_of_power_need_it(option: str) -> None:
    done = CliRunner().invoke(app, ["leaks", "--primitive", "aes-128", *option.split()])
    assert "give --power too" in str(done.exception)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({}, "no array 'traces'"),
        ({"traces": np.zeros(3)}, "not rows of finite numbers"),
        ({"traces": np.zeros((8, 9))}, "8 traces are too few"),
        ({"traces": np.zeros((50, 9)), "samples_per_cycle": 0.5}, "no whole number"),
        ({"traces": np.zeros((50, 9)), "key": np.zeros(16)}, "array 'key' is not bytes"),
        ({"traces": np.zeros((50, 9)), "key": np.zeros((9, 16), np.uint8)}, "has 9 rows"),
    ],
)
def test_a_file_of_traces_that_is_wrong_is_refused(
    arrays: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "recorded.npz"
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=said):
        weights.fitted(path, lambda _: np.zeros((3, len(ACTIVITY)), np.uint8))
    path.write_bytes(b"not a zip")
    with pytest.raises(InputError, match=r"is no \.npz file"):
        weights.fitted(path, lambda _: np.zeros((3, len(ACTIVITY)), np.uint8))
