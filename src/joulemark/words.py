"""English wording of messages, and commands as a shell reads them."""

import shlex
from collections.abc import Mapping


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 case`, `1,200 cases`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def command(*words: str, options: Mapping[str, object]) -> str:
    """Return a command of Joulemark's as a shell reads it.

    Args:
        words: the command's name and arguments.
        options: by name without dashes. None and False are left out, True stands alone, and a
            tuple repeats its option.
    """
    line = ["joulemark", *words]
    for name, value in options.items():
        for one in value if isinstance(value, tuple) else (value,):
            if one is not None and one is not False:
                line += [f"--{name}"] if one is True else [f"--{name}", str(one)]
    return shlex.join(line)
