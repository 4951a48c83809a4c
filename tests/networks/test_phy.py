"""PHYs: the engine's, and the firmware's, which must be the same."""

import subprocess
from pathlib import Path

import pytest

from joulemark._engine import EngineError, Network, Phy
from joulemark.project import ROOT

RADIO = ROOT / "firmware/net/radio"


@pytest.mark.parametrize("header", sorted(RADIO.glob("*-*.h")), ids=lambda path: path.stem)
def test_the_firmware_has_the_figures_of_the_engine(header: Path, tmp_path: Path) -> None:
    phy = Phy(header.stem)
    channels = [channel for channel in range(256) if phy.frequency_mhz(channel) is not None]
    expected = {
        "BYTE_US * 1000000ull": phy.byte_ps,
        "SYNC_BYTES * RADIO_BYTE_US * 1000000ull": phy.synchronisation_ps,
        "SYNC_BYTES + RADIO_HEADER_BYTES": phy.overhead_bytes,
        "FCS_BYTES": phy.check_bytes,
        "PSDU_BYTES_MAX": phy.frame_bytes_max,
        "CHANNEL_MIN": channels[0],
        "CHANNEL_MAX": channels[-1],
    }
    checks = "\n".join(
        f'_Static_assert(RADIO_{what} == {value}ull, "{what}");' for what, value in expected.items()
    )
    source = tmp_path / "figures.c"
    source.write_text(f'#include "{header}"\n{checks}\n')
    told = subprocess.run(
        ["cc", "-std=c11", "-fsyntax-only", source], capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr


def test_a_frame_on_the_air_names_its_phy() -> None:
    on_air = {}
    for name in Phy.names():
        phy = Phy(name)
        network = Network(seed=1)
        sender = network.add_recording()
        body = bytes([2, 10, *range(10)])
        frame = body + phy.check_sequence(body)
        network.inject(sender, phy, 10**10, 2480, 0.0, frame)
        network.run(10**11)
        (sent,) = network.take_transmissions(all=True)
        assert sent.phy.name == name
        assert sent.frame == frame
        on_air[name] = sent.end_ps - sent.begin_ps
        assert on_air[name] == (phy.overhead_bytes + len(frame)) * phy.byte_ps
    assert on_air == {"oqpsk-2450": 20 * 32 * 10**6, "gfsk-1m": 20 * 8 * 10**6}


def test_what_no_phy_sends_is_refused() -> None:
    with pytest.raises(EngineError, match="no PHY 'lora'; there are gfsk-1m, oqpsk-2450"):
        Phy("lora")
    network = Network()
    sender = network.add_recording()
    with pytest.raises(EngineError, match=r"2 to 127 bytes.*128"):
        network.inject(sender, Phy("oqpsk-2450"), 10**10, 2480, 0.0, bytes(128))
