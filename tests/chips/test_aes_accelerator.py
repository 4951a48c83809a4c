"""The AES accelerator of CC2538 and CC26x0 against OpenSSL, in every mode that it supports."""

import random
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from joulemark._engine import Image, Machine
from joulemark.catalogue import chips

SOURCE = Path(__file__).with_name("aes_accelerator.c")
CHIPS = {"cc2538": (0x4008B000, 0x00200000), "cc2650": (0x40024000, 0x00000000)}
RAM_TOP = 0x20005000

SAVE_CONTEXT, CCM, GCM, CBC_MAC, CTR, CBC, ENCRYPT = (
    1 << 29,
    1 << 18,
    3 << 16,
    1 << 15,
    1 << 6,
    1 << 5,
    1 << 2,
)
CTR_WIDTH_128 = 3 << 7


@dataclass(frozen=True)
class Result:
    output: bytes
    tag: bytes
    iv: bytes


class Accelerator:
    """A chip that runs aes_accelerator.c."""

    def __init__(self, chip: str, folder: Path) -> None:
        self.chip = chip
        base, flash = CHIPS[chip]
        subprocess.run(
            [
                *("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-O2", "-nostdlib", "-Wall"),
                *("-Wextra", "-Werror", f"-DBASE={base:#x}u", "-Wl,-e,begin,-Tbss=0x20001000"),
                *(f"-Wl,-Ttext={flash + 0x1000:#x}", str(SOURCE), "-o", f"{chip}.elf"),
            ],
            cwd=folder,
            check=True,
        )
        self.image = Image.load(folder / f"{chip}.elf")
        self.machine = Machine(chips.load_chip(chip), self.image, entry=self.image.symbols["begin"])

    def run(
        self,
        ctrl: int,
        key: bytes,
        iv: bytes = bytes(16),
        *,
        auth: bytes = b"",
        data: bytes = b"",
        has_output: bool = True,
    ) -> Result:
        size = {16: 1, 24: 2, 32: 3}[len(key)]
        job = self.image.symbols["job"]
        head = struct.pack("<5I", size, ctrl, has_output, len(auth), len(data))
        rest = iv + key.ljust(32, b"\0") + bytes(16 + 8) + auth.ljust(512, b"\0")
        self.machine.write_memory(job, head + rest + data.ljust(512, b"\0") + bytes(512))
        stop = self.machine.run(max_cycles=100_000, until=self.image.symbols["done"])
        assert stop.reason == "address", stop.fault and stop.fault.message
        memory = self.machine.read_memory(job, 20 + 16 + 32 + 16 + 8 + 3 * 512)
        assert memory[84:88] == bytes(4), "no error is in INT_STAT"
        output = memory[-512:]
        assert not any(output[len(data) :]), "nothing is written behind the output"
        return Result(output[: len(data)], memory[68:84], memory[20:36])


