"""Time slots: the firmware of a root and its leaves on a simulated medium, with sanitizers."""

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import slots
from joulemark.project import ROOT

KEYS = {1: b"6TiSCH minimal15", 2: bytes.fromhex("deadbeeffacecafe" * 2)}


def report(text: str) -> dict[str, int]:
    """Return lines of a name and a number as a dictionary."""
    found = (line.rpartition(" ") for line in text.splitlines() if line != "done")
    return {name: int(number) for name, _, number in found}


def run(
    folder: Path, ppm: list[float], define: dict[str, int], lost: frozenset[int] = frozenset()
) -> tuple[list[dict[str, int]], slots.Medium]:
    """Build a root and leaves, and run them until they report."""
    paths = [slots.build(folder, m + 1, **define | {"MOTES": len(ppm)}) for m in range(len(ppm))]
    medium = slots.Medium(paths, ppm)
    medium.lost = lost
    medium.run(until_us=30e6)
    reports = [report(text) for text in medium.finish()]
    assert not any(n for r in reports for name, n in r.items() if name.startswith("late"))
    return reports, medium


SECURED = {
    "none": {"TSCH_LEVEL": 0},
    "encrypted": {"TSCH_LEVEL": 4},
    "6tisch": {"TSCH_LEVEL": 5},
    "worst": {
        "TSCH_LEVEL": 7,
        "TSCH_KEY_ID_MODE": 3,
        "TSCH_COUNTER_CARRIED": 1,
        "TSCH_TABLES_FULL": 1,
    },
    "sourced": {"TSCH_LEVEL": 6, "TSCH_KEY_ID_MODE": 3},
    "implicit": {"TSCH_LEVEL": 1, "TSCH_KEY_ID_MODE": 0, "PING_BYTES": 5},
}


