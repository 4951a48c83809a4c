"""Updates of emulated devices: what they start, what they refuse, and what the command says."""

import csv
import json
import random
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from pyhsslms import pyhsslms

from command import joulemark
from joulemark.campaign.case import Build
from joulemark.catalogue import boards
from joulemark.errors import FaultError, UnsatisfiedError
from joulemark.project import ROOT
from joulemark.reference import xmss
from joulemark.subjects.update import air
from joulemark.subjects.update.device import ACCEPTED, Device, Kit, Release, provisioned, record
from joulemark.subjects.update.layout import Needs, arrange, by_name
from joulemark.subjects.update.manifest import Manifest, envelope
from joulemark.subjects.update.measure import kit_of
from joulemark.subjects.update.signatures import Signature, signature
from joulemark.subjects.update.trials import Trials

SIZE = 1024
BOARDS = (
    "nrf52840-dk",
    "openmote-cc2538",
    "stm32vldiscovery",
    "sensortag-cc2650",
    "launchxl-cc26x2r1",
    "nucleo-l4r5zi",
    "telosb",
)
CUTS, ALL_CUTS = 8, 1000
GUIDE = ROOT / "docs/update.md"
BUILD = Build(compiler="clang", optimisation="Os")


@cache
def kit(board: str, name: str = "ecdsa-p256") -> Kit:
    found, chosen = boards.load_board(board), signature(name)
    return kit_of(found, chosen, next(iter(by_name(found, chosen).values())), BUILD, SIZE)


