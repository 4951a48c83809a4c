"""What an independent oracle of a primitive looks like; see docs/adding-a-primitive.md."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Inputs of one operation; a primitive ignores what it does not take."""

    key: bytes = b""
    nonce: bytes = b""
    ad: bytes = b""
    message: bytes = b""
    tag_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Output:
    """What the forward direction must give: ciphertext or digest, and tag."""

    data: bytes = b""
    tag: bytes = b""


Compute = Callable[[str, Inputs, "Compute | None"], Output]
