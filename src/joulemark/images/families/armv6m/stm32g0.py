"""ST STM32G0."""

from joulemark._engine import Chip
from joulemark.catalogue.boards import Board, Clock
from joulemark.errors import InputError
from joulemark.images import cortex_m
from joulemark.images.target_headers import board_header as header
from joulemark.images.target_headers import divider, pin, serial_port

_PLL_INPUT_HZ = 8_000_000
_FEEDBACK = range(8, 87)
_OSCILLATOR_HZ = range(64_000_000, 344_000_001)
"""What the PLL can do (RM0444, RCC; not read in that document)."""
_NO_WAIT_HZ = 24_000_000
"""A further wait state of flash for each of these (RM0444, read access latency)."""


def _pll(clock_hz: int) -> tuple[int, int]:
    """Find the factor and the divider of the PLL, the slowest oscillator first."""
    for by in range(2, 9):
        oscillator_hz = clock_hz * by
        factor, rest = divmod(oscillator_hz, _PLL_INPUT_HZ)
        if rest == 0 and factor in _FEEDBACK and oscillator_hz in _OSCILLATOR_HZ:
            return factor, by
    what = f"no setting of the PLL makes {clock_hz} Hz of {_PLL_INPUT_HZ} Hz"
    raise InputError(what, mend="choose another clock in the board's file")


def board_header(board: Board, clock: Clock, serial_interrupt: int) -> str:
    """Generate the board's clock, serial line and marker.

    Raises:
        InputError: the board's file asks for something that the firmware does not have.
    """
    serial_port(board, "usart2")
    feedback, by = _pll(clock.hz)
    port, bit = pin(board, "marker.pin", board.marker.pin, r"P([A-D])(\d|1[0-5])")
    defines: dict[str, object] = {
        "CLOCK_HZ": f"{clock.hz}u",
        "PLL_FEEDBACK": f"{feedback}u",
        "PLL_DIVIDER": f"{by}u",
        "FLASH_LATENCY": (clock.hz - 1) // _NO_WAIT_HZ,
        "MARKER_HIGH_ADDRESS": f"GPIO{port}_BSRR_ADDRESS",
        "MARKER_LOW_ADDRESS": f"GPIO{port}_BRR_ADDRESS",
        "MARKER_VALUE": f"{1 << bit:#x}u",
        "MARKER_MODER": f"GPIO{port}_MODER",
        "MARKER_SHIFT": 2 * bit,
        "SERIAL_INTERRUPT": serial_interrupt,
        "SERIAL_DIVIDER": divider(clock.hz, board.serial.baud, 1),
    }
    return header(defines)


def linker_script(chip: Chip, _clock: Clock) -> str:
    """Generate the linker script from the chip's memory map and vectors.

    Raises:
        InputError: the chip has no RAM, or no flash that begins with its vectors.
    """
    return cortex_m.linker_script(chip)
