"""What link-layer security adds to frames, by IEEE Std 802.15.4-2015."""

_ROW = "Data frame, ENC-MIC-32"
_SECURITY_CONTROL, _KEY_INDEX, _MIC = 1, 1, 4
"""Bytes: figure 9-12 and table 9-6. The frame counter is left out, since the slot has a number."""


def on_air() -> dict[str, int]:
    """Bytes that it adds to what is sent."""
    return {_ROW: _SECURITY_CONTROL + _KEY_INDEX + _MIC}


def seen(_payload: bytes) -> tuple[str, str, bool]:
    """What a data frame is of."""
    return _ROW, "frame", False
