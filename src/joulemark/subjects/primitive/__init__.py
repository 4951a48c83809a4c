"""An operation of an implementation of a primitive."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

from joulemark.catalogue.kinds import main_operation
from joulemark.catalogue.primitives import library
from joulemark.subjects import About, Subject


@dataclass(frozen=True, kw_only=True)
class PrimitiveSubject(Subject):
    """An operation of a primitive on inputs of given sizes."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    kind: str
    primitive: str
    """Variant or composition: "aes-128", "aes-128-ctr"."""
    implementation: str
    operation: str
    message_bytes: int = 0
    ad_bytes: int = 0
    tag_bytes: int = 0

    def __str__(self) -> str:
        text = f"{self.primitive}/{self.implementation} {self.operation} {self.message_bytes} B"
        return f"{text} + {self.ad_bytes} B" if self.ad_bytes else text

    @property
    def main(self) -> bool:
        """Whether the operation is its kind's main operation."""
        return self.operation == main_operation(self.kind)

    def about(self) -> About:
        """Return the description from the primitive's files."""
        about = replace(_about(self.primitive, self.implementation), main=self.main)
        operation = library()[self.primitive].contract.operation(self.operation)
        return replace(about, secret_independent=None) if operation.public else about


@lru_cache(maxsize=4096)
def _about(primitive: str, name: str) -> About:
    algorithm = library()[primitive]
    return About(
        title=algorithm.primitive.file.title,
        group=algorithm.contract.title,
        baseline=algorithm.contract.file.baseline,
        status=algorithm.status,
        security_bits=algorithm.sizes.get("security_bits"),
        secret_independent=library().implementation(algorithm, name).secret_independent,
        one_time_key=algorithm.primitive.file.one_time_key,
    )
