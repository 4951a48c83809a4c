"""What surrounds a board: as users write it, and as programs sense it."""

import json
import subprocess
from pathlib import Path

import pytest

from command import joulemark
from joulemark._engine import EngineError, Image, Machine, Network
from joulemark.catalogue import boards, chips
from joulemark.catalogue.surroundings import Points, since, surroundings
from joulemark.errors import InputError

SECOND = 10**12
BOARD = boards.load_board("telosb")


def points(value: float | str, folder: Path = Path()) -> Points:
    return surroundings({"x": value}, "here", folder)["x"]


def test_a_number_is_one_point() -> None:
    assert points(21.5) == points("21.5") == [(0, 21_500_000)]
    assert points("-2 ** 3 + 0.5") == [(0, -7_500_000)]


def test_an_expression_is_worked_out_each_hundredth_of_a_second_for_an_hour() -> None:
    found = points("20 + 5 * sin(2 * pi * t / 60)")
    assert found[100 * 15] == (15 * SECOND, 25_000_000)
    assert found[100 * 45] == (45 * SECOND, 15_000_000)
    assert found[-1][0] == 3600 * SECOND
    day = surroundings({"x": "t > 50"}, "here", Path(), until_s=7200)["x"]
    assert [day[100 * at][1] for at in (0, 50, 51, 7200)] == [0, 0, 1_000_000, 1_000_000]


