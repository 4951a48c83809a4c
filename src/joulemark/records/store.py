"""The results store: append-only records in SQLite, PostgreSQL or whatever SQLAlchemy speaks.

Each record is one transaction, so a kill at any moment loses nothing that was written.
"""

import dataclasses
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from joulemark.closes import Closes
from joulemark.errors import StoreError
from joulemark.records.record import Record

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 3

_metadata = sa.MetaData()
_TYPES: dict[Any, Any] = {
    bool: sa.Boolean,
    int: sa.BigInteger,
    float: sa.Double,
    str: sa.String,
    typing.Literal: sa.String,
    Sequence: sa.JSON,
    Mapping: sa.JSON,
}


def _column(name: str, hint: Any) -> sa.Column[Any]:
    """A record's field as a column."""
    is_union = typing.get_origin(hint) in {types.UnionType, typing.Union}
    alternatives = typing.get_args(hint) if is_union else (hint,)
    nullable = type(None) in alternatives
    (kind,) = (a for a in alternatives if a is not type(None))
    origin = typing.get_origin(kind)
    indexed = name in {"key", "case_digest"}
    return sa.Column(name, _TYPES[origin or kind], nullable=nullable, index=indexed)


_records = sa.Table(
    "records",
    _metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
    *(_column(name, hint) for name, hint in typing.get_type_hints(Record).items()),
)
_schema = sa.Table("joulemark_schema", _metadata, sa.Column("version", sa.Integer, nullable=False))
_FIELDS = tuple(f.name for f in dataclasses.fields(Record))


def _on_connect(connection: Any, _: object) -> None:
    """WAL: readers never wait for a writer, and a killed writer leaves a whole database.

    With NORMAL, a process that is killed loses nothing that was committed; a machine that loses
    its power may lose the last records, which are measured again, and never the database
    (https://www.sqlite.org/wal.html, "Performance Considerations").
    """
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout = 10000")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.close()


def store_url(location: str | Path) -> str:
    """A path or a URL as a URL."""
    text = str(location)
    return text if "://" in text else f"sqlite:///{Path(text).expanduser()}"


