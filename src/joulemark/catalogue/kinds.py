"""Which operations each kind of primitive has, what they take and what they must give.

The firmware's side of the same contract is docs/image-protocol.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from joulemark.errors import InputError
from joulemark.oracle import Inputs, Output


class Slot(IntEnum):
    """The image's buffers (docs/image-protocol.md, "Slots")."""

    KEY = 0
    NONCE = 1
    AD = 2
    MESSAGE = 3
    TAG = 4
    OUTPUT = 5


@dataclass(frozen=True)
class Operation:
    """One measurable operation of a kind.

    Args:
        sized: its cost depends on the message's length; otherwise it is measured once.
        with_ad: it takes associated data.
        inverse: it undoes the primitive, so it is given what the oracle made.
    """

    name: str
    sized: bool = True
    with_ad: bool = False
    inverse: bool = False


_INIT = Operation("init", sized=False)
_ENCRYPT = Operation("encrypt")
_DECRYPT = Operation("decrypt", inverse=True)
_UPDATE = Operation("update")
_FINAL = Operation("final")

OPERATIONS: Mapping[str, tuple[Operation, ...]] = {
    "identity": (Operation("nothing", sized=False),),
    "block-cipher": (_INIT, _ENCRYPT, _DECRYPT),
    "stream-cipher": (_INIT, _ENCRYPT),
    "hash": (_INIT, _UPDATE, _FINAL, Operation("hash")),
    "mac": (_INIT, _UPDATE, _FINAL, Operation("mac")),
    "mode": (_INIT, _ENCRYPT, _DECRYPT),
    "aead": (
        _INIT,
        Operation("encrypt", with_ad=True),
        Operation("decrypt", with_ad=True, inverse=True),
    ),
}

MAIN_OPERATION: Mapping[str, str] = {
    "block-cipher": "encrypt",
    "stream-cipher": "encrypt",
    "hash": "hash",
    "mac": "mac",
    "mode": "encrypt",
    "aead": "encrypt",
}
"""What is shown of a kind until its reader chooses another operation."""


@dataclass(frozen=True)
class Exchange:
    """What to write into an image before an operation, and what must be there afterwards."""

    inputs: Mapping[Slot, bytes]
    expected: Mapping[Slot, bytes]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Lengths of an operation's inputs, in bytes."""

    key: int = 0
    nonce: int = 0
    ad: int = 0
    message: int = 0
    tag: int = 0

    @classmethod
    def of(cls, sizes: Mapping[str, int], *, message: int, ad: int = 0) -> "Sizes":
        """The usual lengths of a primitive with these sizes (docs/adding-a-primitive.md)."""
        return cls(
            key=sizes.get("key_bytes", 0),
            nonce=sizes.get("nonce_bytes", 0) or sizes.get("iv_bytes", 0),
            ad=ad,
            message=message,
            tag=sizes.get("tag_bytes", 0),
        )


def operation(kind: str, name: str) -> Operation:
    """The operation of a kind by its name.

    Raises:
        InputError: it has none of that name.
    """
    for known in OPERATIONS[kind]:
        if known.name == name:
            return known
    mend = f"there are {', '.join(o.name for o in OPERATIONS[kind])}"
    raise InputError(f"a {kind} has no operation {name}", mend=mend)


def exchange(
    kind: str,
    name: str,
    *,
    sizes: Sizes,
    forward: Callable[[Inputs], Output],
    secret: Callable[[int], bytes],
    public: Callable[[int], bytes],
) -> Exchange:
    """Draw inputs for an operation and ask the oracle what must come out.

    Args:
        kind: of the primitive.
        name: of the operation.
        sizes: lengths of the inputs.
        forward: the oracle.
        secret: random bytes that are new in each trial (key, message).
        public: random bytes that stay the same over the trials (nonce, associated data), so
            that a difference between trials is due to secrets.
    """
    if kind == "identity":
        return Exchange({}, {Slot.OUTPUT: b""})
    inputs = Inputs(
        key=secret(sizes.key),
        nonce=public(sizes.nonce),
        ad=public(sizes.ad),
        message=secret(sizes.message),
        tag_bytes=sizes.tag,
    )
    output = forward(inputs)
    write = {Slot.MESSAGE: inputs.message}
    if kind != "hash":
        write[Slot.KEY] = inputs.key
    if kind in {"stream-cipher", "mode", "aead"}:
        write[Slot.NONCE] = inputs.nonce
    if kind == "aead":
        write[Slot.AD] = inputs.ad
    if kind in {"mac", "aead"}:
        write[Slot.TAG] = bytes(sizes.tag)
    if operation(kind, name).inverse:
        write[Slot.MESSAGE] = output.data
        if kind == "aead":
            write[Slot.TAG] = output.tag
        return Exchange(write, {Slot.OUTPUT: inputs.message})
    expected = {} if kind == "mac" else {Slot.OUTPUT: output.data}
    if kind in {"mac", "aead"}:
        expected[Slot.TAG] = output.tag
    return Exchange(write, expected)
