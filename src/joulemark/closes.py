"""Things that are closed at the end of a `with`."""

from typing import Self


class Closes:
    """Something that holds a port, a process or a file until it is closed."""

    def close(self) -> None:
        """Let go of what it holds; by default nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
