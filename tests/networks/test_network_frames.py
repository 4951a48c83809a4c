"""Frames, captures and their audit: tshark's view of ours, and the auditor's findings."""

import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from joulemark._engine import Phy
from joulemark.analysis.auditor import Auditor, Seen, SlotNumbers
from joulemark.analysis.frames import MalformedFrameError, describe, parse
from joulemark.catalogue import datafile
from joulemark.catalogue.networks import Key, KeyFile, Policy, Slots
from joulemark.errors import InputError
from joulemark.report.capture import Capture
from joulemark.runners.capture import read_capture

# draft-ietf-6tisch-minimal (RFC 8180, section 4.6): K1 and K2.
K1 = bytes.fromhex("365469534348206d696e696d616c3135")
K2 = bytes.fromhex("deadbeeffacecafedeadbeeffacecafe")
PHY = Phy("oqpsk-2450")
PAN, SHORT, EUI = 0xCAFE, 0x1234, bytes.fromhex("00124b0006150b0a")
SLOT_PS = 10_000 * 1_000_000
MIC = (0, 4, 8, 16, 0, 4, 8, 16)


def beacon(asn: int) -> bytes:
    """Return an open enhanced beacon with a synchronization element, without check sequence."""
    control = (0 | 1 << 6 | 1 << 9 | 2 << 10 | 2 << 12 | 3 << 14).to_bytes(2, "little")
    header = control + b"\x01" + PAN.to_bytes(2, "little") + b"\xff\xff" + EUI[::-1]
    header += (0x7E << 7).to_bytes(2, "little")
    sync = (6 | 0x1A << 8).to_bytes(2, "little") + asn.to_bytes(5, "little") + b"\x00"
    return header + (len(sync) | 1 << 11 | 1 << 15).to_bytes(2, "little") + sync


def secured(
    asn: int, level: int, payload: bytes, *, sequence: int = 7, leak: bool = False
) -> bytes:
    """Return a data frame from an extended address in a slot, by CCM* with K2; `leak`: open."""
    control = 1 | 1 << 3 | 1 << 6 | 3 << 10 | 2 << 12 | 3 << 14
    header = control.to_bytes(2, "little") + bytes([sequence]) + EUI[::-1] + EUI[::-1]
    header += bytes([level | 1 << 3 | 1 << 5 | 1 << 6, 2])
    nonce = EUI + asn.to_bytes(5, "big")
    mic = MIC[level]
    if level < 4:
        return header + payload + AESCCM(K2, mic).encrypt(nonce, b"", header + payload)
    sealed = AESCCM(K2, mic or 4).encrypt(nonce, payload, header)
    sealed = sealed[: len(payload) + mic]
    return header + (payload + sealed[len(payload) :] if leak else sealed)


def seen(psdu: bytes, slot: int, sender: str = "mote") -> Seen:
    """Return a frame in a slot, with slots counted from 1000."""
    begin_ps = (slot - 1000) * SLOT_PS + 2_120_000_000 - 160_000_000
    return Seen(sender, PHY, begin_ps, psdu + PHY.check_sequence(psdu))


def auditor(level: int = 0) -> Auditor:
    keys = KeyFile(key=[Key(hex=K1.hex(), index=1), Key(hex=K2.hex(), index=2)])
    made = Auditor(keys, Policy(level=level), Slots(length_us=10_000, tx_offset_us=2120))
    assert made.look(seen(beacon(1000), 1000)) == []
    return made


