"""The image protocol: frames, slots, refusals, and a line that damages what it carries."""

import binascii
import contextlib
import os
import random
import struct
import subprocess
import threading
import time
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from joulemark import ready
from joulemark.catalogue.primitives import Library
from joulemark.errors import LinkError
from joulemark.images import build_local
from joulemark.project import FIRMWARE
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import FRAME_BYTES, Command, Device, Flag, decode, encode
from joulemark.runners.serial import SerialLink

CAPACITY = {"message": 1024, "output": 1024}
"""Sizes of the identity's slots."""
BAD_FRAME = (0x80, 0, b"\x01")


@pytest.fixture(scope="module")
def image() -> Path:
    library = Library.load()
    (identity,) = library.implementations(library["identity"])
    return build_local(identity, sanitize=True).path


@pytest.fixture
def link(image: Path) -> Iterator[LocalLink]:
    with LocalLink(image) as link:
        yield link


@pytest.fixture
def device(link: LocalLink) -> Device:
    return Device(link)


def answer(link: LocalLink, data: bytes) -> tuple[int, int, bytes] | None:
    link.send(data)
    reply = link.receive()
    assert reply.count(b"\0") == 1
    return decode(reply.removesuffix(b"\0"))


def test_crc_is_the_one_of_the_document() -> None:
    # The check value of CRC-16/IBM-3740, that of "123456789" (G. Cook, Catalogue of parametrised
    # CRC algorithms).
    assert binascii.crc_hqx(b"123456789", 0xFFFF) == 0x29B1


@given(st.integers(0, 255), st.integers(0, 255), st.binary(max_size=FRAME_BYTES - 4))
def test_frames_come_back(kind: int, sequence: int, body: bytes) -> None:
    frame = encode(kind, sequence, body)
    assert frame.count(b"\0") == 1
    assert frame.endswith(b"\0")
    assert len(frame) <= FRAME_BYTES + 2
    assert decode(frame[:-1]) == (kind, sequence, body)


@given(st.binary(max_size=64), st.data())
def test_damaged_frames_are_seen(body: bytes, data: st.DataObject) -> None:
    frame = bytearray(encode(Command.RUN, 7, body)[:-1])
    at = data.draw(st.integers(0, len(frame) - 1))
    frame[at] ^= data.draw(st.integers(1, 255))
    assert decode(bytes(frame)) is None


@pytest.mark.parametrize("slot", CAPACITY)
def test_slots_hold_what_the_kind_says(device: Device, slot: str) -> None:
    data = random.Random(slot).randbytes(CAPACITY[slot])
    device.write(slot, data)
    assert device.read(slot, len(data)) == data
    with pytest.raises(LinkError, match="out of range"):
        device.write(slot, data + b"x")
    device.write(slot, b"")
    assert device.read(slot, 0) == b""
    with pytest.raises(LinkError, match="out of range"):
        device.read(slot, 1)


@pytest.mark.parametrize(
    ("frame", "status"),
    [
        (encode(9, 1), 2),
        (encode(Command.WRITE, 1, b"\x00\x00"), 3),
        (encode(Command.WRITE, 1, b"\x02\x00\x00x"), 3),
        (encode(Command.WRITE, 1, b"\x00\x01\x00x"), 3),  # a gap
        (encode(Command.WRITE, 1, b"\x01\xff\xffx"), 3),
        (encode(Command.READ, 1, b"\x01\xff\xff\xff"), 3),
        (encode(Command.READ, 1, b"\x05\x00"), 3),
        (encode(Command.IDENTIFY, 1, b"\xff\xff"), 3),
        (encode(Command.IDENTIFY, 1), 3),
        (encode(Command.RUN, 1, struct.pack("<BBI", 0, 0, 1)), 3),
        (encode(Command.RUN, 1, struct.pack("<BBIH", 1, 0, 1, 0)), 4),
        (encode(Command.RUN, 1, struct.pack("<BBIH", 0, 0, 0, 0)), 5),
        (encode(Command.RUN, 1, struct.pack("<BBIH", 0, 8, 1, 0)), 5),
        (encode(Command.RUN, 1, struct.pack("<BBIH", 0, 4, 2, 0)), 5),
    ],
)
def test_refusals(link: LocalLink, frame: bytes, status: int) -> None:
    reply = answer(link, frame)
    assert reply is not None
    assert reply[1:] == (1, bytes([status]))


