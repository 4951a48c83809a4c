"""What `leaks` refuses, whether it follows secrets or models power."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from joulemark.errors import InputError, JoulemarkError, VerificationError
from joulemark.words import counted

_OF_PROGRAM = {
    "--primitive": ("is measured instead of a program", "give one of them"),
    "--implementation": ("is a primitive's, and a program was given", "leave it out"),
    "--operation": ("is a primitive's, and a program was given", "name a function with --call"),
    "--compiler": ("a program is not built again", "leave it out"),
    "--opt": ("a program is not built again", "leave it out"),
    "--branches": ("compares trials, and a program is only followed", "leave it out"),
    "--cover": ("a program is followed as it is called", "leave it out"),
    "--no-follow": ("a program is only followed, and there are no trials", "leave it out"),
}
"""Options that a program does without: why, and what to do."""


MOST_SECRETS = 64
"""A bit of where a secret comes from for each."""
_MOST_BYTES = 1 << 32


def refuse_with_program(image: Path, given: Mapping[str, object]) -> None:
    """Refuse a program that is not there, and options of primitives beside it."""
    if not image.exists():
        raise InputError("no such file", str(image), "a primitive goes with --primitive")
    for name, value in given.items():
        if value:
            what, mend = _OF_PROGRAM[name]
            raise InputError(what, name, mend)


def refuse_failed(failed: Sequence[JoulemarkError], claims: str = "") -> None:
    """Say what failed while other builds and operations have results.

    Args:
        failed: one error of each.
        claims: what else is wrong.

    Raises:
        VerificationError: something failed.
    """
    if failed:
        lines = [f"{counted(len(failed), 'case')} failed, without a result:"]
        lines += [f"  {error}" for error in failed]
        raise VerificationError("\n".join([*lines, *([claims] if claims else [])]))


def named_bytes(text: str, option: str = "--secret") -> tuple[str, int]:
    """Return a symbol or an address, and a number of bytes."""
    name, colon, length = text.rpartition(":")
    if not colon or not length.isdecimal() or int(length) == 0:
        what = f"{text!r} names no bytes" if option != "--secret" else f"{text!r} is no secret"
        mend = "write SYMBOL:BYTES, or ADDRESS:BYTES for a part of one; BYTES in decimal"
        raise InputError(what, option, mend)
    if int(length) > _MOST_BYTES:
        what = f"{text!r} is of {int(length):,} bytes, more than there are addresses"
        raise InputError(what, option, "give how many bytes are secret")
    return name, int(length)