@pytest.fixture(scope="module", params=CHIPS)
def accelerator(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Accelerator:
    return Accelerator(request.param, tmp_path_factory.mktemp("aes"))


@pytest.fixture
def source() -> random.Random:
    return random.Random(2538)


def keys(accelerator: Accelerator) -> list[int]:
    return [16, 24, 32] if accelerator.chip == "cc2538" else [16]


def ccm_ctrl(tag_bytes: int, length_bytes: int, encrypt: bool) -> int:
    field = (max(tag_bytes, 2) - 2) // 2
    modes_ = SAVE_CONTEXT | CCM | CTR | CTR_WIDTH_128 | (ENCRYPT if encrypt else 0)
    return modes_ | field << 22 | (length_bytes - 1) << 19


@pytest.mark.parametrize("mode", ["ecb", "cbc", "ctr"])
def test_unauthenticated_modes(accelerator: Accelerator, source: random.Random, mode: str) -> None:
    for _ in range(12):
        key, iv = source.randbytes(source.choice(keys(accelerator))), source.randbytes(16)
        blocks = source.randrange(1, 9)
        data = source.randbytes(16 * blocks - (source.randrange(16) if mode == "ctr" else 0))
        algorithm = algorithms.AES(key)
        operations: dict[str, modes.ECB | modes.CBC | modes.CTR] = {
            "ecb": modes.ECB(),  # noqa: S305 - what is tested
            "cbc": modes.CBC(iv),
            "ctr": modes.CTR(iv),
        }
        ctrl = {"ecb": 0, "cbc": CBC, "ctr": CTR | CTR_WIDTH_128}[mode]
        expected = Cipher(algorithm, operations[mode]).encryptor().update(data)
        there = accelerator.run(ctrl | ENCRYPT, key, iv, data=data)
        assert there.output == expected
        assert accelerator.run(ctrl, key, iv, data=expected).output == data
        if mode == "cbc":
            assert there.iv == expected[-16:]
        if mode == "ctr":
            count = int.from_bytes(iv) + blocks & (1 << 128) - 1
            assert there.iv == count.to_bytes(16)


@pytest.mark.parametrize("width_bytes", [4, 8, 12, 16])
def test_a_counter_counts_in_its_width(accelerator: Accelerator, width_bytes: int) -> None:
    iv = bytes(16 - width_bytes) + b"\xff" * width_bytes
    key = bytes(range(16))
    ctrl = CTR | (width_bytes // 4 - 1) << 7 | ENCRYPT
    found = accelerator.run(ctrl, key, iv, data=bytes(32))
    stream = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - single blocks
    assert found.output == stream.update(iv) + stream.update(bytes(16))


def test_cbc_mac(accelerator: Accelerator, source: random.Random) -> None:
    for _ in range(8):
        key = source.randbytes(source.choice(keys(accelerator)))
        data = source.randbytes(source.randrange(1, 200))
        padded = data + bytes(-len(data) % 16)
        chain = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor().update(padded)
        ctrl = SAVE_CONTEXT | CBC_MAC | ENCRYPT
        assert accelerator.run(ctrl, key, data=data, has_output=False).tag == chain[-16:]


def test_ccm(accelerator: Accelerator, source: random.Random) -> None:
    for _ in range(40):
        key = source.randbytes(source.choice(keys(accelerator)))
        tag_bytes, length_bytes = source.choice([4, 6, 8, 10, 12, 14, 16]), source.randrange(2, 9)
        nonce = source.randbytes(15 - length_bytes)
        auth, data = (source.randbytes(source.randrange(130)) for _ in range(2))
        if not auth and not data:
            continue
        sealed = AESCCM(key, tag_bytes).encrypt(nonce, data, auth)
        cipher, tag = sealed[:-tag_bytes], sealed[-tag_bytes:]
        iv = bytes([length_bytes - 1]) + nonce + bytes(length_bytes)
        there = accelerator.run(
            ccm_ctrl(tag_bytes, length_bytes, True), key, iv, auth=auth, data=data
        )
        assert (there.output, there.tag[:tag_bytes]) == (cipher, tag)
        back = accelerator.run(
            ccm_ctrl(tag_bytes, length_bytes, False), key, iv, auth=auth, data=cipher
        )
        assert (back.output, back.tag[:tag_bytes]) == (data, tag)


def test_gcm(accelerator: Accelerator, source: random.Random) -> None:
    if accelerator.chip != "cc2538":
        pytest.skip("no GCM")
    for _ in range(20):
        key, nonce = source.randbytes(source.choice(keys(accelerator))), source.randbytes(12)
        auth, data = (source.randbytes(source.randrange(130)) for _ in range(2))
        if not auth and not data:
            continue
        encryptor = Cipher(algorithms.AES(key), modes.GCM(nonce)).encryptor()
        encryptor.authenticate_additional_data(auth)
        cipher = encryptor.update(data)
        encryptor.finalize()
        ctrl, iv = SAVE_CONTEXT | GCM | CTR, nonce + b"\0\0\0\1"
        there = accelerator.run(ctrl | ENCRYPT, key, iv, auth=auth, data=data)
        assert (there.output, there.tag) == (cipher, encryptor.tag)
        back = accelerator.run(ctrl, key, iv, auth=auth, data=cipher)
        assert (back.output, back.tag) == (data, encryptor.tag)


# IEEE Std 802.15.4-2006, C.2: key, source and frame counter are the same throughout.
ANNEX_C = [
    # C.2.1, a beacon of level 2.
    (2, "08d0842143 0100000000 48deac 02 05000000 55cf0000 51525354", "", "", "223bc1ec841ab553"),
    # C.2.2, a data frame of level 4: no MIC.
    (4, "69dc842143 0200000000 48deac 0100000000 48deac 04 05000000", "61626364", "d43e022b", ""),
    # C.2.3, a command of level 6.
    (
        6,
        "2bdc842143 0200000000 48deac ffff 0100000000 48deac 06 05000000 01",
        "ce",
        "d8",
        "4fde529061f9c6f1",
    ),
]


@pytest.mark.parametrize("example", ANNEX_C, ids=lambda example: f"level {example[0]}")
def test_annex_c_of_802_15_4(
    accelerator: Accelerator, example: tuple[int, str, str, str, str]
) -> None:
    level, auth, plain, cipher, tag = example
    nonce = bytes.fromhex("acde480000000001 00000005") + bytes([level])
    found = accelerator.run(
        ccm_ctrl(len(tag) // 2, 2, True),
        bytes(range(0xC0, 0xD0)),
        b"\1" + nonce + bytes(2),
        auth=bytes.fromhex(auth),
        data=bytes.fromhex(plain),
    )
    assert found.output.hex() == cipher
    assert found.tag[: len(tag) // 2].hex() == tag


def test_blocks_take_what_the_chip_file_says(accelerator: Accelerator) -> None:
    def cycles(blocks: int) -> int:
        before = accelerator.machine.cycles
        accelerator.run(ENCRYPT, bytes(16), data=bytes(16 * blocks))
        return accelerator.machine.cycles - before

    polling = 16
    cycles(1)
    assert abs(cycles(31) - cycles(1) - 30 * 52) <= polling
