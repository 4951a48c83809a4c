"""The cost of public-key operations: targets hold, and docs/public-key.md has the measurements."""

import pytest

import public_key_page as page
from joulemark.catalogue.boards import load_board

TELOSB_FLASH_BYTES, TELOSB_RAM_BYTES = 48 * 1024, 10 * 1024


def shown(row: page.Row) -> list[str]:
    """Return the row's cells on the page."""
    start = f"| {row.primitive}/{row.implementation} | {row.operation} |"
    board = load_board(row.board).title
    text = page.PAGE.read_text(encoding="utf-8").partition(f"## {board}\n")[2].partition("\n## ")[0]
    (line,) = (line for line in text.splitlines() if line.startswith(start))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_page_has_every_row() -> None:
    assert all(shown(row) for row in page.ROWS)


@pytest.mark.parametrize("board", [page.M3, page.M4, page.TELOSB])
def test_targets_hold_and_are_on_the_page(board: str) -> None:
    rows = [row for row in page.ROWS if row.board == board and row.at_most is not None]
    for row, record in page.measure(rows).items():
        assert row.at_most is not None
        assert record.cycles_max is not None
        assert record.cycles_max <= row.at_most, row
        assert row.varies or record.finding == "independent of data", row
        cells = shown(row)
        assert int(cells[2].replace(",", "")) == row.at_most
        assert int(cells[3].replace(",", "")) == pytest.approx(record.cycles_max, rel=0.01), row
        assert int(cells[6].replace(",", "")) == pytest.approx(record.flash_bytes, rel=0.02), row
        assert int(cells[7].replace(",", "")) == pytest.approx(record.stack_bytes, rel=0.02), row


def test_everything_fits_a_telosb() -> None:
    """The deepest and the largest, in its whole image with the harness's buffers."""
    rows = [row for row in page.ROWS if row.board == page.TELOSB]
    stacks = {row: int(shown(row)[7].replace(",", "")) for row in rows}
    flashes = {row: int(shown(row)[6].replace(",", "")) for row in rows}
    for row in {max(stacks, key=stacks.__getitem__), max(flashes, key=flashes.__getitem__)}:
        flash_bytes, ram_bytes = page.whole_image(row)
        assert flash_bytes <= TELOSB_FLASH_BYTES, row
        assert ram_bytes + stacks[row] <= TELOSB_RAM_BYTES, row
        assert [flash_bytes, ram_bytes + stacks[row]] == [
            int(cell.replace(",", "")) for cell in shown(row)[8:10]
        ], row
