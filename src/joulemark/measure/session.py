"""Common to every way to measure: exchange, verify, record."""

import dataclasses
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache

from joulemark._engine import Chip, EngineError, Image
from joulemark.campaign.case import Case
from joulemark.campaign.job import Job, Point
from joulemark.catalogue import chips
from joulemark.catalogue.boards import Board, Clock
from joulemark.catalogue.kinds import Exchange
from joulemark.catalogue.primitives import library
from joulemark.closes import Closes
from joulemark.errors import BuildError, InputError, JoulemarkError, VerificationError
from joulemark.images import BuiltImage, memory
from joulemark.measure.recorded import Outcome, on_board, recorded
from joulemark.oracle import Inputs, Output
from joulemark.records.record import Provenance, Quantity, Record
from joulemark.runners.protocol import Device
from joulemark.subjects.primitive import PrimitiveSubject

LAYOUT = "supercop-"
"""How implementations in SUPERCOP's layout are named: see `layouts`."""
TIMER_OVERFLOW = 0xFFFFFFFF
"""An image's answer when its timer could not hold the window (docs/image-protocol.md)."""
_PROBE_BYTES = 16
"""Length of the message that shows whether an init was right."""


@lru_cache(maxsize=4096)
def _forward(algorithm: str, inputs: Inputs, *, to_verify: bool) -> Output:
    """Return the oracle's answer; cached across implementations, because some oracles are slow."""
    return library()[algorithm].oracle(inputs, to_verify=to_verify)


class Session(Closes, ABC):
    """One image on its runner, and what all of its records share."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.algorithm = library()[job.firmware.primitive]

    def records(self) -> Iterator[Record[PrimitiveSubject]]:
        """Measure all cases of the image; a failed case gives a failed record."""
        for point in self.job.points:
            yield self.record(point)

    def record(self, point: Point) -> Record[PrimitiveSubject]:
        """Measure one case."""
        provenance = self._place
        outcome: Outcome | str
        try:
            provenance = self._provenance
            outcome = self._measure(point.case, point.trials)
        except (JoulemarkError, EngineError) as error:
            self._recover()
            outcome = str(error)
        return recorded(point.key, primitive(point.case), point.case, provenance, outcome)

    @abstractmethod
    def _measure(self, case: Case, trials: int) -> Outcome:
        """Measure one case, verifying the output of each execution.

        Raises:
            JoulemarkError: the case has no result.
        """

    def _recover(self) -> None:
        """Restore a usable state after a failed case."""

    @cached_property
    def _provenance(self) -> Provenance:
        """The circumstances of all cases of the image."""
        return dataclasses.replace(
            self._place,
            compiler_version=self.image.compiler,
            flags=self.image.flags,
            build_id=self.image.build_id,
            image_digest=self._image_digest(),
        )

    @cached_property
    @abstractmethod
    def _place(self) -> Provenance:
        """The circumstances, before anything is known of the image."""

    @abstractmethod
    def _image_digest(self) -> str:
        """Return the digest of what is executed."""

    @property
    def image(self) -> BuiltImage:
        """The image.

        Raises:
            BuildError: the compiler did not make one.
        """
        if isinstance(self.job.image, BuildError):
            raise self.job.image
        return self.job.image

    def check_identity(self, description: Mapping[str, str], where: str, mend: str | None) -> None:
        """Compare what an image says of itself with what was built.

        Raises:
            VerificationError: it is another image.
        """
        for key, value in self.image.description.items():
            if description.get(key) != value:
                what = f"the image says {key} = {description.get(key)}, and should say {value}"
                raise VerificationError(what, where, mend)

    def exchange(self, case: Case, number: int) -> Exchange:
        """Return the inputs of one trial; all implementations of a primitive get the same ones.

        Raises:
            VerificationError: the oracle failed.
        """
        subject, sizes = primitive(case), self.algorithm.sizes
        contract = self.algorithm.contract
        sized = contract.operation(subject.operation).sized
        message = subject.message_bytes if sized else sizes.get("block_bytes", _PROBE_BYTES)
        cheaply = self.algorithm.is_made_to_verify([subject.operation])
        drawn = f"{self.job.seed}/{self.algorithm}/{message}/{subject.ad_bytes}"
        try:
            return contract.exchange(
                subject.operation,
                sizes={**sizes, "message": message, "ad": subject.ad_bytes},
                forward=lambda given: _forward(self.algorithm.name, given, to_verify=cheaply),
                secret=random.Random(f"{drawn}/{number}").randbytes,
                public=random.Random(drawn).randbytes,
            )
        except Exception as error:  # An oracle is anybody's code; its failure fails only this case.
            raise VerificationError(f"the oracle failed: {error!r}", str(case)) from error

    def verify(self, device: Device, put: Exchange, case: Case, number: int) -> None:
        """Compare a trial's outputs in the image with the oracle's.

        Raises:
            VerificationError: they differ.
        """
        for slot, expected in put.expected.items():
            got = device.read(slot, len(expected))
            if got != expected and self.job.firmware.implementation.startswith(LAYOUT):
                _refuse_error(got, str(case))
            if got != expected:
                raise VerificationError(
                    f"wrong {slot}: {_short(got)} instead of {_short(expected)} "
                    f"(trial {number}, seed {self.job.seed})",
                    str(case),
                )


class BoardSession(Session):
    """One image on a board, emulated or real."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        if job.firmware.board is None:
            raise InputError("these cases are for this machine, not for a board")
        self.board: Board = job.firmware.board
        self.chip: Chip = chips.load_chip(self.board.chip)
        self.clock: Clock = self.board.clock_profile(job.firmware.clock)

    @cached_property
    def program(self) -> Image:
        """The image as the engine loads it."""
        return Image.load(self.image.path)

    def _image_digest(self) -> str:
        return self.program.digest

    @cached_property
    def _place(self) -> Provenance:
        return on_board(self.board, self.job.firmware.clock, self.job.seed, self.job.project_commit)

    @cached_property
    def memory(self) -> list[Quantity]:
        """The primitive's share of the image."""
        made = memory.measure(self.image)
        return [
            Quantity("", name, "B", value, exact=True)
            for name, value in (
                ("flash", made.flash_bytes),
                ("ram", made.ram_bytes),
                ("flash_wiring", made.flash_wiring_bytes),
                ("ram_wiring", made.ram_wiring_bytes),
            )
        ]


def _refuse_error(got: bytes, where: str) -> None:
    """Tell an error that code in SUPERCOP's layout returned: it is in each byte (`supercop.h`).

    Raises:
        VerificationError: it returned one.
    """
    returned = int.from_bytes(got[:1], signed=True)
    if returned != 0 and len(got) > 1 and len(set(got)) == 1:
        raise VerificationError(f"its function returned {returned}, an error", where)


def primitive(case: Case) -> PrimitiveSubject:
    """Return the primitive's operation that a case prices.

    Raises:
        InputError: it prices something else.
    """
    if not isinstance(case.subject, PrimitiveSubject):
        raise InputError(f"a {case.subject.type} is not measured like a primitive", str(case))
    return case.subject


def _short(data: bytes) -> str:
    text = data.hex()
    return text if len(text) <= 64 else f"{text[:64]}... ({len(data)} bytes)"