class Store(Closes):
    """Records in a database.

    Args:
        location: a file (SQLite) or an SQLAlchemy URL.
        create: make the database where there is none.

    Raises:
        StoreError: it cannot be opened, is damaged, or was written by another version.
    """

    def __init__(self, location: str | Path, *, create: bool = True) -> None:
        try:
            self.url = sa.make_url(store_url(location))
        except sa.exc.ArgumentError as error:
            raise StoreError(
                "not a store's URL",
                str(location),
                "give a file's path or a URL such as postgresql+psycopg://user@host/name",
            ) from error
        self.name = self.url.render_as_string(hide_password=True)
        if self.url.get_backend_name() == "sqlite" and self.url.database:
            self.name = self.url.database
            path = Path(self.url.database)
            if not create and not path.exists():
                raise StoreError("there is no store", self.name, "`joulemark run` makes one")
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(f"cannot make its folder: {error.strerror}", self.name) from error
        try:
            self._engine = sa.create_engine(self.url)
        except (ImportError, sa.exc.NoSuchModuleError) as error:
            raise StoreError(
                f"the database's driver is missing ({error})", self.name, "install it with pip"
            ) from error
        if self.url.get_backend_name() == "sqlite":
            sa.event.listen(self._engine, "connect", _on_connect)
        self._check_schema(create)

    def _check_schema(self, create: bool) -> None:
        try:
            with self._engine.connect() as connection:
                tables = set(sa.inspect(connection).get_table_names())
                if _schema.name in tables:
                    version = connection.scalar(sa.select(_schema.c.version)) or 0
                    if version < SCHEMA_VERSION:
                        self._upgrade()
                    elif version > SCHEMA_VERSION:
                        raise StoreError(
                            f"the store has schema version {version}, this joulemark knows "
                            f"versions up to {SCHEMA_VERSION}",
                            self.name,
                            "name another store with --store, or use the joulemark that made it",
                        )
                    return
            if tables:
                raise StoreError(
                    "the database holds something else than records",
                    self.name,
                    "name another store with --store",
                )
            if create:
                with self._engine.begin() as connection:
                    _metadata.create_all(connection)
                    connection.execute(_schema.insert().values(version=SCHEMA_VERSION))
        except SQLAlchemyError as error:
            raise self._explain(error, "opened") from error

    def _upgrade(self) -> None:
        """Give an older store the fields that came later; its records have no value in them."""
        with self._engine.begin() as connection:
            kept = {c["name"] for c in sa.inspect(connection).get_columns(_records.name)}
            for column in _records.columns:
                if column.name not in kept:
                    kind = column.type.compile(self._engine.dialect)
                    add = f"ALTER TABLE {_records.name} ADD COLUMN {column.name} {kind}"
                    connection.execute(sa.text(add))
            connection.execute(_schema.update().values(version=SCHEMA_VERSION))

    def _explain(self, error: SQLAlchemyError, verb: str) -> StoreError:
        """One message for a database's error; the store itself is as it was before."""
        reason = str(error.orig if isinstance(error, DBAPIError) else error).splitlines()[0]
        lower = reason.lower()
        mend = "records written before are safe"
        if "disk i/o" in lower:
            mend = "check that it is a file on a disk that works; records written before are safe"
        elif "full" in lower or "no space" in lower:
            mend = (
                "free some space and give the same command again: "
                "it goes on where it stopped, nothing recorded is lost"
            )
        elif "readonly" in lower or "read-only" in lower or "unable to open" in lower:
            mend = "make the file and its folder writable, or name another store with --store"
        elif "malformed" in lower or "not a database" in lower:
            mend = "restore it from a copy, or name another store with --store"
        elif "locked" in lower:
            mend = "another process holds it; wait for it or name another store with --store"
        return StoreError(f"the store cannot be {verb}: {reason}", self.name, mend)

    def append(self, record: Record) -> None:
        """Write one record, durably.

        Raises:
            StoreError: it could not be written; what was there before still is.
        """
        values = {name: getattr(record, name) for name in _FIELDS}
        try:
            with self._engine.begin() as connection:
                connection.execute(_records.insert().values(**values))
        except SQLAlchemyError as error:
            raise self._explain(error, "written") from error

    def records(self, *, history: bool = False) -> list[Record]:
        """The last record of each case in the order of writing; with `history`, all of them."""
        query = sa.select(*(_records.c[name] for name in _FIELDS)).order_by(_records.c.id)
        if not history:
            last = sa.select(sa.func.max(_records.c.id)).group_by(_records.c.case_digest)
            query = query.where(_records.c.id.in_(last))
        return self._fetch(query)

    def find(self, keys: Iterable[str]) -> dict[str, Record]:
        """The last good record of each of these keys, where there is one, without its lists."""
        wanted = set(keys)
        last = (
            sa.select(sa.func.max(_records.c.id))
            .where(_records.c.status == "ok")
            .group_by(_records.c.key)
        )
        short = [c for c in _records.c if c.name in _FIELDS and not isinstance(c.type, sa.JSON)]
        found = self._fetch(sa.select(*short).where(_records.c.id.in_(last)))
        return {r.key: r for r in found if r.key in wanted}

    def _fetch(self, query: sa.Select[Any]) -> list[Record]:
        try:
            with self._engine.connect() as connection:
                return [Record(**row._mapping) for row in connection.execute(query)]
        except SQLAlchemyError as error:
            raise self._explain(error, "read") from error

    def frame(self, *, history: bool = False) -> "pd.DataFrame":
        """The records as a table with a column for each field, and `finding`."""
        import pandas as pd

        records = self.records(history=history)
        columns: dict[str, list[Any]] = {
            name: [getattr(r, name) for r in records] for name in _FIELDS
        }
        columns["finding"] = [r.finding for r in records]
        return pd.DataFrame(columns)

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()