def test_secured_frames_in_slots_verify_here_and_in_tshark(tmp_path: Path) -> None:
    levels = (1, 2, 3, 5, 6, 7)
    frames = [
        (1001 + 2 * n, secured(1001 + 2 * n, level, bytes(range(20 + n))))
        for n, level in enumerate(levels)
    ]
    made = auditor()
    path = tmp_path / "slots.pcapng"
    with Capture(path) as capture:
        for slot, psdu in [(1000, beacon(1000)), *frames]:
            frame = seen(psdu, slot)
            assert made.look(frame) == []
            asn = made.slots.at(frame.begin_ps, frame.sender)
            assert asn == slot
            capture.add(
                frame.psdu,
                begin_ps=frame.begin_ps,
                delimiter_ps=frame.begin_ps + 160_000_000,
                end_ps=frame.begin_ps + 160_000_000 + 32_000_000 * (1 + len(frame.psdu)),
                channel=17,
                rssi_dbm=-61.5,
                asn=asn,
                slot_start_ps=made.slots.start_ps(frame.begin_ps, frame.sender),
                slot_us=10_000,
                comment="received by all",
            )
    assert made.verified == len(levels)
    out = tshark(path, f'uat:ieee802154_keys:"{K2.hex()}","2","No hash"')
    for n, (line, (slot, _)) in enumerate(zip(out[1:], frames, strict=True)):
        channel, rss, told, start, fcs, malformed, error, data, comment = line.split("|")
        assert (channel, told, fcs, malformed) == ("17", str(slot), "1", "")
        assert float(rss) == -61.5
        assert int(start) == (slot - 1000) * 10_000_000, "nanoseconds"
        assert error == "", line
        assert comment == "received by all"
        assert data.replace(":", "") == bytes(range(20 + n)).hex()
    wrong = tshark(path, f'uat:ieee802154_keys:"{K1.hex()}","2","No hash"')
    assert all(line.split("|")[6] for line in wrong[1:])


def tshark(path: Path, keys: str) -> list[str]:
    """Return tshark's fields of each frame, as lines."""
    program = shutil.which("tshark")
    assert program is not None
    command = [program, "-r", str(path), "-o", keys, "-T", "fields", "-E", "separator=|"]
    for name in (
        "wpan-tap.ch_num",
        "wpan-tap.rss",
        "wpan-tap.asn",
        "wpan-tap.slot_start_ts",
        "wpan.fcs_ok",
        "_ws.malformed",
        "wpan.decrypt_error",
        "data.data",
        "frame.comment",
    ):
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def rules(found: list[object]) -> list[str]:
    return [flaw.rule for flaw in found]  # type: ignore[attr-defined]


def test_two_frames_in_one_slot_share_a_nonce() -> None:
    made = auditor(5)
    first = secured(1001, 5, b"attack at dawn")
    assert made.look(seen(first, 1001)) == []
    assert made.look(seen(first, 1001)) == [], "the same frame again tells nobody more"
    other = secured(1001, 5, b"attack at noon")
    flaws = made.look(seen(other, 1001))
    assert rules([*flaws]) == ["nonce used twice"]
    assert "slot 1001 with key 2" in flaws[0].text


def counted_by(
    counter: int, payload: bytes, *, key: bytes = K2, index: int = 2, short: bool = False
) -> bytes:
    """Return a data frame with a frame counter, from the extended address or the short one."""
    modes = 3 << 10 | 1 << 12 | (2 if short else 3) << 14
    source = SHORT.to_bytes(2, "little") if short else EUI[::-1]
    header = (1 | 1 << 3 | 1 << 6 | modes).to_bytes(2, "little") + b"\x01"
    header += PAN.to_bytes(2, "little") + EUI[::-1] + source
    header += bytes([5 | 1 << 3]) + counter.to_bytes(4, "little") + bytes([index])
    nonce = EUI + counter.to_bytes(4, "big") + b"\x05"
    return header + AESCCM(key, 4).encrypt(nonce, payload, header)


def test_a_counter_that_starts_again_shares_nonces() -> None:
    made = auditor()
    frames = [counted_by(0, b"one"), counted_by(1, b"two")]
    assert [f for frame in frames for f in made.look(seen(frame, 1001))] == []
    assert made.verified == 2
    assert rules([*made.look(seen(counted_by(0, b"six"), 1005))]) == ["nonce used twice"]


def by_two_names() -> Auditor:
    """An auditor that knows one key by two indices, and one mote by two addresses."""
    keys = [Key(hex=K1.hex(), index=1), Key(hex=K2.hex(), index=2), Key(hex=K2.hex(), index=3)]
    addresses = {f"{PAN:04x}:{SHORT:04x}": EUI.hex()}
    return Auditor(KeyFile(key=keys, addresses=addresses), None, None)


