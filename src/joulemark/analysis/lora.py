"""How long LoRa would take for the same messages: arithmetic, nothing is emulated.

Semtech's AN1200.13 (LoRa Modem Designer's Guide, 2013), section 4: the time on the air of a frame.
"""

import math
from collections.abc import Iterable

FACTORS = (7, 12)
_BANDWIDTH_HZ = 125_000
_PREAMBLE_SYMBOLS = 8
_CODING = 1
"""4/5."""
_LOW_RATE_FROM = 11
"""Spreading factors with low data rate optimisation at this bandwidth."""
_FRAME_BYTES = 13
"""LoRaWAN 1.0.4, section 4: header 1, address, control and counter 7, port 1, integrity code 4."""
_LARGEST = {7: 222, 12: 51}
"""Largest payload of a frame in the band of 863 to 870 MHz (RP002-1.0.3, table 13: DR5 and DR0)."""
NOTES = (
    "arithmetic, nothing emulated: each UDP payload in LoRaWAN frames of its own",
    "(13 bytes each, payloads up to 222 and 51), 125 kHz, 4/5, no duty cycle",
)


def frame_seconds(length: int, factor: int) -> float:
    """Return the time on the air of a frame with an explicit header and a CRC."""
    symbol_s = 2.0**factor / _BANDWIDTH_HZ
    low_rate = factor >= _LOW_RATE_FROM
    bits = 8 * length - 4 * factor + 28 + 16
    symbols = 8 + max(0, math.ceil(bits / (4 * (factor - 2 * low_rate))) * (_CODING + 4))
    return (_PREAMBLE_SYMBOLS + 4.25 + symbols) * symbol_s


def seconds(sizes: Iterable[float], factor: int) -> float:
    """Return the time on the air of messages, each in as few frames as it needs."""
    most = _LARGEST[factor]
    total = 0.0
    for size in sizes:
        left = round(size)
        while left > 0:
            some = min(left, most)
            total += frame_seconds(some + _FRAME_BYTES, factor)
            left -= some
    return total
