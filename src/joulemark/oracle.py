"""The interface of a primitive's independent oracle; see docs/adding-a-primitive.md."""

from collections.abc import Callable, Iterator, Mapping


class _Values(Mapping[str, bytes]):
    """Byte strings by their names in the kind's file, as a mapping and as attributes."""

    def __init__(self, **values: bytes) -> None:
        self._values = values

    def __getitem__(self, name: str) -> bytes:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> bytes:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"no {name} among {', '.join(self.__dict__.get('_values', ()))}")
        return self._values[name]

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._values.items())))

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value.hex()}" for name, value in self._values.items())
        return f"{type(self).__name__}({given})"


class Inputs(_Values):
    """Inputs of one operation, by name (`inputs.key`); a primitive ignores those it does not take.

    Args:
        tag_bytes: length of the tag, if the primitive's caller may choose it.
        values: the inputs.
    """

    def __init__(self, *, tag_bytes: int = 0, **values: bytes) -> None:
        super().__init__(**values)
        self.tag_bytes = tag_bytes

    def replaced(self, *, tag_bytes: int | None = None, **values: bytes) -> "Inputs":
        """Return a copy with some values replaced."""
        length = self.tag_bytes if tag_bytes is None else tag_bytes
        return Inputs(tag_bytes=length, **{**self._values, **values})

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Inputs)
            and self._values == other._values
            and self.tag_bytes == other.tag_bytes
        )

    def __hash__(self) -> int:
        return hash((super().__hash__(), self.tag_bytes))


class Output(_Values):
    """Results of the forward direction, by name: `output` (ciphertext, digest), `tag`, ..."""


Compute = Callable[[str, Inputs, "Compute | None"], Output]
