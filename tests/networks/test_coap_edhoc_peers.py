"""The device's EDHOC and OSCORE program with lakers and aiocoap as its peer, on a lossy link."""

from collections.abc import Callable
from pathlib import Path

import pytest

from coap_edhoc_peers import CLIENT, SERVER, GaveUpError, device, we_answer, we_ask

COUNT, LOSS = 12, 0.3
"""With so many losses, CoAP's four retransmissions are too few now and then."""


@pytest.mark.parametrize(("side", "converse"), [(CLIENT, we_ask), (SERVER, we_answer)])
def test_both_sides_agree_whatever_is_lost_and_late(
    side: str, converse: Callable[[Path, int, float], int], tmp_path: Path
) -> None:
    program = device(side, tmp_path)
    gave_up = 0
    for seed in range(COUNT):
        try:
            converse(program, seed, LOSS)
        except GaveUpError:
            gave_up += 1
    assert gave_up < COUNT / 2