def test_a_mote_under_two_addresses_has_one_nonce() -> None:
    made = by_two_names()
    assert made.look(seen(counted_by(5, b"by the long one"), 1001)) == []
    assert made.look(seen(counted_by(6, b"the next", short=True), 1002)) == []
    flaws = made.look(seen(counted_by(5, b"by the short one", short=True), 1003))
    assert rules([*flaws]) == ["nonce used twice"]
    assert made.verified == 3


def test_a_key_under_two_indices_is_one_key() -> None:
    made = by_two_names()
    assert made.look(seen(counted_by(5, b"by one"), 1001)) == []
    assert made.look(seen(counted_by(5, b"another key", key=K1, index=1), 1002)) == []
    flaws = made.look(seen(counted_by(5, b"by the other", index=3), 1003))
    assert rules([*flaws]) == ["nonce used twice"]
    assert "frame counter 5 with key 3" in flaws[0].text
    assert made.verified == 3


def test_two_keys_with_one_index_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text("".join(f'[[key]]\nhex = "{k.hex()}"\nindex = 2\n' for k in (K1, K2)))
    with pytest.raises(InputError, match="several keys have index 2"):
        datafile.read(path, KeyFile)


def test_whoever_restarts_counts_slots_by_itself_and_uses_nonces_again() -> None:
    made = auditor(5)
    assert made.look(seen(secured(1002, 5, b"before"), 1002, "root")) == []
    assert made.look(seen(beacon(1003), 1003, "leaf")) == []
    # 10 slots later, the root starts again from 1000; the leaf has not noticed.
    assert made.look(seen(beacon(1000), 1010, "root")) == []
    assert made.look(seen(secured(1011, 5, b"leaf's"), 1011, "leaf")) == []
    flaws = made.look(seen(secured(1002, 5, b"after"), 1012, "root"))
    assert rules([*flaws]) == ["nonce used twice"]
    assert "slot 1002" in flaws[0].text
    assert made.verified == 3


def test_who_has_not_noticed_a_restart_goes_on_with_the_old_slots() -> None:
    made = auditor(5)
    assert made.look(seen(beacon(1001), 1001, "root")) == []
    assert made.look(seen(secured(1002, 5, b"before"), 1002, "root")) == []
    # The root starts again from 1000 in slot 1010; a leaf, which sends no beacons, goes on.
    assert made.look(seen(beacon(1000), 1010, "root")) == []
    assert made.look(seen(secured(1011, 5, b"leaf's"), 1011, "leaf")) == []
    assert rules([*made.look(seen(secured(1011, 5, b"other"), 1011, "leaf"))]) == [
        "nonce used twice"
    ]
    assert made.look(seen(secured(1003, 5, b"joined"), 1013, "other")) == []
    assert rules([*made.look(seen(secured(999, 5, b"wrong"), 1014, "leaf"))]) == ["does not verify"]
    assert made.verified == 4


def test_a_nonce_of_the_slot_under_a_header_that_says_a_counter() -> None:
    control = (1 | 1 << 3 | 1 << 6 | 1 << 8 | 3 << 10 | 2 << 12 | 3 << 14).to_bytes(2, "little")
    header = control + EUI[::-1] + EUI[::-1] + bytes([5 | 1 << 3]) + bytes(4) + b"\x02"

    def misstated(asn: int, payload: bytes) -> bytes:
        return header + AESCCM(K2, 4).encrypt(EUI + asn.to_bytes(5, "big"), payload, header)

    made = auditor(5)
    for asn, payload in [(1001, b"one"), (1002, b"two")]:
        flaws = made.look(seen(misstated(asn, payload), asn))
        assert rules([*flaws]) == ["nonce misstated"], "the counter is the same, the slot is not"
    assert made.verified == 2
    twice = made.look(seen(misstated(1002, b"six"), 1002))
    assert rules([*twice]) == ["nonce misstated", "nonce used twice"]
    late = made.look(seen(misstated(1003, b"late"), 1004))
    assert "does not verify" in rules([*late])
    assert "nonce misstated" not in rules([*late])


