"""Errors: each has one message that says what is wrong, where, and how to mend it.

Exit codes are stable and listed in docs/command-line.md.
"""

from typing import ClassVar


class JoulemarkError(Exception):
    """Base of all errors that a user can mend.

    Args:
        what: what is wrong, as a sentence without a full stop.
        where: the file, key, option or address.
        mend: how to mend it.
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
    """A file or a value given by a user is wrong: campaign, board, chip, image, option."""

    exit_code = 3


class ToolError(JoulemarkError):
    """A required tool is missing or too old."""

    exit_code = 4


class BuildError(JoulemarkError):
    """The compiler or linker rejected the firmware."""

    exit_code = 5


class VerificationError(JoulemarkError):
    """An output differs from the oracle's, so there is no number for it."""

    exit_code = 6


class ClaimError(JoulemarkError):
    """An implementation claims independence of secrets, but measurements show otherwise."""

    exit_code = 12


class AirError(JoulemarkError):
    """Frames on the air break the policy of their network, or their keys are misused."""

    exit_code = 16


class FaultError(JoulemarkError):
    """The emulated program did something that silicon would do silently and wrongly."""

    exit_code = 7


class BudgetError(JoulemarkError):
    """The emulated program used up its budget of cycles before its end."""

    exit_code = 8


class StoreError(JoulemarkError):
    """The results store cannot be read or written; its contents are untouched."""

    exit_code = 9


class LinkError(JoulemarkError):
    """The image does not answer on its serial line, or gives an invalid answer."""

    exit_code = 10


class MeterError(JoulemarkError):
    """An instrument does not answer, refuses a command, or loses samples."""

    exit_code = 11


class UnsatisfiedError(JoulemarkError):
    """No measured implementation satisfies all demands."""

    exit_code = 13


class RegressionError(JoulemarkError):
    """A comparison found changes beyond its limits."""

    exit_code = 14
