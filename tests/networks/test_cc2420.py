"""The driver of the TelosB's radio, on the emulated board."""

import pytest

from joulemark._engine import Image, Machine
from joulemark.catalogue import boards, chips
from joulemark.images import build_program

BOARD = boards.load_board("telosb")
PING_BYTES = 16
# Length byte, header with short addresses, check sequence (IEEE Std 802.15.4-2006, 6.3 and 7.2.1).
AROUND_BYTES = 1 + 9 + 2


@pytest.mark.parametrize("compiler", ["clang"])
def test_a_ping_goes_out_and_nobody_acknowledges(compiler: str) -> None:
    built = build_program("net/ping", BOARD, define={"MOTE": 1}, clock="tinyos", compiler=compiler)
    image = Image.load(built.path)
    machine = Machine(chips.load_chip(BOARD.chip), image, wiring=BOARD.wiring, trace=True)
    machine.run(until_ps=1_200_000_000_000)
    assert BOARD.serial is not None
    said = machine.serial_read(BOARD.serial.port.upper()).decode().splitlines()
    assert said[:2] == ["mote 1 of 2", "no acknowledgement 0 to 2"]
    sent = [i.end_ps - i.start_ps for i in machine.power_tracks["radio"] if i.state == "tx-0dbm"]
    # Preamble and delimiter are 5 bytes; a byte takes 32 us.
    assert set(sent) == {(5 + AROUND_BYTES + PING_BYTES) * 32_000_000}


def test_the_boards_currents_of_its_radio_are_those_of_the_device() -> None:
    assert BOARD.radio is not None
    stated = {s.name: s.ampere for s in BOARD.radio.state if not s.whole_board}
    assert stated
    for state, ampere in stated.items():
        assert BOARD.wiring.current_a("radio", state).value == pytest.approx(ampere)
