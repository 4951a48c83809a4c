"""Builds the images of a campaign."""

from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from joulemark.campaign.job import Firmware
from joulemark.catalogue.primitives import library
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
"""An image, or what the compiler or linker said instead."""


class Builder(Protocol):
    """Builds images."""

    def needs(self, wanted: Collection[Firmware]) -> Iterable[Need]:
        """What finds each tool of this machine that it takes to build images.

        Args:
            wanted: whose.
        """

    def build(
        self, wanted: Collection[Firmware], built: Callable[[], None]
    ) -> dict[Firmware, Made]:
        """Build images.

        Args:
            wanted: whose.
            built: called after each.

        Raises:
            ToolError: a compiler is missing.
        """


class Threads:
    """Builds on this machine; the compilers are the processes.

    Args:
        count: how many compilers at a time.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def needs(self, wanted: Collection[Firmware]) -> Iterator[Need]:
        """Compilers and linkers, as `Builder` says."""
        built_by = {
            (firmware.build.compiler, "host" if firmware.board is None else firmware.board.core)
            for firmware in wanted
        }
        for compiler, family in sorted(built_by):
            yield from toolchain.needs(compiler, family)

    def build(
        self, wanted: Collection[Firmware], built: Callable[[], None]
    ) -> dict[Firmware, Made]:
        """Build images, as `Builder` says."""
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
        """The threads' places lie far apart: neighbours have sources in common, and would wait."""
        some = list(wanted)
        length = -(-len(some) // self.count)
        return [some[i] for first in range(length) for i in range(first, len(some), length)]


def image_of(firmware: Firmware, sources: Sources, known: Known | None = None) -> Made:
    """Build an image, where it is not there already.

    Args:
        firmware: what decides it.
        sources: of the images that are built with it.
        known: images of the tree as it is.

    Raises:
        ToolError: a compiler is missing.
    """
    algorithm = library()[firmware.primitive]
    way = library().implementation(algorithm, firmware.implementation)
    compiler, optimisation = firmware.build.compiler, firmware.build.optimisation
    try:
        if firmware.board is None:
            return build_local(way, compiler=compiler, optimisation=optimisation)
        names = (firmware.primitive, firmware.implementation, optimisation)
        key = key_of(firmware.board, firmware.clock, compiler, *names)
        image = known.get(key) if known is not None and way.is_shipped else None
        if image is None:
            image = build_image(
                way,
                firmware.board,
                clock=firmware.clock,
                compiler=compiler,
                optimisation=optimisation,
                sources=sources,
            )
            if known is not None and way.is_shipped:
                known.put(key, image)
    except BuildError as error:
        return error
    return image
