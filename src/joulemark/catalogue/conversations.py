"""Conversations: protocols between two sides, each declared beside the program that speaks it.

`conversation.toml` in a program's folder states roles and flights. What each flight computes is a
function of a primitive behind an interface of the program, whose oracle knows every message.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Self

from pydantic import Field, model_validator

from joulemark.catalogue import datafile
from joulemark.catalogue.networks import Mote
from joulemark.project import FIRMWARE

FILE = "conversation.toml"
Byte = Annotated[int, Field(ge=0, le=255)]


class Role(datafile.DataModel):
    """One of the two sides."""

    define: dict[str, int] = Field({})
    """Macros of a mote that has this role; the role without any has all other motes."""
    renews: list[str] = Field([])
    """Inputs of the oracle that are SHA-256 of the first and the session's number from the second
    session on."""


class Flight(datafile.DataModel):
    """What one side computes, and what it sends then."""

    role: str
    does: str
    """Function of the primitive; with dashes, the operation that measures it."""
    sends: str = ""
    """Output of the oracle that is sent; nothing if empty."""
    byte: Byte | None = None
    """First byte of the message on the air."""
    optional: bool = False
    """Only where the conversation's `optional` macro is not 0."""

    @model_validator(mode="after")
    def _sent_with_a_byte(self) -> Self:
        if bool(self.sends) != (self.byte is not None):
            raise ValueError("sends and byte belong together")
        return self

    @property
    def operation(self) -> str:
        """The operation of the primitive's kind."""
        return self.does.replace("_", "-")


class Conversation(datafile.DataModel):
    """A protocol. Its program prints `session N`, `key HEX` and, where it begins, `done`."""

    title: str
    kind: str
    """Kind of the primitives that compute it."""
    interface: str
    """Interface of the program that such a primitive is wired to."""
    key: str
    """Output of the oracle on which both sides end."""
    optional: str = ""
    """Macro that turns optional flights on."""
    error_byte: Byte | None = None
    """First byte of messages that end a session."""
    role: dict[str, Role]
    flight: list[Flight]
    """In order."""

    @model_validator(mode="after")
    def _of_two_roles(self) -> Self:
        if len(self.role) != 2 or {flight.role for flight in self.flight} != set(self.role):
            raise ValueError("it has two roles, and flights of both")
        if sum(not role.define for role in self.role.values()) > 1:
            raise ValueError("define must tell its roles apart")
        return self

    @property
    def first(self) -> str:
        """The role that begins."""
        return self.flight[0].role

    def role_of(self, mote: Mote) -> str:
        """Return a mote's role."""
        rest = ""
        for name, role in self.role.items():
            if not role.define:
                rest = name
            elif all(mote.define.get(macro) == value for macro, value in role.define.items()):
                return name
        return rest

    def flights(self, *, optional: bool) -> list[Flight]:
        """Return the flights that are made."""
        return [flight for flight in self.flight if optional or not flight.optional]

    def of_role(self, role: str, *, optional: bool) -> list[Flight]:
        """Return the flights of one side."""
        return [flight for flight in self.flights(optional=optional) if flight.role == role]


@lru_cache
def of_program(program: str) -> Conversation | None:
    """Return the conversation of a program; None if it declares none.

    Raises:
        InputError: its file is invalid.
    """
    path = FIRMWARE / program / FILE
    return datafile.read(path, Conversation) if path.is_file() else None


@lru_cache
def programs() -> Mapping[str, Conversation]:
    """Return the conversations by program.

    Raises:
        InputError: a file is invalid.
    """
    return {
        path.parent.relative_to(FIRMWARE).as_posix(): datafile.read(path, Conversation)
        for path in sorted(FIRMWARE.rglob(FILE))
    }
