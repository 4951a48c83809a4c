"""Packets of Bluetooth LE: what a line says of them, and what tshark reads in a capture."""

import subprocess
from pathlib import Path

from joulemark._engine import Phy
from joulemark.analysis.frames import describe_bluetooth
from joulemark.report.capture import Capture


def test_packets_are_described_in_a_few_words() -> None:
    advertised = bytes.fromhex("42090605040302c6020106")
    assert describe_bluetooth(advertised, 0) == "ADV_NONCONN_IND of c6:02:03:04:05:06"
    assert describe_bluetooth(advertised, 0x71764129) == "a packet of connection 71764129"
    assert describe_bluetooth(b"\x0f\x00", 0) == "an unknown packet of advertising"
    for cut in range(len(advertised)):
        describe_bluetooth(advertised[:cut], 0)


def test_tshark_reads_a_captured_advertisement_and_its_check_sequence(tmp_path: Path) -> None:
    pdu = bytes.fromhex("42090605040302c6020106")
    path = tmp_path / "air.pcapng"
    right = Phy("gfsk-1m").check_sequence(pdu)
    wrong = bytes([right[0] ^ 1, *right[1:]])
    with Capture(path) as capture:
        for check in (right, wrong):
            capture.add_bluetooth(pdu + check, begin_ps=10**9, sync=0, comment="received")
    fields = ["btle.access_address", "btle.advertising_address", "btle.crc.incorrect"]
    command = ["tshark", "-r", str(path), "-T", "fields", "-E", "separator=|"]
    for field in fields:
        command += ["-e", field]
    read = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    first, second = read.splitlines()
    assert first == "0x8e89bed6|c6:02:03:04:05:06|"
    assert second.startswith("0x8e89bed6|c6:02:03:04:05:06|")
    assert second != first
