"""Errors: one message each, that says what, where and how to mend it.

Exit codes are stable and listed in docs/command-line.md.
"""

from typing import ClassVar


class JoulemarkError(Exception):
    """Base of every error that a user can mend.

    Args:
        what: what is wrong, as a sentence without a full stop.
        where: the file, key, option or address.
        mend: what to do about it.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, where: str | None = None, mend: str | None = None) -> None:
        super().__init__(what, where, mend)
        self.what = what
        self.where = where
        self.mend = mend

    def __str__(self) -> str:
        message = f"{self.where}: {self.what}" if self.where else self.what
        return f"{message}; {self.mend}" if self.mend else message


class InputError(JoulemarkError):
    """A file or a value that a user gave is wrong: campaign, board, chip, image, option."""

    exit_code = 3


class ToolError(JoulemarkError):
    """Something that must be installed is missing or too old."""

    exit_code = 4


class BuildError(JoulemarkError):
    """The compiler or linker rejected the firmware."""

    exit_code = 5


class VerificationError(JoulemarkError):
    """An output differs from the oracle's; there is no number for it."""

    exit_code = 6


class ClaimError(JoulemarkError):
    """An implementation claims to be independent of secrets, and measuring shows otherwise."""

    exit_code = 12


class AirError(JoulemarkError):
    """Frames on the air break the policy of their network, or their keys are misused."""

    exit_code = 16


class FaultError(JoulemarkError):
    """The emulated program did what silicon would have done silently and wrongly."""

    exit_code = 7


class BudgetError(JoulemarkError):
    """The emulated program used up its cycles without reaching its end."""

    exit_code = 8


class StoreError(JoulemarkError):
    """The results store cannot be read or written; what it held is untouched."""

    exit_code = 9


class LinkError(JoulemarkError):
    """The image does not answer, or answers nonsense, on its serial line."""

    exit_code = 10


class MeterError(JoulemarkError):
    """An instrument does not answer, refuses a command or lost samples."""

    exit_code = 11


class UnsatisfiedError(JoulemarkError):
    """Nothing that was measured satisfies all demands."""

    exit_code = 13


class RegressionError(JoulemarkError):
    """A comparison found more than its limits allow."""

    exit_code = 14
