"""Where a bootloader, its keys, its counter and two slots lie in a chip's flash."""

from dataclasses import dataclass, replace

from joulemark._engine import Image
from joulemark.catalogue import boards, chips
from joulemark.catalogue.boards import Board
from joulemark.catalogue.primitives import Implementation, library
from joulemark.errors import InputError, UnsatisfiedError
from joulemark.images import BuiltImage, memory
from joulemark.images.families import armv7m, msp430
from joulemark.images.program import build_program
from joulemark.images.sources import Sources
from joulemark.subjects.update.signatures import Signature

PROGRAM = "update/bootloader"
SLOTS = 2
SMALL_RAM_BYTES = 16 * 1024
UUIDS_BYTES = 32
"""Vendor and class before the public key."""


OUTSIDE = 1 << 32
"""Added to addresses in a serial flash, to tell them from the chip's."""
SERIAL_FLASH = "ST M25P80"
"""How the title begins of a serial flash that the firmware keeps slots in."""
_SECTOR_BYTES, _SECTORS, _BLOCK_BYTES = 64 * 1024, 16, 256
"""Of the M25P80: what is erased at once (its data sheet, features), and a page."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Addresses, each at the start of a page."""

    page: int
    start: int
    boot_bytes: int
    """Room of the bootloader."""
    identity: int
    counter: int
    counter_page: int
    slots: int
    """Where they begin; in a serial flash, from OUTSIDE on."""
    slot_bytes: int
    slot_page: int
    manifest_bytes: int
    """Room of the manifest, at the start of a slot."""
    image_bytes: int
    """Room of the image."""
    run: int | None = None
    """Where images run, if not in their slots."""

    def manifest(self, slot: int) -> int:
        """Return the address of a slot's manifest."""
        return self.slots + slot * self.slot_bytes

    def image(self, slot: int) -> int:
        """Return the address of a slot's image."""
        return self.manifest(slot) + self.manifest_bytes

    def runs(self, slot: int) -> int:
        """Return the address where a slot's image runs."""
        return self.image(slot) if self.run is None else self.run

    @property
    def end(self) -> int:
        """The address after the last slot."""
        return self.slots + SLOTS * self.slot_bytes

    @property
    def kept(self) -> list[tuple[int, int]]:
        """Addresses and sizes of what is kept beside the bootloader."""
        if self.run is None:
            return [(self.identity, self.end - self.identity)]
        inside = self.run + self.image_bytes - self.identity
        counter = (self.counter, 2 * self.counter_page)
        return [counter, (self.identity, inside), (self.slots, SLOTS * self.slot_bytes)]


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What has to be in flash besides the bootloader."""

    identity_bytes: int
    envelope_bytes: int
    image_bytes: int


@dataclass(frozen=True, kw_only=True)
class Bootloader:
    """A bootloader that was built for its layout."""

    built: BuiltImage
    image: Image
    layout: Layout
    used_bytes: int
    """Flash from its vectors to its last byte."""
    code_bytes: int
    """Code and constants, without vectors and without the image's description."""
    ram_bytes: int
    """Variables, without its stack."""