def test_plaintext_that_is_said_to_be_encrypted_is_told_from_a_wrong_code() -> None:
    made = auditor(5)
    leaked = secured(1002, 5, b"in the clear", leak=True)
    assert rules([*made.look(seen(leaked, 1002))]) == ["sent in the clear"]
    forged = bytearray(secured(1003, 5, b"forged"))
    forged[-1] ^= 1
    assert rules([*made.look(seen(bytes(forged), 1003))]) == ["does not verify"]
    late = secured(1004, 5, b"another slot's")
    assert rules([*made.look(seen(late, 1005))]) == ["does not verify"]


@pytest.mark.parametrize(
    ("level", "asked", "right"),
    [(1, 5, False), (5, 5, True), (6, 2, True), (1, 2, False), (4, 5, False), (7, 7, True)],
)
def test_a_policy_asks_for_so_much(level: int, asked: int, *, right: bool) -> None:
    found = auditor(asked).look(seen(secured(1001, level, b"payload"), 1001))
    assert rules([*found]) == ([] if right else ["too little security"])
    plain = auditor(asked).look(seen(bytes.fromhex("4188010000ffff0100") + b"text", 1001))
    assert rules([*plain]) == ["too little security"]


# IEEE Std 802.15.4-2006, annex C.2.1 to C.2.3: beacon, data and command frame, secured.
ANNEX_C = [
    ("08d0842143010000000048deac020500000055cf000051525354223bc1ec841ab553", "beacon", 2),
    ("69dc842143020000000048deac010000000048deac0405000000d43e022b", "data", 4),
    ("2bdc842143020000000048deacffff010000000048deac060500000001d84fde529061f9c6f1", "command", 6),
]


@pytest.mark.parametrize(("text", "kind", "level"), ANNEX_C)
def test_frames_of_the_standard_are_parsed(text: str, kind: str, level: int) -> None:
    frame = parse(bytes.fromhex(text))
    assert frame.kind == kind
    assert frame.security is not None
    assert (frame.security.level, frame.security.counter) == (level, 5)
    assert frame.source == bytes.fromhex("acde480000000001")


def test_no_input_breaks_the_parser() -> None:
    for text, _, _ in ANNEX_C:
        whole = bytes.fromhex(text)
        for cut in range(len(whole)):
            describe(whole[:cut])
        for place in range(len(whole)):
            for bit in range(8):
                changed = bytearray(whole)
                changed[place] ^= 1 << bit
                describe(bytes(changed))
    with pytest.raises(MalformedFrameError):
        parse(b"")


def test_captures_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "frames.pcapng"
    frames = [bytes.fromhex(text) for text, _, _ in ANNEX_C]
    with Capture(path) as capture:
        for number, psdu in enumerate(frames):
            capture.add(
                psdu + PHY.check_sequence(psdu),
                begin_ps=number * 10**10,
                delimiter_ps=number * 10**10 + 160_000_000,
                end_ps=number * 10**10 + 4 * 10**9,
                channel=11 + number,
                rssi_dbm=None,
                asn=None,
                slot_start_ps=None,
                slot_us=None,
                comment="",
            )
    read = read_capture(path, None)
    assert [f.psdu[:-2] for f in read] == frames
    assert [f.frequency_mhz for f in read] == [2405, 2410, 2415]
    assert [f.time_ps for f in read] == [0, 10**10, 2 * 10**10]
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(InputError, match="cut short"):
        read_capture(path, None)
    with pytest.raises(InputError, match="cannot be read"):
        read_capture(tmp_path / "none.pcap", None)


def test_a_count_of_slots_that_moves_is_another_one() -> None:
    """Motes that heard a sender before it restarted keep its former numbers."""

    def learned(second: int) -> list[int]:
        numbers = SlotNumbers(Slots(length_us=10_000, tx_offset_us=2120))
        for at_us, asn in ((0, 100), (1_000_000, second)):
            numbers.note(parse(beacon(asn)), Seen("root", PHY, at_us * 10**6, b""))
        return numbers.others(1_000_000 * 10**6)

    assert learned(200) == [200]
    assert learned(198) == [200, 198]
