"""Base of objects that are closed at the end of a `with` statement."""

from typing import Self


class Closes:
    """An object that holds a port, a process or a file until it is closed."""

    def close(self) -> None:
        """Release what it holds; nothing by default."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