def _up(size: int, page: int) -> int:
    return -(-size // page) * page


def _page_bytes(board: Board) -> int:
    """Return the bytes of a flash page; 0 if the bootloader does not run on the board."""
    chip = chips.load_chip(board.chip)
    if chip.core == "msp430":
        return msp430.segment_bytes(chip) if serial_flash(board) is not None else 0
    return armv7m.flash_page_bytes(chip) if chip.core == "armv7m" else 0


def serial_flash(board: Board) -> str | None:
    """Return the name of a board's serial flash that slots are kept in."""
    found = board.wiring.devices.items()
    return next((name for name, title in found if title.startswith(SERIAL_FLASH)), None)


def check_board(board: Board) -> int:
    """Return the bytes of a flash page.

    Raises:
        InputError: the bootloader does not run on the board.
    """
    page = _page_bytes(board)
    if page == 0:
        what = f"no bootloader for it: the firmware does not write the flash of the {board.chip}"
        able = [name for name in boards.names() if _page_bytes(boards.load_board(name))]
        raise InputError(what, f"--board {board.name}", f"there is for {', '.join(able)}")
    return page


def arrange(board: Board, boot_bytes: int, needs: Needs) -> Layout:
    """Return a layout with this room for the bootloader.

    Raises:
        UnsatisfiedError: flash is too small.
    """
    chip = chips.load_chip(board.chip)
    return (_apart if chip.core == "msp430" else _mapped)(board, boot_bytes, needs)


def _mapped(board: Board, boot_bytes: int, needs: Needs) -> Layout:
    """Return a layout with the slots in the chip's flash."""
    page = check_board(board)
    chip = chips.load_chip(board.chip)
    first = chip.vectors["RESET"] - 4
    flash = next(m for m in chip.memories if m.kind == "flash" and m.start == first)
    manifest = _up(needs.envelope_bytes, page)
    identity = flash.start + _up(boot_bytes, page)
    counter = identity + _up(needs.identity_bytes, page)
    layout = Layout(
        page=page,
        start=flash.start,
        boot_bytes=_up(boot_bytes, page),
        identity=identity,
        counter=counter,
        counter_page=page,
        slots=counter + 2 * page,
        slot_bytes=manifest + _up(needs.image_bytes, page),
        slot_page=page,
        manifest_bytes=manifest,
        image_bytes=_up(needs.image_bytes, page),
    )
    # The last page holds the configuration of the boot ROM, where there is one.
    room = flash.start + flash.size - (page if armv7m.has_boot_configuration(chip) else 0)
    if layout.end > room:
        what = f"flash is short by {layout.end - room:,} bytes of {flash.size:,}"
        raise UnsatisfiedError(what, f"two images of {needs.image_bytes:,} bytes on {board.name}")
    return layout


def _apart(board: Board, boot_bytes: int, needs: Needs) -> Layout:
    """Return a layout with the slots in a serial flash, and the counter in information memory.

    The last segment of the chip's flash holds the bootloader's vectors, and is never erased.
    """
    page = check_board(board)
    chip = chips.load_chip(board.chip)
    last = min(chip.vectors.values())
    banks = [m for m in chip.memories if m.kind == "flash"]
    flash = next(m for m in banks if m.start <= last < m.start + m.size)
    information = next(m for m in banks if m is not flash)
    identity = flash.start + _up(boot_bytes, page)
    run = identity + _up(needs.identity_bytes, page)
    image = _up(needs.image_bytes, page)
    short = run + image - (flash.start + flash.size - page)
    if short > 0:
        what = f"flash is short by {short:,} bytes of {flash.size:,}"
        raise UnsatisfiedError(what, f"an image of {needs.image_bytes:,} bytes on {board.name}")
    manifest = _up(needs.envelope_bytes, _BLOCK_BYTES)
    slot = _up(manifest + image, _SECTOR_BYTES)
    if SLOTS * slot > _SECTORS * _SECTOR_BYTES:
        what = f"the serial flash is short by {SLOTS * slot - _SECTORS * _SECTOR_BYTES:,} bytes"
        raise UnsatisfiedError(what, f"two images of {needs.image_bytes:,} bytes on {board.name}")
    return Layout(
        page=page,
        start=flash.start,
        boot_bytes=_up(boot_bytes, page),
        identity=identity,
        counter=information.start,
        counter_page=information.size // 2,
        slots=OUTSIDE,
        slot_bytes=slot,
        slot_page=_SECTOR_BYTES,
        manifest_bytes=manifest,
        image_bytes=image,
        run=run,
    )


def implementations(board: Board, signature: Signature) -> list[Implementation]:
    """Return what verifies a signature on a board without an accelerator, the preferred first.

    What is written for the board's own instruction set comes before what is portable. With little
    RAM, what saves memory comes first, otherwise last.
    """
    algorithm = library()[signature.algorithm]
    every = library().implementations(algorithm)
    able = [way for way in every if way.is_main and way.runs_on(board.instruction_set)]
    memories = chips.load_chip(board.chip).memories
    is_small = max(m.size for m in memories if m.kind == "ram") < SMALL_RAM_BYTES

    def order(way: Implementation) -> tuple[int, ...]:
        names = [part.name for part in way.parts]
        own = [board.instruction_set, "armv7m"]
        ranks = [own.index(name) if name in own else len(own) for name in names]
        return (any(name.endswith("-lean") for name in names) != is_small, *ranks)

    return sorted(able, key=order)


Ways = tuple[Implementation, ...]
"""An implementation of each signature."""


def by_name(board: Board, signature: Signature) -> dict[str, Ways]:
    """Return what verifies an update on a board, the preferred first.

    Where two signatures have to be valid, an implementation of the first one is given with the
    preferred one of the second.
    """
    second = () if signature.second is None else implementations(board, signature.second)[:1]
    return {
        "+".join([way.name, *(one.name for one in second)]): (way, *second)
        for way in implementations(board, signature)
    }


def build(
    board: Board,
    signature: Signature,
    ways: Ways,
    needs: Needs,
    *,
    compiler: str,
    optimisation: str,
) -> Bootloader:
    """Build a bootloader whose room is as small as it can be.

    Raises:
        BuildError: it does not compile.
        UnsatisfiedError: flash is too small.
    """
    sources = Sources()

    def built(layout: Layout) -> tuple[BuiltImage, Image, int]:
        image = build_program(
            PROGRAM,
            board,
            also=parts(board, ways),
            wiring={
                "slots": "update/slots/mapped" if layout.run is None else "update/slots/m25p80",
                "verify": f"update/verify/{signature.part}",
            },
            define={
                **{name: int(value) for way in ways for name, value in way.defines.items()},
                **signature.define,
                **({} if signature.second is None else signature.second.define),
                **_defines(layout, signature),
            },
            compiler=compiler,
            optimisation=optimisation,
            sources=sources,
        )
        loaded = Image.load(image.path)
        end = loaded.resolve("data_load") + loaded.resolve("data_bytes")
        return image, loaded, end - layout.start

    # Addresses are constants in its code, so its size is known only once it is built for a layout.
    try:
        layout = arrange(board, signature.room_bytes, needs)
    except UnsatisfiedError:
        # It may be smaller than expected.
        layout = arrange(board, signature.room_bytes, replace(needs, image_bytes=1))
    tried: list[Layout] = []
    while True:
        image, loaded, used = built(layout)
        fitting = arrange(board, used, needs)
        has_room = used <= layout.boot_bytes and layout.slot_bytes == fitting.slot_bytes
        # Of two layouts that lead to each other, the one with room.
        if fitting == layout or (has_room and fitting in tried):
            break
        tried.append(layout)
        layout = fitting
    total = memory.total(image)
    return Bootloader(
        built=image,
        image=loaded,
        layout=layout,
        used_bytes=used,
        code_bytes=total.flash_bytes,
        ram_bytes=total.ram_bytes,
    )


def parts(board: Board, ways: Ways) -> tuple[str, ...]:
    """Return the firmware parts of implementations, with a SHA-256 for the image."""
    names = [
        f"primitives/{p.primitive.kind}/{p.primitive.name}/{p.name}" for w in ways for p in w.parts
    ]
    hashed = "primitives/hash/sha-256/"
    if not any(name.startswith(hashed) for name in names):
        names.append(hashed + chips.load_chip(board.chip).core)
    return tuple(dict.fromkeys(names))


def _defines(layout: Layout, signature: Signature) -> dict[str, int]:
    return {
        "UPDATE_ALGORITHM": signature.cose,
        "UPDATE_SECOND_ALGORITHM": 0 if signature.second is None else signature.second.cose,
        "UPDATE_IDENTITY": layout.identity,
        "UPDATE_COUNTER": layout.counter,
        "UPDATE_COUNTER_PAGE_BYTES": layout.counter_page,
        "UPDATE_SLOTS": layout.slots % OUTSIDE,
        "UPDATE_SLOT_BYTES": layout.slot_bytes,
        "UPDATE_SLOT_PAGE_BYTES": layout.slot_page,
        "UPDATE_MANIFEST_BYTES": layout.manifest_bytes,
        "UPDATE_IMAGE_BYTES": layout.image_bytes,
        "UPDATE_RUN": layout.run or 0,
        "UPDATE_RUN_PAGE_BYTES": layout.page,
    }