def test_a_file_has_times_and_values(tmp_path: Path) -> None:
    (tmp_path / "light.csv").write_text("s,lux\n0,10\n\n1.5,20.5\n")
    assert points("light.csv", tmp_path) == [(0, 10_000_000), (3 * SECOND // 2, 20_500_000)]


@pytest.mark.parametrize(
    ("quantity", "value", "said"),
    [
        ("temperature_c", "1e9", "1e+09 is no value that there is; give -273.15 to 1000: absolute"),
        ("temperature_c", "-300", "-300 is no value that there is; give -273.15"),
        (
            "object_temperature_c",
            "20 - t",
            "-580 is no value that there is, at 600 s; give -273.15",
        ),
        ("humidity_percent", "101", "give 0 to 100"),
        ("light_lux", "-1", "give 0 to 1e+06"),
    ],
)
def test_what_cannot_be_is_refused(quantity: str, value: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        surroundings({quantity: value}, "--around", Path(), until_s=600)
    assert f"--around, {quantity}: " in str(error.value)
    assert said in str(error.value)


def test_an_expression_may_be_anything_after_the_run() -> None:
    assert surroundings({"x_c": "20 - t"}, "here", Path(), until_s=10)["x_c"][-1][1] < -3e9


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("21 degrees", "here, x: '21 degrees' is no expression; write a number"),
        ("__import__('os')", "has no place in"),
        ("t.real", "has no place in"),
        ("u + 1", "'u' has no place in 'u + 1'"),
        ("'1'", "has no place in"),
        ("True", "has no place in"),
        ("1 / 0", "has no value"),
        ("1 / t", "no value that can be sensed"),
        ("sqrt(0 - t)", "no value that can be sensed"),
        ("sin(t, t, t, t, t)", "has no value"),
        ("none.csv", "none.csv: cannot be read: No such file"),
        ("1e300", "no value that can be sensed"),
    ],
)
def test_what_is_no_value_is_said(value: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        points(value)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no values; write lines of SECONDS,VALUE"),
        ("s,lux\n1,2,3\n", "line 2: has no time and value"),
        ("1,2\n1,3\n", "its times do not rise; sort its lines"),
        ("-1,2\n", "-1.0 s is no time of a run"),
        ("0,nan\n", "no value that can be sensed"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(InputError) as error:
        points("x.csv", tmp_path)
    assert said in str(error.value)


def test_a_board_that_starts_later_sees_what_is_then() -> None:
    line = [(0, 0), (10 * SECOND, 100)]
    assert since(line, 5 * SECOND) == [(0, 50), (5 * SECOND, 100)]
    assert since(line, 20 * SECOND) == [(0, 100)]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("surroundings")
    source = Path(__file__).with_name("surroundings.c")
    clang = ["clang-19", "--target=msp430", "-mmcu=msp430f1611", "-ffreestanding", "-nostdlibinc"]
    (folder / "vector.S").write_text('.section .reset,"a"\n.word start\n')
    made = ["ld.lld-19", "-Ttext=0x4000", "-Tbss=0x1100", "-e", "start"]
    made += ["--section-start=.reset=0xfffe", "surroundings.o", "vector.o", "-o", "program.elf"]
    for command in (
        [*clang, "-O1", "-Wall", "-Wextra", "-Werror", "-c", str(source), "-o", "surroundings.o"],
        ["clang-19", "--target=msp430", "-c", "vector.S", "-o", "vector.o"],
        made,
    ):
        subprocess.run(command, cwd=folder, check=True)
    return folder / "program.elf"


def read(machine: Machine, image: Image) -> list[int]:
    data = machine.read_memory(image.resolve("results"), 8)
    return [int.from_bytes(data[i : i + 2], "little") for i in range(0, 8, 2)]


def test_a_telosb_senses_what_surrounds_it(program: Path) -> None:
    image = Image.load(program)
    around: dict[str, float | str] = {
        "temperature_c": "10 + 10 * t",
        "humidity_percent": 40,
        "A4_v": 1.25,
    }
    machine = Machine(
        chips.load_chip(BOARD.chip),
        image,
        wiring=BOARD.wiring,
        trace=True,
        surroundings=surroundings(around, "here", Path()),
    )
    assert machine.run(until=image.resolve("done"), max_cycles=10_000_000).reason == "address"
    temperature, humidity, sensor, light = read(machine, image)
    # Its measurements end 320 and 400 ms after their commands; the converter is read right then.
    assert 13.2 <= -39.6 + 0.01 * temperature <= 13.35
    linear = -2.0468 + 0.0367 * humidity - 1.5955e-6 * humidity * humidity
    here = (14.1 - 25) * (0.01 + 0.00008 * humidity) + linear
    assert here == pytest.approx(40, abs=0.1)
    assert 14.0 <= (sensor * 2.5 / 4095 - 0.986) / 0.00355 <= 14.3
    assert light == pytest.approx(4095 * 1.25 / 2.5, abs=1)
    states = {each.state for each in machine.power_tracks["humidity-sensor"]}
    assert states == {"off", "sleep", "measuring"}


def test_a_mote_that_is_switched_on_again_senses_what_is_then(program: Path) -> None:
    image, chip = Image.load(program), chips.load_chip(BOARD.chip)
    line = surroundings({"temperature_c": "10 + t"}, "here", Path())["temperature_c"]
    network = Network()
    mote = network.add(chip, image, wiring=BOARD.wiring, surroundings={"temperature_c": line})
    network.run(SECOND)
    here = int.from_bytes(network.read_memory(mote, image.resolve("results"), 2), "little")
    assert 10.3 <= -39.6 + 0.01 * here <= 10.36
    later = {"temperature_c": since(line, network.time_ps)}
    network.restart(mote, chip, image, wiring=BOARD.wiring, surroundings=later)
    network.run(2 * SECOND)
    here = int.from_bytes(network.read_memory(mote, image.resolve("results"), 2), "little")
    assert 11.3 <= -39.6 + 0.01 * here <= 11.36


def test_what_nothing_senses_is_refused(program: Path) -> None:
    chip, image = chips.load_chip(BOARD.chip), Image.load(program)
    with pytest.raises(EngineError, match="nothing senses 'pressure_pa'; what is sensed is A0_v, "):
        Machine(chip, image, wiring=BOARD.wiring, surroundings={"pressure_pa": [(0, 1)]})
    with pytest.raises(EngineError, match="temperature_c: its times do not rise: 1 ps comes after"):
        Machine(chip, image, surroundings={"temperature_c": [(1, 1), (1, 2)]})
    openmote = boards.load_board("openmote-cc2538")
    with pytest.raises(EngineError, match="for the msp430 core"):
        Machine(chips.load_chip(openmote.chip), image, surroundings={"temperature_c": [(0, 1)]})


def test_exec_takes_what_surrounds_a_board(program: Path, tmp_path: Path) -> None:
    (tmp_path / "warm.csv").write_text("0,30\n10,30\n")
    asked = ["exec", str(program), "--board", "telosb", "--stop-at", "done", "--json"]
    asked += ["--read", "results:8", "--around", "temperature_c=warm.csv", "--around", "A4_v=2.5/5"]
    (row,) = json.loads(joulemark(*asked, folder=tmp_path).stdout)["read"]
    data = bytes.fromhex(row["hex"])
    assert int.from_bytes(data[:2], "little") == 6960
    assert int.from_bytes(data[6:], "little") == pytest.approx(819, abs=1)
    told = joulemark(*asked[:4], "--around", "lux=3", code=3).stderr
    assert "nothing senses 'lux'; what is sensed is A0_v" in told
    told = joulemark(*asked[:4], "--around", "lux", code=3).stderr
    assert "--around: 'lux' says nothing of it; write NAME=VALUE" in told
