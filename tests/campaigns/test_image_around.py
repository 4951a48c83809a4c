"""Images whose sensors find what the user says."""

import subprocess
from pathlib import Path

import pytest

from command import joulemark
from joulemark.records.store import Store

PROGRAM = """
#define TEMP(offset) (*(volatile unsigned *)(0x4000c000 + (offset)))
void start(void) {
    TEMP(0x000) = 1;
    while (TEMP(0x100) == 0) continue;
    for (volatile unsigned quarters = TEMP(0x508); quarters != 0; quarters--) continue;
    for (;;) __asm__("wfi");
}
__attribute__((section(".vectors"), used)) void *const vectors[] = {(void *)0x20010000, start};
"""
"""It works the longer the warmer it is, on the chip's own sensor."""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("image")
    (folder / "app.c").write_text(PROGRAM)
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O1", "-ffreestanding"),
            *("-nostdlib", "-Wl,-e,start", "-Wl,--section-start=.vectors=0", "-Wl,-Ttext=0x100"),
            *("-o", "app.elf", "app.c"),
        ],
        cwd=folder,
        check=True,
    )
    return folder / "app.elf"


def ran(image: Path, store: Path, *options: str, code: int = 0) -> str:
    run = ("image", str(image), "--board", "nrf52840-dk", "--for", "2ms", "--store", str(store))
    done = joulemark(*run, *options, code=code)
    return done.stdout + done.stderr


def test_what_surrounds_it_is_part_of_what_was_run(image: Path, tmp_path: Path) -> None:
    store, values = tmp_path / "store.db", tmp_path / "warm.csv"
    values.write_text("0,40\n")
    for options in (
        [],
        ["temperature_c=30"],
        ["temperature_c=20 + 20"],
        [f"temperature_c={values}"],
    ):
        ran(image, store, *(word for text in options for word in ("--around", text)))
    with Store(str(store), "read") as opened:
        records = opened.records()
    by = {str(record.subject).removeprefix("app for 2 ms"): record.cycles for record in records}
    usual, warm, warmer, filed = (
        by[end]
        for end in (
            "",
            ", temperature_c=30",
            ", temperature_c=20 + 20",
            ", temperature_c=warm.csv",
        )
    )
    assert usual is not None
    assert warm is not None
    assert warmer is not None
    # In air of 25 degrees, if nothing is said.
    assert (warmer - warm, warmer) == (2 * (warm - usual), filed)
    # What a file says is what counts, not its name.
    values.write_text("0,30\n")
    ran(image, store, "--around", f"temperature_c={values}")
    with Store(str(store), "read") as opened:
        assert [r.cycles for r in opened.records() if "warm.csv" in str(r.subject)][-1] == warm


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["light_lux=3"], "nothing senses 'light_lux'; what is sensed"),
        (["temperature_c"], "'temperature_c' says nothing of it"),
        (["temperature_c=warm"], "'warm' has no place"),
        (["temperature_c=1", "temperature_c=2"], "temperature_c is there twice"),
        (["temperature_c=none.csv"], "cannot be read: No such file"),
    ],
)
def test_what_cannot_be_sensed_is_refused(
    image: Path, tmp_path: Path, texts: list[str], said: str
) -> None:
    store = tmp_path / "store.db"
    words = [word for text in texts for word in ("--around", text)]
    assert said in " ".join(ran(image, store, *words, code=3).split())
    with Store(str(store)) as opened:
        assert not opened.records()


def test_a_campaign_says_it_as_a_network_does(image: Path, tmp_path: Path) -> None:
    store, campaign = tmp_path / "store.db", tmp_path / "campaign.toml"
    (tmp_path / "warm.csv").write_text("0,40\n")
    table = f'[[image]]\npath = "{image}"\nboard = "nrf52840-dk"\nfor = "2ms"\n'
    for values in ("temperature_c = 30", 'temperature_c = "warm.csv"'):
        campaign.write_text(f"{table}around = {{ {values} }}\n")
        joulemark("run", str(campaign), "--store", str(store))
    with Store(str(store), "read") as opened:
        names = {str(record.subject) for record in opened.records()}
    around = {"temperature_c=30", "temperature_c=warm.csv"}
    assert names == {f"app for 2 ms, {value}" for value in around}
    campaign.write_text(f"{table}arround = {{ temperature_c = 30 }}\n")
    said = joulemark("run", str(campaign), "--store", str(store), code=3).stderr
    assert "board, for, stop_at, around," in " ".join(said.split())
