"""Build the images of a campaign."""

from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from joulemark.campaign.job import Firmware
from joulemark.catalogue.primitives import Implementation, library
from joulemark.errors import BuildError
from joulemark.images import (
    BuiltImage,
    Known,
    Sources,
    build_image,
    build_local,
    key_of,
    known_images,
    toolchain,
)
from joulemark.images.toolchain import Need
from joulemark.interrupts import as_completed

Made = BuiltImage | BuildError
"""An image, or the error of the compiler or linker."""


class Builder(Protocol):
    """Builds images."""

    def needs(self, wanted: Collection[Firmware]) -> Iterable[Need]:
        """Yield checks for the tools that are needed on this machine to build images.

        Args:
            wanted: identities of the images.
        """

    def build(
        self, wanted: Collection[Firmware], built: Callable[[], None]
    ) -> dict[Firmware, Made]:
        """Build images.

        Args:
            wanted: identities of the images.
            built: called after each image.

        Raises:
            ToolError: a compiler is missing.
        """


class Threads:
    """Builds images on this machine; threads suffice because compilers are separate processes.

    Args:
        count: number of compilers that run at a time.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def needs(self, wanted: Collection[Firmware]) -> Iterator[Need]:
        """Yield checks for compilers and linkers: see `Builder`."""
        built_by = {
            (firmware.build.compiler, "host" if firmware.board is None else firmware.board.core)
            for firmware in wanted
        }
        for compiler, family in sorted(built_by):
            yield from toolchain.needs(compiler, family)

    def build(
        self, wanted: Collection[Firmware], built: Callable[[], None]
    ) -> dict[Firmware, Made]:
        """Build images: see `Builder`."""
        result: dict[Firmware, Made] = {}
        sources = Sources()
        with known_images() as known:
            pool = ThreadPoolExecutor(self.count)
            try:
                futures = {pool.submit(image_of, f, sources, known): f for f in self._order(wanted)}
                for future in as_completed(futures):
                    result[futures[future]] = future.result()
                    built()
            finally:
                pool.shutdown(cancel_futures=True)
        return result

    def _order(self, wanted: Collection[Firmware]) -> list[Firmware]:
        """Start the threads far apart: neighbours share sources and would wait for each other."""
        some = list(wanted)
        length = -(-len(some) // self.count)
        return [some[i] for first in range(length) for i in range(first, len(some), length)]


def image_of(firmware: Firmware, sources: Sources, known: Known | None = None) -> Made:
    """Build an image, unless it is known already.

    Args:
        firmware: the image's identity.
        sources: sources shared by the images that are built together.
        known: images known for the current state of the tree.

    Raises:
        ToolError: a compiler is missing.
    """
    algorithm = library()[firmware.primitive]
    way = library().implementation(algorithm, firmware.implementation)
    compiler, optimisation = firmware.build.compiler, firmware.build.optimisation
    try:
        if firmware.board is None:
            return build_local(way, compiler=compiler, optimisation=optimisation)
        names = (firmware.primitive, firmware.implementation, optimisation, firmware.build.variant)
        key = key_of(firmware.board, firmware.clock, compiler, *names)
        image = known.get(key) if known is not None and way.is_shipped else None
        if image is None:
            image = build_image(
                way,
                firmware.board,
                clock=firmware.clock,
                compiler=compiler,
                optimisation=optimisation,
                offset_bytes=firmware.build.offset_bytes,
                sources=sources,
            )
            if known is not None and way.is_shipped:
                known.put(key, image)
    except BuildError as error:
        return _with_a_hint(error, way, firmware)
    return image


def _with_a_hint(error: BuildError, way: Implementation, firmware: Firmware) -> BuildError:
    """Add to a failure of somebody's own assembly what it is most likely to be."""
    has_assembly = any(s.suffix in (".S", ".s") for part in way.parts for s in part.sources)
    if way.is_shipped or not has_assembly or firmware.board is None:
        return error
    mend = f"its assembly may be for another core than {firmware.board_name}'s, or another compiler"
    return BuildError(error.what, error.where, f"{mend}; {error.mend}" if error.mend else mend)
