"""How exceptions nest, mask and chain on the Cortex-M3: random scenarios under QEMU and here."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from joulemark._engine import Image, Machine
from joulemark.catalogue import chips

SOURCE = Path(__file__).with_name("exceptions.c")
SCENARIOS, KEPT = 400, 1024


def build(folder: Path, keep: int) -> Path:
    """Build the image, which keeps one scenario in full and the digests of all."""
    place = "-Wl,-Ttext=0x100,-Tbss=0x20000000,--section-start=.vectors=0"
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-O1", "-ffreestanding", "-nostdlib"),
            *("-Wall", "-Wextra", "-Werror", f"-DKEEP={keep}"),
            *(f"{place},--defsym=stack_top=0x20005000,-e,reset", str(SOURCE), "-o", "image.elf"),
        ],
        cwd=folder,
        check=True,
    )
    return folder / "image.elf"


def here(folder: Path, keep: int) -> tuple[int, ...]:
    """Return the digests, then what was kept."""
    image = Image.load(build(folder, keep))
    machine = Machine(chips.load_chip("cc2650"), image, settings={"stop_on_fault": 0})
    stop = machine.run(until=image.resolve("at_the_end"), max_cycles=100_000_000)
    assert stop.reason == "address", stop.fault and stop.fault.message
    digests = machine.read_memory(image.resolve("digests"), 4 * SCENARIOS)
    kept = machine.read_memory(image.resolve("kept"), 4 * KEPT)
    return struct.unpack(f"<{SCENARIOS + KEPT}I", digests + kept)


def qemu(folder: Path, keep: int) -> tuple[int, ...]:
    """Return the same from QEMU, by semihosting."""
    subprocess.run(
        [
            *("qemu-system-arm", "-machine", "mps2-an385", "-nographic", "-monitor", "none"),
            *("-serial", "none", "-semihosting-config", "enable=on,target=native"),
            *("-kernel", str(build(folder, keep))),
        ],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=True,
    )
    return struct.unpack(f"<{SCENARIOS + KEPT}I", (folder / "log.bin").read_bytes())


@pytest.mark.skipif(shutil.which("qemu-system-arm") is None, reason="needs qemu-system-arm")
def test_exceptions_nest_mask_and_chain_as_under_qemu(tmp_path: Path) -> None:
    ours, theirs = here(tmp_path, 0), qemu(tmp_path, 0)
    differing = [i for i in range(SCENARIOS) if ours[i] != theirs[i]]
    if differing:
        ours, theirs = here(tmp_path, differing[0]), qemu(tmp_path, differing[0])
        step = next(i for i in range(SCENARIOS, len(ours)) if ours[i] != theirs[i])
        before = [f"{word:x}" for word in ours[max(SCENARIOS, step - 10) : step]]
        pytest.fail(
            f"{len(differing)} scenarios differ; in {differing[0]}, after {' '.join(before)}: "
            f"{ours[step]:x}, and QEMU has {theirs[step]:x}"
        )
