"""AES inside another project's image: tested with a ticking one of ours, whose cost is known."""

import pytest

import inside_image
from joulemark._engine import Image
from joulemark.catalogue import boards, datafile
from joulemark.errors import InputError
from joulemark.images import build_program
from joulemark.studies import ways
from joulemark.studies.ways import kept

TICKS_HZ = 1024


def ticking(periods: int) -> Image:
    """Return a system that encrypts for ever, with a tick every so many periods of the crystal."""
    define = {"TICK_PERIODS": periods, "TICK_BLOCKS": 0xFFFF}
    board = boards.load_board("telosb")
    return Image.load(build_program("ticking", board, define=define, clock="contiki").path)


def test_what_interrupts_take_is_what_their_handlers_take() -> None:
    windows = 4
    found = inside_image.measured(ticking(32_768 // TICKS_HZ), "aes_encrypt", windows=windows)
    assert found["blocks"] == windows * inside_image.BLOCKS
    taken = found["inside_cycles"] - found["alone_cycles"]
    (handler,) = found["interrupt_cycles"].values()
    assert taken == handler
    # All ticks take equally long; their number follows from the elapsed time.
    ticks = found["inside_cycles"] / found["clock_hz"] * TICKS_HZ
    assert 60 < handler / ticks < 200


def test_a_system_without_interrupts_takes_nothing() -> None:
    found = inside_image.measured(ticking(0), "aes_encrypt", windows=2)
    assert found["inside_cycles"] == found["alone_cycles"]
    assert found["interrupt_cycles"] == {}


def test_an_image_that_never_calls_the_hook_is_refused() -> None:
    with pytest.raises(InputError, match="main is never called"):
        inside_image.Inside(ticking(0), "main", interrupts=True)


def test_what_is_kept_is_of_todays_aes_and_adds_up() -> None:
    asked = kept.Asked(file="pereira-2017/inside.toml", entry="contiki", metric="alone")
    entries = datafile.read(inside_image.KEPT, kept.Kept).entry
    today = inside_image.measured(ticking(0), "aes_encrypt", windows=1)
    for name, entry in entries.items():
        of_handlers = sum(entry.interrupt_cycles.values())
        assert entry.inside_cycles - entry.alone_cycles == of_handlers, name
        # After a change to AES or the compiler, measure again; one percent moves no verdict.
        alone = entry.alone_cycles / entry.blocks
        assert alone == pytest.approx(today["alone_cycles"] / today["blocks"], rel=0.01), name
    with pytest.raises(InputError, match="there is no entry riot; there are contiki"):
        ways.load("kept").obtain([asked.model_copy(update={"entry": "riot"})], None)  # type: ignore[arg-type]