@pytest.mark.parametrize(
    "frame",
    [
        b"\x01\0",
        b"\x05abc\0",
        b"\xff\0",
        encode(Command.IDENTIFY, 1, b"\0\0")[:-2] + b"\0",
        b"\x02a" * 125 + b"\0",
        b"\x02a" * 400 + b"\0",
        bytes(range(1, 256)) + b"\0",
    ],
)
def test_what_is_no_frame_is_answered_and_forgotten(link: LocalLink, frame: bytes) -> None:
    assert answer(link, frame) == BAD_FRAME
    reply = answer(link, b"\0\0" + encode(Command.IDENTIFY, 5, b"\0\0"))
    assert reply is not None
    assert reply[:2] == (Command.IDENTIFY | 0x80, 5)
    assert reply[2][0] == 0


def test_repetitions_and_flags_are_accepted(device: Device) -> None:
    for flags in (Flag.NONE, Flag.EMPTY, Flag.PAINT, Flag.IN_PLACE):
        device.run("nothing", flags)
    device.run("nothing", repetitions=100_000)
    with pytest.raises(LinkError, match="no operation encrypt"):
        device.run("encrypt")


def test_quiet_time_passes_before_and_after_the_window(device: Device) -> None:
    began_s = time.monotonic()
    result = device.run("nothing", quiet_ms=50)
    assert time.monotonic() - began_s >= 0.1
    assert result.timer_ticks * 1e-9 < 0.05


class NoisyLink:
    """A line that now and then loses, doubles or changes bytes, in either direction."""

    def __init__(self, link: LocalLink, seed: int) -> None:
        self._link = link
        self._random = random.Random(seed)

    def _noise(self, data: bytes) -> bytes:
        at = self._random.randrange(len(data))
        kind = self._random.randrange(10)
        if kind == 0:
            return data[:at] + data[at + 1 :]
        if kind == 1:
            return data[:at] + bytes([data[at] ^ 1 << self._random.randrange(8)]) + data[at + 1 :]
        if kind == 2:
            return self._random.randbytes(5) + data
        return data

    def send(self, data: bytes) -> None:
        self._link.send(self._noise(data))

    def receive(self) -> bytes:
        return self._noise(self._link.receive())

    def settle(self) -> None:
        self._link.settle()


def test_a_noisy_line_delays_and_never_lies(image: Path) -> None:
    with LocalLink(image, timeout_s=0.05) as link:
        device = Device(NoisyLink(link, 1), attempts=40)
        source = random.Random(2)
        for _ in range(40):
            data = source.randbytes(source.randrange(1, 600))
            device.write("message", data)
            assert device.read("message", len(data)) == data


class Garbage:
    """Something that is not an image."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def send(self, data: bytes) -> None:
        pass

    def receive(self) -> bytes:
        return self._data

    def settle(self) -> None:
        pass


@given(st.binary(min_size=1, max_size=300))
def test_garbage_is_one_clear_error(data: bytes) -> None:
    with pytest.raises(LinkError, match="no valid answer in 3 attempts: garbage on the line"):
        _ = Device(Garbage(data.replace(b"\0", b"") + b"x\0"), attempts=3).description


def test_an_image_of_another_protocol_is_named() -> None:
    text = b"protocol=99\n"
    body = b"\0" + len(text).to_bytes(2, "little") + text
    with pytest.raises(LinkError, match="speaks protocol 99"):
        _ = Device(Garbage(encode(Command.IDENTIFY | 0x80, 1, body))).description


def test_a_process_that_dies_says_why(tmp_path: Path) -> None:
    program = tmp_path / "image"
    program.write_text("#!/bin/sh\nhead -c 1 > /dev/null\necho oh no >&2\nexit 3\n")
    program.chmod(0o755)
    with LocalLink(program) as link, pytest.raises(LinkError, match="oh no"):
        _ = Device(link).description


def seeds() -> Iterator[bytes]:
    """Yield the fuzzer's seeds: a line without an end, full slots, operations on them."""
    yield b"r" + b"x" * 600 + b"\0"

    def frame(*content: int) -> bytes:
        return bytes([len(content), *content])

    fill = b""
    for slot, capacity in enumerate(CAPACITY.values()):
        for offset in range(0, capacity, 200):
            data = b"\x01" * min(200, capacity - offset)
            fill += frame(Command.WRITE, 1, slot, offset & 255, offset >> 8, *data)
        yield fill[-1400:]
    for operation in range(4):
        yield frame(Command.RUN, 1, operation, 0, 2, 0, 0, 0, 0, 0) + frame(4, 1, 1, 0, 0, 16)


