"""The firmware's frame security on this machine with sanitizers, beside independent oracles.

`cryptography` computes what a frame must be; tshark parses, decrypts and verifies it.
"""

import random
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from joulemark.project import FIRMWARE, ROOT

NET = FIRMWARE / "net"
AES = FIRMWARE / "primitives/block-cipher/aes/ref"
CCM = FIRMWARE / "primitives/aead/ccm-star/ref"
RADIO = ROOT / "tests/networks/radio"
SOURCES = [
    ROOT / "tests/networks/ieee802154_host.c",
    NET / "ieee802154/frame.c",
    NET / "ieee802154/security/security.c",
    CCM / "ccm_star.c",
    AES / "aes.c",
]
INCLUDES = [
    RADIO,
    NET / "radio",
    NET / "ieee802154",
    NET / "ieee802154/security",
    NET / "ccm-star/software",
    *(folder for leaf in (AES, CCM) for folder in (leaf, *list(leaf.parents)[:2])),
    FIRMWARE / "primitives",
]
COMPILE = ["clang-19", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fno-pie", "-c"]
COMPILE += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
# A driver is C, compiled as C++ so that a register can be a function.
CPP = ["-std=c++20", "-fno-exceptions", "-fno-rtti", "-Wno-c99-extensions"]
CPP += ["-Wno-missing-field-initializers", "-Wno-missing-designated-field-initializers"]
BEACON, DATA, ACK, COMMAND = range(4)
NONE, SHORT, EXTENDED = 0, 2, 3
OK, NO_FRAME, UNSUPPORTED, TOO_LONG, NO_KEY, NO_DEVICE, LEVEL, KEY_TYPE, COUNTER, ERROR = range(10)
KEY = bytes(range(0xC0, 0xD0))
MIC_BYTES = (0, 4, 8, 16)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with frames in memory."""
    return compiled(tmp_path_factory.mktemp("ieee802154") / "host", "memory")


@pytest.fixture(scope="module")
def streaming(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with frames that are unsecured while they arrive."""
    return compiled(tmp_path_factory.mktemp("ieee802154") / "streaming", "stream")


def compiled(path: Path, strategy: str, chip: str = "", **macros: int) -> Path:
    """Build the program with a way to do CCM*, over a radio in memory or over a chip's driver."""
    macros = {"AES_KEY_BITS": 128, "SECURITY_KEYS": 4, "SECURITY_DEVICES": 10, **macros}
    macros = {"SECURITY_RULES": 6, "CCM_STREAMED": 0, **macros}
    macros = {"RADIO_KEYS_STAY": 0, "RADIO_PLAIN": 0, "CC2650_TX_POWER": 0x3161, **macros}
    command = [*COMPILE, *(f"-D{name}={value}" for name, value in macros.items())]
    folders = [NET / "ccm-star" / strategy, *INCLUDES]
    sources = [*SOURCES, *(NET / "ccm-star" / strategy).glob("*.c")]
    sources += [NET / "ccm-star/memory/ccm-strategy.c"] if strategy == "hybrid" else []
    if strategy == "hybrid":
        folders.insert(1, NET / "ccm-star/memory")
    sources.append(RADIO / ("engine.c" if chip else "memory.c"))
    objects = [f"{path}-{i}.o" for i in range(len(sources))]
    for source, to in zip(sources, objects, strict=True):
        here = [f"-I{folder}" for folder in folders]
        subprocess.run([*command, "-std=c11", *here, str(source), "-o", to], check=True)
    if chip:
        objects.append(f"{path}-{chip}.o")
        hal = [FIRMWARE / "hal" / core for core in ("msp430", "armv7m")]
        here = [f"-I{folder}" for folder in (RADIO / "chips", NET / chip, NET, *INCLUDES, *hal)]
        here += [*CPP, str(RADIO / f"{chip}.cpp"), "-o", objects[-1]]
        subprocess.run([*command, *here], check=True)
    link = ["clang-19", "-fsanitize=address,undefined", "-no-pie", *objects, "-o", str(path)]
    subprocess.run(link, check=True)
    return path


class Firmware:
    """The program, and its commands."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [path, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, *words: object) -> list[str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        texts = (w.hex() or "-" if isinstance(w, bytes) else str(w) for w in words)
        self._process.stdin.write(" ".join(texts) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().split()

    def done(self) -> None:
        _, _ = self._process.communicate()
        assert self._process.returncode == 0


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with frames in memory and a plain CCM*."""
    return compiled(tmp_path_factory.mktemp("ieee802154") / "plain", "memory", RADIO_PLAIN=1)


@pytest.fixture(params=["program", "streaming", "plain"])
def firmware(request: pytest.FixtureRequest) -> Iterator[Firmware]:
    started = Firmware(request.getfixturevalue(request.param))
    yield started
    started.done()


@dataclass
class Address:
    mode: int = NONE
    pan: int = 0
    value: int = 0

    @property
    def sent(self) -> bytes:
        return self.value.to_bytes({NONE: 0, SHORT: 2, EXTENDED: 8}[self.mode], "little")

    @property
    def words(self) -> tuple[object, ...]:
        return (self.mode, self.pan, self.sent)


@dataclass
class Frame:
    """A frame, and all that its sender knows."""

    kind: int = DATA
    version: int = 2
    acknowledge: bool = False
    compressed: bool = False
    no_sequence: bool = False
    sequence: int = 0
    destination: Address = field(default_factory=Address)
    source: Address = field(default_factory=Address)
    level: int = 5
    key_mode: int = 1
    suppressed: bool = True
    asn: int | None = 0
    key_source: bytes = b""
    key_index: int = 1
    has_elements: bool = False
    elements: bytes = b""
    payload: bytes = b""
    counter: int = 0

    @property
    def mic_bytes(self) -> int:
        return MIC_BYTES[self.level % 4]

    def command(self) -> list[object]:
        return [
            "send",
            "-" if self.asn is None else self.asn,
            self.kind,
            self.version,
            int(self.acknowledge),
            int(self.compressed),
            int(self.no_sequence),
            self.sequence,
            int(self.has_elements),
            *self.destination.words,
            *self.source.words,
            self.level,
            self.key_mode,
            int(self.suppressed),
            int(self.asn is not None),
            self.key_source,
            self.key_index,
            self.elements,
            self.payload,
        ]

    def pans(self) -> tuple[bool, bool]:
        """Table 7-2 of IEEE Std 802.15.4-2015, row by row; for old versions, 7.2.1.1.5 of 2006."""
        to, come = self.destination.mode, self.source.mode
        if self.version < 2:
            return bool(to), bool(come) and not (bool(to) and self.compressed)
        if to == EXTENDED and come == EXTENDED:
            return not self.compressed, False
        if to and come:
            return True, not self.compressed
        if to:
            return not self.compressed, False
        if come:
            return False, not self.compressed
        return self.compressed, False

    def open(self) -> bytes:
        """Return the header and the open payload."""
        control = self.kind | self.version << 12
        control |= self.destination.mode << 10 | self.source.mode << 14
        control |= bool(self.level) << 3 | self.acknowledge << 5 | self.compressed << 6
        control |= self.no_sequence << 8 | self.has_elements << 9
        frame = struct.pack("<H", control)
        frame += b"" if self.no_sequence else bytes([self.sequence])
        for address, pan in zip((self.destination, self.source), self.pans(), strict=True):
            frame += struct.pack("<H", address.pan) if pan else b""
            frame += address.sent
        if self.level:
            tsch = self.asn is not None
            frame += bytes([self.level | self.key_mode << 3 | self.suppressed << 5 | tsch << 6])
            frame += b"" if self.suppressed else struct.pack("<I", self.counter)
            frame += self.key_source
            frame += bytes([self.key_index]) if self.key_mode else b""
        return frame + self.elements

    def nonce(self, extended: int) -> bytes:
        address = extended.to_bytes(8, "big")
        if self.asn is None:
            return address + struct.pack(">IB", self.counter, self.level)
        if self.source.mode == SHORT:
            address = bytes.fromhex("ba55ec00") + struct.pack(
                ">HH", self.source.pan, self.source.value
            )
        return address + self.asn.to_bytes(5, "big")

    def secured(self, key: bytes, extended: int) -> bytes:
        """Return the frame on air, by `cryptography`."""
        open_, nonce = self.open(), self.nonce(extended)
        if self.level == 0:
            return open_ + self.payload
        if self.level == 4:
            # CTR of CCM*, annex B.4: counter blocks have flags 1.
            stream = Cipher(algorithms.AES(key), modes.CTR(b"\x01" + nonce + b"\x00\x01"))
            return open_ + stream.encryptor().update(self.payload)
        ccm = AESCCM(key, self.mic_bytes)
        if self.level < 4:
            return open_ + self.payload + ccm.encrypt(nonce, b"", open_ + self.payload)
        return open_ + ccm.encrypt(nonce, self.payload, open_)


OWN = 0xACDE480000000001
PEER = Address(EXTENDED, 0x4321, 0xACDE480000000002)
SELF = Address(EXTENDED, 0x4321, OWN)
SOURCES_OF_KEYS = (b"", b"", b"\x5a" * 4, b"\x5a" * 8)


def start(
    firmware: Firmware,
    *,
    counter: int = 0,
    levels: int = 0xFF,
    exempt: int = 0,
    kinds: int = 0x0F,
    implicit: Address = SELF,
) -> None:
    """Set up tables that accept everything: a key of each mode, one device, all levels."""
    own = SELF.sent
    assert firmware.ask("init", own, counter) == ["1"]
    for mode, source in enumerate(SOURCES_OF_KEYS):
        assert firmware.ask("key", KEY, mode, 1, source, *implicit.words, kinds) == ["1"]
    assert firmware.ask("device", 0x4321, 0x1234, own, exempt) == ["1"]
    for kind in range(4):
        assert firmware.ask("rule", kind, 1, levels, exempt) == ["1"]


ANNEX_C = {
    "C.2.1": (
        Frame(
            kind=BEACON,
            elements=bytes.fromhex("55cf0000"),
            payload=bytes.fromhex("51525354"),
            level=2,
            source=SELF,
        ),
        "08d0842143010000000048deac020500000055cf000051525354223bc1ec841ab553",
    ),
    "C.2.2": (
        Frame(
            acknowledge=True,
            compressed=True,
            destination=PEER,
            payload=bytes.fromhex("61626364"),
            level=4,
            source=SELF,
        ),
        "69dc842143020000000048deac010000000048deac0405000000d43e022b",
    ),
    "C.2.3": (
        Frame(
            kind=COMMAND,
            acknowledge=True,
            destination=PEER,
            source=Address(EXTENDED, 0xFFFF, OWN),
            elements=b"\x01",
            payload=b"\xce",
            level=6,
        ),
        "2bdc842143020000000048deacffff010000000048deac060500000001d84fde529061f9c6f1",
    ),
}
"""IEEE Std 802.15.4-2006, annex C.2: frames on air. The device is ACDE480000000001."""


@pytest.mark.parametrize("name", ANNEX_C)
def test_annex_c(firmware: Firmware, name: str) -> None:
    frame, expected = ANNEX_C[name]
    frame.version, frame.sequence, frame.asn, frame.suppressed = 1, 0x84, None, False
    frame.key_mode, frame.counter = 0, 5
    assert frame.secured(KEY, OWN).hex() == expected
    start(firmware, counter=5, implicit=frame.destination)
    assert firmware.ask(*frame.command()) == ["0", expected]

    start(firmware, implicit=frame.source)
    status, *_, plaintext = firmware.ask("receive", "-", bytes.fromhex(expected))
    assert status == "0"
    assert bytes.fromhex(plaintext) == frame.payload
    # The same frame again is a replay.
    assert firmware.ask("receive", "-", bytes.fromhex(expected)) == [str(COUNTER)]


def anyone(rng: random.Random, pan: int, *modes: int) -> Address:
    mode = rng.choice(modes)
    return Address(
        mode, pan if mode else 0, rng.randrange(1 << {NONE: 0, SHORT: 16, EXTENDED: 64}[mode])
    )


TERMINATIONS = (b"", b"\x80\x3f", b"\x00\x3f")
"""None; of header elements before the payload (HT2) or before payload elements (HT1)."""


def any_frame(rng: random.Random, counter: int) -> Frame:
    """Return a frame of any kind, version, addresses, level and key; we are its source."""
    tsch = rng.random() < 0.6
    version = 2 if tsch else rng.choice((1, 2))
    kind = rng.choice((BEACON, DATA, ACK, COMMAND) if version == 2 else (DATA,))
    mode = rng.randrange(4)
    frame = Frame(
        kind=kind,
        version=version,
        acknowledge=rng.random() < 0.5,
        sequence=rng.randrange(256),
        no_sequence=version == 2 and rng.random() < 0.3,
        destination=anyone(rng, rng.choice((0x4321, 0x1111)), NONE, SHORT, EXTENDED),
        source=rng.choice((SELF, Address(SHORT, 0x4321, 0x1234))),
        level=rng.randrange(8),
        key_mode=mode,
        suppressed=tsch and rng.random() < 0.8,
        asn=rng.randrange(1, 1 << 40) if tsch else None,
        key_source=SOURCES_OF_KEYS[mode],
        key_index=1,
        counter=counter,
    )
    frame.compressed = rng.random() < 0.5
    if frame.compressed:
        # Both are then in the destination's PAN, or no PAN is sent.
        if frame.destination.mode:
            frame.destination.pan = 0x4321
        else:
            frame.compressed = False
    if frame.destination.mode == EXTENDED and frame.version == 2 and frame.source.mode == EXTENDED:
        frame.destination.pan = 0x4321
    frame.payload = rng.randbytes(rng.randrange(60))
    if version == 2 and rng.random() < 0.5:
        frame.has_elements = True
        content = rng.randbytes(rng.randrange(8))
        frame.elements = struct.pack("<H", len(content) | 0x1E << 7) + content
        frame.elements += b"\x80\x3f"
    return frame


def test_random_frames_are_what_the_oracle_says(firmware: Firmware) -> None:
    """Every kind of header, level and key, sent and received."""
    rng = random.Random(1)
    secured = 0
    for number in range(1500):
        counter = rng.randrange(1 << 32)
        frame = any_frame(rng, counter)
        # In these modes no PAN is on the air by which the receiver could find a key.
        if frame.key_mode == 0 and frame.compressed and frame.version == 2:
            frame.key_mode, frame.key_source = 1, b""
        start(firmware, counter=counter, implicit=frame.destination)
        status, *sent = firmware.ask(*frame.command())
        if frame.level and frame.suppressed is False and counter == 0xFFFFFFFF:
            assert int(status) == COUNTER
            continue
        expected = frame.secured(KEY, OWN)
        assert (status, sent) == ("0", [expected.hex()]), (number, frame)
        start(firmware, implicit=frame.source)
        asn = "-" if frame.asn is None else frame.asn
        status, kind, version, _, level, open_, mic, plaintext = firmware.ask(
            "receive", asn, expected
        )
        assert int(status) == OK, (number, frame)
        assert (int(kind), int(version), int(level)) == (frame.kind, frame.version, frame.level)
        assert int(open_) == len(frame.open())
        assert int(mic) == len(expected) - frame.mic_bytes
        assert bytes.fromhex(plaintext.strip("-")) == frame.payload
        secured += frame.level > 0
    assert secured > 1000


def test_the_order_of_the_checks(firmware: Firmware) -> None:
    """Each reason to refuse a frame by itself: all later checks would pass."""

    def receive(frame: Frame, asn: int | str | None = None, key: bytes = KEY) -> int:
        data = frame.secured(key, OWN)
        return int(firmware.ask("receive", frame.asn if asn is None else asn, data)[0])

    good = Frame(destination=PEER, source=SELF, asn=9)
    start(firmware)
    assert receive(good) == OK
    assert receive(good) == COUNTER
    assert receive(Frame(destination=PEER, source=SELF, asn=8)) == COUNTER
    assert receive(Frame(destination=PEER, source=SELF, asn=10), asn=11) == ERROR
    assert receive(Frame(destination=PEER, source=SELF, asn=10), asn="-") == UNSUPPORTED
    assert receive(Frame(destination=PEER, source=SELF, asn=10), key=bytes(16)) == ERROR
    assert receive(Frame(destination=PEER, source=SELF, asn=10, key_index=2)) == NO_KEY
    wrong = Frame(destination=PEER, source=SELF, asn=10, key_mode=2, key_source=b"\x5b" * 4)
    assert receive(wrong) == NO_KEY
    stranger = Address(EXTENDED, 0x4321, OWN + 1)
    assert receive(Frame(destination=PEER, source=stranger, asn=10)) == NO_DEVICE
    assert receive(Frame(destination=PEER, source=SELF, asn=10, version=0)) == NO_FRAME
    assert receive(Frame(destination=PEER, source=SELF, asn=10, suppressed=False)) == OK
    # A level that no rule admits; likewise an unsecured frame, except from an exempt device.
    start(firmware, levels=0x20)
    for level in (0, 1, 4, 6):
        assert receive(Frame(destination=PEER, source=SELF, asn=9, level=level)) == LEVEL
    assert receive(good) == OK
    start(firmware, levels=0x20, exempt=1)
    assert receive(Frame(destination=PEER, source=SELF, asn=9, level=0)) == OK
    assert receive(Frame(destination=PEER, source=stranger, asn=9, level=0)) == LEVEL
    assert receive(Frame(destination=PEER, source=SELF, asn=9, level=1)) == LEVEL
    # A rule is of one type of frames.
    start(firmware, levels=0x20)
    for kind in (BEACON, COMMAND):
        assert firmware.ask("rule", kind, 1, 0xFF, 0) == ["1"]
    assert receive(Frame(destination=PEER, source=SELF, asn=9, level=6)) == LEVEL
    # A key that is not for data frames.
    start(firmware, kinds=1 << BEACON)
    assert receive(good) == KEY_TYPE
    # The last frame counter is never used.
    start(firmware, counter=0xFFFFFFFF)
    last = Frame(destination=PEER, source=SELF, asn=None, suppressed=False, counter=0xFFFFFFFF)
    assert receive(last, asn="-") == COUNTER
    assert firmware.ask(*last.command()) == [str(COUNTER)]
    assert firmware.ask(*Frame(payload=bytes(118)).command()) == [str(TOO_LONG)]
    assert firmware.ask(*Frame(key_index=7).command()) == [str(NO_KEY)]
    bad = Frame(asn=None, suppressed=True)
    assert firmware.ask(*bad.command()) == [str(UNSUPPORTED)]


@pytest.mark.parametrize(("mode", "value"), [(EXTENDED, OWN), (SHORT, 0x1234)])
def test_an_implicit_key_is_of_a_device_in_its_pan(
    firmware: Firmware, mode: int, value: int
) -> None:
    """The same address in another PAN has no key, whether it sends or is sent to."""
    device = Address(mode, 0x4321, value)
    explicit = partial(Frame, version=1, asn=None, suppressed=False, key_mode=0)
    received = explicit(destination=PEER, source=device)
    sent = explicit(destination=device, source=SELF)
    for pan, expected in ((0x4321, OK), (0x1111, NO_KEY)):
        start(firmware, implicit=Address(mode, pan, value))
        status = firmware.ask("receive", "-", received.secured(KEY, OWN))[0]
        assert int(status) == expected
        assert int(firmware.ask(*sent.command())[0]) == expected


@pytest.mark.parametrize("strategy", ["program", "streaming"])
def test_nothing_forged_is_taken(request: pytest.FixtureRequest, strategy: str) -> None:
    """Changed, truncated, extended, replayed and made-up frames; the unchanged one is accepted."""
    program = request.getfixturevalue(strategy)
    done = subprocess.run(
        [program, "fuzz", "500000", "1"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("5000")


@pytest.mark.parametrize(
    ("chip", "strategy", "streamed", "seed"),
    [
        ("cc2420", "hardware", 0, 3),
        # After a misread length, the driver is elsewhere in the FIFO than the radio.
        ("cc2420", "hybrid", 0, 7),
        ("cc2538", "hardware", 1, 3),
        ("cc2650", "hybrid", 0, 3),
        ("nrf52840", "memory", 0, 3),
    ],
)
def test_drivers_take_nothing_that_is_wrong(
    tmp_path: Path, chip: str, strategy: str, streamed: int, seed: int
) -> None:
    """Each board's driver, over its simulated chip.

    Forged frames as above, and faults that only a radio sees: wrong checksums and lengths, frames
    that stop in the middle, full FIFOs, and registers that answer at random. A genuine frame is
    accepted each time. tests/networks/drivers_fuzz.py runs for longer.
    """
    program = compiled(tmp_path / chip, strategy, chip, CCM_STREAMED=streamed)
    done = subprocess.run(
        [program, "fuzz", "10000", str(seed)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout.split()[0]) >= 10_000


def test_a_driver_that_trusts_its_radio_is_found(tmp_path: Path) -> None:
    """Frames with a wrong FCS get through where the simulated receiver reports them as right."""
    program = compiled(tmp_path / "broken", "hybrid", "cc2538", STATUS_CRC_WRONG=0x80)
    done = subprocess.run(
        [program, "fuzz", "10000", "3"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "accepted: disturbed" in done.stderr


def tap(frame: bytes, asn: int | None) -> bytes:
    """Return a packet of link type 283, IEEE 802.15.4 TAP: no FCS (TLV 0), channel (3), ASN (7)."""
    values = struct.pack("<HHI", 0, 1, 0)[:4] + bytes(4)
    values += struct.pack("<HHHBx", 3, 3, 26, 0)
    if asn is not None:
        values += struct.pack("<HHQ", 7, 8, asn)
    return struct.pack("<BBH", 0, 0, 4 + len(values)) + values + frame


def pcap(packets: list[bytes]) -> bytes:
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 283)
    return header + b"".join(
        struct.pack("<IIII", i, 0, len(p), len(p)) + p for i, p in enumerate(packets)
    )


def dissected(capture: Path) -> list[str]:
    """Return level, payload and complaints of each frame."""
    key = f'uat:ieee802154_keys:"{KEY.hex()}","1","No hash"'
    command = ["tshark", "-r", str(capture), "-o", key, "-T", "fields", "-E", "separator=|"]
    command += ["--disable-protocol", "6lowpan", "--disable-protocol", "zbee_nwk"]
    fields = ("wpan.aux_sec.sec_level", "data.data", "_ws.expert.message")
    command += [word for name in fields for word in ("-e", name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_tshark_verifies_every_level(firmware: Firmware, tmp_path: Path) -> None:
    """All levels with a MIC, all key identifier modes, in slots and with frame counters."""
    frames: list[tuple[Frame, bytes]] = []
    for level in (1, 2, 3, 5, 6, 7):
        for mode in (1, 2, 3):
            for asn in (0x0102030405 + level, None):
                for elements in (b"", bytes.fromhex("020f5a00803f")):
                    frame = Frame(
                        destination=PEER,
                        source=SELF,
                        compressed=asn is None,
                        level=level,
                        key_mode=mode,
                        key_source=SOURCES_OF_KEYS[mode],
                        asn=asn,
                        suppressed=asn is not None,
                        has_elements=bool(elements),
                        elements=elements,
                        payload=b"hello " * 5,
                        counter=77,
                    )
                    start(firmware, counter=77)
                    status, data = firmware.ask(*frame.command())
                    assert status == "0"
                    frames.append((frame, bytes.fromhex(data)))
    capture = tmp_path / "frames.pcap"
    capture.write_bytes(pcap([tap(data, frame.asn) for frame, data in frames]))
    for (frame, _), line in zip(frames, dissected(capture), strict=True):
        assert line == f"0x{frame.level:02x}|{frame.payload.hex()}|", frame
    # The same with the last bit of each MIC changed, to show that tshark does verify.
    changed = [tap(d[:-1] + bytes([d[-1] ^ 1]), frame.asn) for frame, d in frames]
    capture.write_bytes(pcap(changed))
    assert all(
        line.endswith("No encryption key set - can't decrypt") for line in dissected(capture)
    )