@pytest.mark.parametrize("name", SECURED)
def test_leaves_join_and_are_answered(name: str, tmp_path: Path) -> None:
    """Acknowledgements and frames hold clocks 80 ppm apart together; no frame is lost."""
    (root, leaf), medium = run(tmp_path, [40, -40], SECURED[name] | {"PING_SLOTS": 700})
    assert leaf["joins"] == 1
    assert root["refused"] == leaf["refused"] == root["wrong"] == 0
    # One slot in seven is for the question, one for the answer.
    assert leaf["acknowledged"] == leaf["sent"] == leaf["received"] >= 95
    assert root["answered"] == root["received"] >= 95
    lengths = {len(f.frame) // 2 + slots.FCS_BYTES for f in medium.frames}
    assert (127 in lengths) == ("PING_BYTES" not in SECURED[name])
    # tshark 4.0 takes a carried frame counter for the nonce's, whatever the frame says.
    if SECURED[name]["TSCH_LEVEL"] % 4 and name != "worst":
        assert_verified(medium, tmp_path / "frames.pcap", SECURED[name])


def assert_verified(medium: slots.Medium, capture: Path, define: dict[str, int]) -> None:
    """Let tshark verify each frame with the slot number that its time on air gives."""
    slot_us = slots.DEFINES["TSCH_SLOT_TICKS"] * slots.TICK_US * (1 + 40e-6)
    first_us = medium.frames[0].sfd_us - slots.DEFINES["TSCH_TX_OFFSET_TICKS"] * slots.TICK_US
    packets = []
    for frame in medium.frames:
        asn = int((frame.sfd_us - first_us) / slot_us)
        # IEEE 802.15.4 TAP: no FCS (TLV 0), slot number (TLV 7).
        head = struct.pack("<HHIHHQ", 0, 1, 0, 7, 8, asn)
        packet = struct.pack("<BBH", 0, 0, 4 + len(head)) + head + bytes.fromhex(frame.frame)
        packets.append(struct.pack("<IIII", 0, 0, len(packet), len(packet)) + packet)
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 283)
    capture.write_bytes(header + b"".join(packets))
    command = ["tshark", "-r", str(capture), "-T", "fields", "-E", "separator=|"]
    for index, key in KEYS.items():
        # Keys of mode 0 have no index, and one serves all.
        if define.get("TSCH_KEY_ID_MODE") != 0 or index == 2:
            shown = index if define.get("TSCH_KEY_ID_MODE") != 0 else 0
            command += ["-o", f'uat:ieee802154_keys:"{key.hex()}","{shown}","No hash"']
    # Payload types are not told to tshark, and their first bytes look like other protocols.
    for protocol in ("6lowpan", "lwm", "zbee_nwk", "zbee_nwk_gp"):
        command += ["--disable-protocol", protocol]
    fields = ("wpan.frame_type", "wpan.aux_sec.sec_level", "_ws.expert.message")
    command += [word for name in fields for word in ("-e", name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(packets)
    level = define["TSCH_LEVEL"]
    expected = {"0x0000|0x01|", f"0x0001|0x{level:02x}|", f"0x0002|0x{level:02x}|"}
    assert set(lines) == expected


def test_frames_that_are_lost_are_sent_again(tmp_path: Path) -> None:
    """One in seven data frames, acknowledgements and beacons is lost; all questions get answers."""
    lost = frozenset(range(100, 4000, 7))
    (root, leaf), _ = run(tmp_path, [20, -20], {"PING_SLOTS": 1400, "TSCH_LEVEL": 5}, lost)
    assert leaf["joins"] == 1
    assert root["acknowledged"] < root["sent"]
    assert root["wrong"] == 0
    assert 50 < root["answered"] < root["sent"]


def test_a_leaf_that_hears_nothing_joins_again(tmp_path: Path) -> None:
    lost = frozenset(range(300, 620))
    (_, leaf), _ = run(tmp_path, [20, -20], {"PING_SLOTS": 2200, "TSCH_LEVEL": 5}, lost)
    assert leaf["joins"] == 2


def test_three_leaves(tmp_path: Path) -> None:
    reports, _ = run(tmp_path, [40, -40, 10, -20], {"PING_SLOTS": 660, "TSCH_LEVEL": 6})
    assert all(leaf["joins"] == 1 for leaf in reports[1:])
    assert all(leaf["acknowledged"] == leaf["sent"] >= 40 for leaf in reports[1:])
    assert reports[0]["refused"] == 0


DIGESTS = """
import hashlib, sys
from joulemark.catalogue import boards
from joulemark.images import build_program
for board in ("telosb", "openmote-cc2538"):
    for without in ((), ("net/ieee802154/security",)):
        if without or len(sys.argv) == 1:
            image = build_program(
                "net/tsch-ping", boards.load_board(board), without=without,
                wiring={"radio": "net/none", "boots": "boots/none",
                        "ccm-star": "net/ccm-star/software",
                        "block-cipher": "primitives/block-cipher/aes/ref"},
            )
            print(hashlib.sha256(image.path.read_bytes()).hexdigest())
"""
NO_RADIO = {
    "part.toml": 'title = "No radio"\nrole = "driver"\nneeds = ["net/radio"]\n',
    "radio-driver.h": '#include "oqpsk-2450.h"\n'
    "enum { RADIO_TX_LEAD_TICKS = 12, RADIO_RX_LEAD_TICKS = 7 };\n",
    "none.c": """
        #include "radio.h"
        static volatile uint8_t port;
        bool radio_init(void) { return port != 0; }
        void radio_channel(uint8_t channel) { port = channel; }
        void radio_idle(void) { port = 0; }
        void radio_receive(void) { port = 1; }
        void radio_load(const uint8_t *frame, uint8_t length) { port = frame[length - 1]; }
        bool radio_transmit(radio_time *sfd) { *sfd = port; return true; }
        void radio_transmit_end(void) { port = 2; }
        bool radio_wait_sfd(radio_time until, radio_time *sfd) { *sfd = until; return port != 0; }
        bool radio_wait_frame(radio_time until) { return until == port; }
        uint8_t radio_read(uint8_t *frame, radio_reception *reception) {
            (void)reception;
            *frame = port;
            return port;
        }
        radio_time radio_now(void) { return port; }
        void radio_sleep_until(radio_time when) { port = (uint8_t)when; }
    """,
}


def test_security_that_is_left_out_was_never_there(tmp_path: Path) -> None:
    """The image equals, byte for byte, that of a tree without its folders."""
    for name in ("chips", "boards", "firmware"):
        shutil.copytree(ROOT / name, tmp_path / name)
    net = tmp_path / "firmware/net"
    (net / "none").mkdir()
    for name, text in NO_RADIO.items():
        (net / "none" / name).write_text(text)

    def digests(*arguments: str) -> list[str]:
        command = [sys.executable, "-c", DIGESTS, *arguments]
        environment = {"PATH": os.environ["PATH"], "JOULEMARK_ROOT": str(tmp_path)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split()

    telosb, bare_telosb, openmote, bare_openmote = digests()
    assert telosb != bare_telosb
    assert openmote != bare_openmote
    shutil.rmtree(net / "ieee802154/security")
    shutil.rmtree(net / "ccm-star")
    assert digests("bare") == [bare_telosb, bare_openmote]