@pytest.mark.parametrize("primitive", ["identity", "sha-256", "aes-128-ccm"])
def test_fuzzed_command_loop(tmp_path: Path, primitive: str) -> None:
    """Raw bytes, and well-formed frames with any content, under sanitizers; a short run."""
    library = Library.load()
    of_host = [i for i in library.implementations(library[primitive]) if i.runs_on("host")]
    image = build_local(of_host[-1], sanitize=True)
    fuzzer = tmp_path / "fuzzer"
    # The harness is compiled here, so that the fuzzer sees which branches are taken.
    replaced = ("-hal_c", "-main_c", "-harness_c", "-frame_c")
    sources = [FIRMWARE / "harness" / "harness.c", FIRMWARE / "harness" / "command-frame.c"]
    sources.append(Path(__file__).with_name("fuzz_harness.c"))
    objects = [
        str(path)
        for path in sorted(image.path.parent.glob("*.o"))
        if not any(name in path.name for name in replaced)
    ]
    subprocess.run(
        [
            *("clang-19", "-g", "-O1", "-fsanitize=fuzzer,address,undefined"),
            *("-fno-sanitize-recover=all", "-Wall", "-Wextra", "-Werror"),
            *(f"-I{FIRMWARE / folder}" for folder in ("hal", "hal/host", "harness", "primitives")),
            *(*map(str, sources), *objects, "-o", str(fuzzer)),
        ],
        check=True,
    )
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(seeds()):
        (corpus / str(number)).write_bytes(seed)
    subprocess.run(
        [
            str(fuzzer),
            str(corpus),
            "-runs=20000",
            "-max_len=1500",
            "-seed=1",
            "-verbosity=0",
            "-timeout=10",
        ],
        check=True,
        cwd=tmp_path,
        env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},
    )


@pytest.mark.parametrize("program", ["cat /dev/zero", "yes"])
def test_a_program_that_talks_without_end_is_given_up(program: str, tmp_path: Path) -> None:
    path = tmp_path / "image"
    path.write_text(f"#!/bin/sh\nexec {program}\n")
    path.chmod(0o700)
    with (
        LocalLink(path, timeout_s=0.3) as link,
        pytest.raises(LinkError, match="what comes does not end"),
    ):
        Device(link).run("encrypt")


def test_a_line_that_sends_zero_bytes_without_end_is_given_up() -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    ending = threading.Event()

    def send() -> None:
        while not ending.is_set():
            if ready.to_write(master, 0.05):
                with contextlib.suppress(BlockingIOError):
                    os.write(master, bytes(64))

    thread = threading.Thread(target=send)
    thread.start()
    try:
        with (
            SerialLink(os.ttyname(slave), 9600, timeout_s=0.3) as link,
            pytest.raises(LinkError, match="what comes does not end; check the baud rate"),
        ):
            Device(link).run("encrypt")
    finally:
        ending.set()
        thread.join()
        os.close(slave)
        os.close(master)


class Chatter:
    """A line that delivers frames that are not the answer, and is quiet after the first."""

    def send(self, data: bytes) -> None:
        pass

    def receive(self) -> bytes:
        return encode(Command.READ | 0x80, 77, b"\0")

    def settle(self) -> None:
        pass


def test_answers_to_others_are_passed_over_so_many_times() -> None:
    with pytest.raises(LinkError, match="16 frames came, and none of them is the answer"):
        Device(Chatter()).run("encrypt")