def _full(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--full"))


@pytest.mark.slow
@pytest.mark.parametrize("board", BOARDS)
def test_a_power_failure_leaves_an_image(board: str, request: pytest.FixtureRequest) -> None:
    trials = Trials(kit(board), SIZE)
    count = ALL_CUTS if _full(request) else CUTS
    cuts = list(trials.power_cuts(count))
    assert len(cuts) == count
    if _full(request):
        assert {cut.slot for cut in cuts} == {0, 1}


@pytest.mark.slow
def test_altered_updates_are_refused(request: pytest.FixtureRequest) -> None:
    trials = Trials(kit("nrf52840-dk"), SIZE)
    for release in trials.altered(ALL_CUTS if _full(request) else CUTS):
        trials.refused(release)


def _signed(kit: Kit, slot: int, sequence: int, image: bytes, board: str) -> Release:
    manifest = Manifest(board=board, slot=slot, sequence=sequence, image=image)
    return Release(slot, sequence, envelope(manifest, kit.signature, 0), image)


def test_signed_updates_for_others_are_refused() -> None:
    trials = Trials(kit("nrf52840-dk"), SIZE)
    new, old = trials.new, trials.old
    for release in (
        replace(new, envelope=old.envelope, image=old.image),  # the running image's own
        trials.kit.release(1, SIZE, old.sequence),  # as old as the running one
        trials.kit.release(1, SIZE, old.sequence - 1),
        trials.kit.release(0, SIZE, new.sequence),  # for the slot that runs
        _signed(trials.kit, 1, new.sequence, new.image, "stm32vldiscovery"),
        _signed(trials.kit, 1, new.sequence, bytes(64 * 1024), "nrf52840-dk"),  # no room
        replace(new, envelope=b""),
        replace(new, envelope=bytes(5000)),  # no room
    ):
        trials.refused(release)


def test_an_older_image_does_not_start_although_it_is_signed() -> None:
    """Not even if somebody writes it to flash: the counter is kept."""
    device = Device(kit("nrf52840-dk"), {})
    own, layout = kit("nrf52840-dk"), kit("nrf52840-dk").bootloader.layout
    first, second = own.release(0, SIZE, 3), own.release(1, SIZE, 4)
    device = Device(own, provisioned(own, [first]))
    assert device.run().started == 0
    device = Device(own, device.flash, requested=True)
    run = device.run(second)
    assert (run.answers, run.started) == ([ACCEPTED], 1)
    device = Device(own, device.flash | {layout.manifest(1): bytes(64)})
    run = device.run()
    assert run.started is None, "the first is whole and signed, and older than the counter"
    device = Device(own, device.flash)
    run = device.run(own.release(0, SIZE, 5))
    assert (run.answers, run.started) == ([ACCEPTED], 0), "an update mends it"


@pytest.mark.parametrize("board", ["stm32vldiscovery", "telosb"])
def test_the_counter_goes_from_page_to_page(board: str) -> None:
    own = kit(board)
    layout = own.bootloader.layout
    size = 2 * layout.counter_page
    places = size // 8

    for next_place in (places // 2 - 1, places // 2, places - 1, places):
        # The last records before a page's end, and one whose write was cut short.
        counter = b"".join(record(i + 1) for i in range(next_place - 1))
        counter += (next_place).to_bytes(4, "little") + b"\xff" * 4
        flash = provisioned(own, [own.release(0, SIZE, 1000)])
        flash[layout.counter] = counter.ljust(size, b"\xff")
        device = Device(own, flash)
        assert device.run().started == 0
        kept = device.machine.read_memory(layout.counter, size)
        assert record(1000) in kept
        older = own.release(0, SIZE, 999)
        written = {layout.manifest(0): older.envelope, layout.image(0): older.image}
        device = Device(own, device.flash | written)
        assert device.run().started is None


def test_a_copy_that_is_damaged_is_made_again_from_its_slot() -> None:
    """The image runs in the chip's flash; its slot, and the older one, are in the serial flash."""
    own = kit("telosb")
    layout = own.bootloader.layout
    old, new = own.release(0, SIZE, 3), own.release(1, SIZE, 4)
    blank = Device(own, provisioned(own, [old, new]))
    assert blank.run().started == 1, "the newest is copied"
    run = layout.run
    assert run is not None
    damage = {run + 700: b"\0"}
    again = Device(own, blank.flash | damage, earlier=blank)
    assert again.run().started == 1
    assert again.image(1, SIZE) == new.image
    # Damaged in its slot, too: the older one is there, but older than the counter.
    damage |= {layout.image(1) + 700: b"\0"}
    last = Device(own, blank.flash | damage, earlier=blank)
    assert last.run().started is None


@pytest.mark.slow
@pytest.mark.parametrize("board", ["nrf52840-dk", "launchxl-cc26x2r1", "nucleo-l4r5zi"])
@pytest.mark.parametrize(
    ("name", "most"), [("lms", 8192), ("ecdsa-p256", 16384), ("ml-dsa-44", 16384)]
)
def test_a_bootloader_is_small_on_a_cortex_m4(board: str, name: str, most: int) -> None:
    assert kit(board, name).bootloader.code_bytes <= most


def test_a_half_erased_slot_is_reported_and_erased_again() -> None:
    """Every read of it raises the non-maskable interrupt of the STM32L4R5."""
    own = kit("nucleo-l4r5zi")
    layout = own.bootloader.layout
    old, new = own.release(0, SIZE, 3), own.release(1, SIZE, 4)
    flash = provisioned(own, [old, own.release(1, SIZE, 2)])
    torn = range(layout.manifest(1), layout.manifest(1) + layout.slot_bytes, 8)
    device = Device(own, flash, torn=torn)
    assert device.run().started == 0
    assert device.torn == list(torn)
    device = Device(own, device.flash, torn=device.torn, requested=True)
    run = device.run(new)
    assert (run.answers, run.started, device.torn) == ([ACCEPTED], 1, [])


def test_a_damaged_bootloader_does_not_run() -> None:
    own = kit("nucleo-l4r5zi")
    start = own.bootloader.layout.start
    device = Device(own, provisioned(own, [own.release(0, SIZE, 3)]), torn=[start + 0x1000])
    with pytest.raises(FaultError, match="programming or erasing was cut short"):
        device.run()


def test_a_layout_fits_to_the_last_page() -> None:
    board = boards.load_board("stm32vldiscovery")
    needs = Needs(identity_bytes=96, envelope_bytes=300, image_bytes=50 * 1024)
    layout = arrange(board, 16 * 1024, needs)
    assert layout.identity == layout.start + 16 * 1024
    with pytest.raises(UnsatisfiedError, match="flash is short by 1,024 bytes of 131,072"):
        arrange(board, 23 * 1024 + 1, needs)
    arrange(board, 23 * 1024, needs)


def test_the_command_prices_an_update(tmp_path: Path) -> None:
    asked = ["--board", "openmote-cc2538", "--image", "2K", "--signature", "ecdsa-p256"]
    store = f"{tmp_path}/store.db"
    done = joulemark("update", *asked, "--store", store, "--format", "json")
    (row,) = json.loads(done.stdout)
    assert (row["board"], row["signature"]) == ("openmote-cc2538", "ecdsa-p256")
    # A manifest fills two frames of 116 bytes and more, the image 18.
    assert row["frames"] == -(-row["manifest B"] // 116) + 18
    assert row["on air B"] == 2048 + row["manifest B"] + 17 * row["frames"]
    assert (row["received by"], row["does not fit"]) == ("radio", None)
    assert "changes of flash inferred" in row["errors"]
    assert (row["image B"], row["updates a year"], row["supply V"]) == (2048, 12, 3)
    (flat,) = csv.DictReader(
        joulemark("update", *asked, "--store", store, "--format", "csv").stdout.splitlines()
    )
    assert {name: flat[name] for name in ("signature", "frames")} == {
        "signature": "ecdsa-p256",
        "frames": str(row["frames"]),
    }
    again = joulemark("update", *asked, "--store", store, "--format", "json")
    assert again.stdout == done.stdout
    report = tmp_path / "report.html"
    joulemark("report", "--store", store, "--out", str(report))
    tables = re.findall(r"<section id=\"table-.*?</section>", report.read_text(), re.DOTALL)
    assert len(tables) == 2
    for shown in tables:
        assert re.search(r'<p class="small">errors, openmote-cc2538: time .*; energy: ', shown)


def test_nothing_that_fits_is_told_signature_by_signature(tmp_path: Path) -> None:
    asked = ["--board", "stm32vldiscovery", "--signature", "lms", "--signature", "ecdsa-p256"]
    done = joulemark("update", *asked, "--store", f"{tmp_path}/store.db", code=13)
    assert done.stdout.count("does not fit: two images of 65,536 bytes on stm32vldiscovery") == 2
    assert "none of 2 signatures fits an image of 65,536 bytes; give a smaller" in done.stderr


@pytest.mark.parametrize("name", ["lms", "lms-192", "xmss"])
def test_chains_are_followed_as_far_as_a_signature_says(name: str) -> None:
    """The digits count the steps that signing takes; verifying takes the rest of each chain."""
    chains = signature(name).chains
    assert chains is not None
    digest = random.Random(1).randbytes(chains.digest_bytes)
    if name == "xmss":
        digits = xmss.digits(digest)
    else:
        _, _, count, w, shift = pyhsslms.lmots_params[
            (4 if name == "lms" else 8).to_bytes(4, "big")
        ]
        whole = digest + pyhsslms.checksum(digest, w, shift)
        digits = [pyhsslms.coef(whole, i, w) for i in range(count)]
    most = (1 << chains.w) - 1
    assert chains.steps(digest) == sum(most - digit for digit in digits)
    low, high = signature(name).spread or (1, 1)
    assert 0.75 < low < 0.9
    assert 1.1 < high < 1.25


@pytest.mark.parametrize("board", ["telosb", "sensortag-cc2650", "nrf52840-dk"])
def test_what_comes_over_the_air_is_right(board: str) -> None:
    count, header = 300, 30
    found = air.received(board, count, header)
    assert found.frames == -(-count // (116 - header))
    assert found.air_bytes == count + found.frames * (17 + header)
    # Bytes at 250 kbit/s, and for each frame backoff, turnarounds and an acknowledgement.
    least_ps = found.air_bytes * 32_000_000
    assert least_ps < found.time_ps < least_ps + found.frames * 5_000_000_000


@pytest.mark.slow
def test_the_guide_shows_what_the_command_prints(tmp_path: Path) -> None:
    text = GUIDE.read_text()
    (command,) = re.findall(r"```console\n\$ joulemark (.*?)\n```", text)
    (shown,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    done = joulemark(*command.split(), "--store", f"{tmp_path}/store.db")
    assert done.stdout.strip() == shown.strip()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            "--board raspberry-pi-pico-2",
            3,
            "does not write the flash of the rp2350; there is for launchxl-cc26x2r1",
        ),
        ("--board nrf52840-dk --image 64Q", 3, "--image: '64Q' is no size"),
        ("--board nrf52840-dk --image 1", 3, "1 is not from 256 bytes to 16M"),
        ("--board nrf52840-dk --signature rsa", 3, "no such signature; there are ecdsa-p256"),
        ("--board nrf52840-dk --signature lms --implementation x", 3, "there are armv7m, ref"),
        ("--board nrf52840-dk --implementation armv7m", 3, "--implementation: is of one signature"),
        ("--board stm32vldiscovery --frame-header 4", 3, "stm32vldiscovery has no radio"),
        ("--board telosb --signature lms", 13, "flash is short by 31,744 bytes of 49,152"),
        ("--board telosb --signature slh-dsa-128s", 13, "no implementation of slh-dsa-128s runs"),
        ("--board stm32vldiscovery --signature lms", 13, "flash is short by 16,384 bytes of"),
        (
            "--board stm32vldiscovery --image 2K --signature ml-dsa-65 --implementation armv7m",
            13,
            "RAM is short by",
        ),
    ],
)
def test_what_is_wrong_is_told(arguments: str, code: int, said: str, tmp_path: Path) -> None:
    store = ["--store", f"{tmp_path}/store.db"]
    done = joulemark("update", *arguments.split(), *store, code=code)
    assert said in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ecdsa-p256+lms", "ecdsa-p256+ml-dsa-44"])
def test_both_of_two_signatures_have_to_be_valid(name: str) -> None:
    trials = Trials(kit("nrf52840-dk", name), SIZE)
    new = trials.new
    alone = envelope_of(trials, signature("ecdsa-p256"))
    for changed in (
        alone,
        # The first signature's first byte is 64 from its end, which the second one follows.
        _with_bit(new.envelope, new.envelope.index(b"\x58\x40") + 2),
        _with_bit(new.envelope, len(new.envelope) - 200),
    ):
        trials.refused(replace(new, envelope=changed))
    run = Device(trials.kit, provisioned(trials.kit, [trials.old]), requested=True).run(new)
    assert (run.answers, run.started) == ([ACCEPTED], 1)


def envelope_of(trials: Trials, chosen: Signature) -> bytes:
    """Return the update's manifest with other signatures."""
    new = trials.new
    board = trials.kit.board.name
    manifest = Manifest(board=board, slot=new.slot, sequence=new.sequence, image=new.image)
    return envelope(manifest, chosen, 0)


def _with_bit(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
