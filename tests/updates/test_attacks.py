"""The bootloader as a program with sanitizers, attacked: firmware/fuzz/bootloader/attacks.c."""

import subprocess
from functools import cache
from pathlib import Path

import pytest

from joulemark.project import FIRMWARE
from joulemark.subjects.update.manifest import VENDOR, Manifest, device_class, envelope
from joulemark.subjects.update.signatures import signature

COUNT, FULL_COUNT = 300, 100_000
BOOTLOADER, ATTACKS = FIRMWARE / "update/bootloader", FIRMWARE / "fuzz/bootloader"
ML_DSA = FIRMWARE / "primitives/signature/ml-dsa"
SHA_256, KECCAK = (FIRMWARE / "primitives/hash" / name for name in ("sha-256", "keccak"))
PAGE, START = 1024, 0x1000_0000
IDENTITY_BYTES, MANIFEST_BYTES, IMAGE_BYTES = 2 * PAGE, 3 * PAGE, PAGE
COUNTER = START + IDENTITY_BYTES
SLOTS, SLOT_BYTES = COUNTER + 2 * PAGE, MANIFEST_BYTES + IMAGE_BYTES
BOARD, OLD, NEW, OLDER = "board", 100, 101, 40


def _update(slot: int, sequence: int) -> tuple[bytes, bytes]:
    image = f"{slot} {sequence}".encode().ljust(IMAGE_BYTES - 8, b".")
    manifest = Manifest(board=BOARD, slot=slot, sequence=sequence, image=image)
    return envelope(manifest, signature("ml-dsa-44"), 0), image


def _file(folder: Path) -> Path:
    """Write what is attacked: flash with an image that ran, and updates."""
    ml_dsa = signature("ml-dsa-44")
    flash = (VENDOR.bytes + device_class(BOARD).bytes + ml_dsa.public_keys).ljust(
        IDENTITY_BYTES, b"\xff"
    )
    flash += OLD.to_bytes(4, "little") + (OLD ^ 0xFFFFFFFF).to_bytes(4, "little")
    flash = flash.ljust(SLOTS - START, b"\xff")
    runs, image = _update(0, OLD)
    flash += runs.ljust(MANIFEST_BYTES, b"\xff") + image.ljust(IMAGE_BYTES, b"\xff")
    flash = flash.ljust(SLOTS - START + 2 * SLOT_BYTES, b"\xff")
    parts = [len(flash).to_bytes(4, "little"), flash]
    # The running version again, older ones, and one for the other slot.
    for made in (_update(1, NEW), *(_update(1, OLD - i) for i in range(1, OLDER))):
        parts += [*(len(part).to_bytes(4, "little") for part in made), *made]
    path = folder / "flash"
    path.write_bytes(b"".join(parts))
    return path


@pytest.fixture(scope="module")
def attacks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("attacks")
    ml_dsa = signature("ml-dsa-44")
    sizes = {
        "UPDATE_ALGORITHM": ml_dsa.cose,
        "UPDATE_SECOND_ALGORITHM": 0,
        "UPDATE_IDENTITY": START,
        "UPDATE_COUNTER": COUNTER,
        "UPDATE_COUNTER_PAGE_BYTES": PAGE,
        "UPDATE_SLOTS": SLOTS,
        "UPDATE_SLOT_BYTES": SLOT_BYTES,
        "UPDATE_SLOT_PAGE_BYTES": PAGE,
        "UPDATE_MANIFEST_BYTES": MANIFEST_BYTES,
        "UPDATE_IMAGE_BYTES": IMAGE_BYTES,
        "UPDATE_RUN": 0,
        "UPDATE_RUN_PAGE_BYTES": PAGE,
        "FLASH_START": START,
        # Of functions that are not called.
        "KECCAK_DIGEST": 32,
        "KECCAK_RATE": 136,
        "KECCAK_SUFFIX": 6,
        **_defines(),
    }
    includes = [ATTACKS, BOOTLOADER, FIRMWARE / "update/suit", FIRMWARE / "hal"]
    for way in (ML_DSA, SHA_256, KECCAK):
        includes += [way / "ref", way, way.parent]
    includes.append(FIRMWARE / "primitives")
    flags = ["-std=c11", "-g", "-O2", "-D_GNU_SOURCE", "-fsanitize=address,undefined"]
    flags += ["-fno-sanitize-recover=all", *(f"-I{path}" for path in includes)]
    flags += [f"-D{name}={value}" for name, value in sizes.items()]
    sources = [BOOTLOADER / "check.c", BOOTLOADER / "counter.c", FIRMWARE / "update/suit/suit.c"]
    sources += [FIRMWARE / "update/verify/ml-dsa/verify.c", ATTACKS / "attacks.c"]
    sources += [ML_DSA / "ref/mldsa.c", SHA_256 / "ref/sha256.c", KECCAK / "ref/keccak.c"]
    main = folder / "main.o"
    command: list[str | Path] = [
        "clang-19",
        *flags,
        "-Dmain=bootloader",
        "-c",
        BOOTLOADER / "main.c",
        "-o",
        main,
    ]
    subprocess.run(command, check=True)
    program = folder / "attacks"
    subprocess.run(["clang-19", *flags, main, *sources, "-o", program], check=True)
    return program, _file(folder)


@cache
def _defines() -> dict[str, int]:
    from joulemark.catalogue.primitives import library

    way = library().implementation(library()["ml-dsa-44"], "ref")
    return {name: int(value) for name, value in way.defines.items()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["image", "manifest", "signature", "replay"])
def test_no_attack_starts_anything(
    kind: str, attacks: tuple[Path, Path], request: pytest.FixtureRequest
) -> None:
    program, file = attacks
    count = FULL_COUNT if request.config.getoption("--full") else COUNT
    done = subprocess.run(
        [program, file, kind, str(count), "1"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"{kind}: {count}, 0 started\n"), done.stderr
