"""Measures cases on this machine, with an instrument."""

import hashlib

from joulemark.campaign.versions import engine_version, host, processor
from joulemark.measure.metered import Metered
from joulemark.records.record import Provenance, Quantity
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device


class Local(Metered):
    """One image as a program on this machine."""

    def _open_line(self) -> LocalLink:
        return LocalLink(self.image.path)

    def _check(self, device: Device) -> None:
        self.check_identity(device.description, str(self.image.path), None)

    def _place(self) -> Provenance:
        return Provenance(
            seed=self.job.seed,
            host=host(),
            # Its clock goes up and down as it likes.
            clock_hz=0,
            chip=processor(),
            project_commit=self.job.project_commit,
            engine_version=engine_version(),
        )

    def _image_digest(self) -> str:
        return hashlib.sha256(self.image.path.read_bytes()).hexdigest()

    @property
    def _clock_bound(self) -> float:
        return 0.0

    def _cycles(self, times_s: list[float]) -> list[Quantity]:
        return []

    def _memory(self) -> list[Quantity]:
        return []

    def _idle_note(self, idle_a: list[float]) -> str:
        return "net of what was counted or recorded while this machine waited"
