"""The results store: append-only records in SQLite, PostgreSQL or any database of SQLAlchemy.

Each append is one transaction, so a kill at any moment loses nothing that was written.
"""

import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from joulemark.closes import Closes
from joulemark.errors import StoreError
from joulemark.records import tables
from joulemark.records.record import DEPENDENT, Record
from joulemark.records.tables import SCHEMA_VERSION, quantities, records, schema
from joulemark.subjects import Subject

Access = Literal["create", "write", "read"]

_PATIENCE_S = 60
"""How long to wait for another process's transaction."""
_AT_ONCE = 500
"""Maximum values per query: SQLite allows 32,766 by default, PostgreSQL's protocol 65,535."""
_IN_MEMORY = {None, "", ":memory:"}
_ADVISORY_LOCK = 0x6A6F756C  # "joul"


class Served(NamedTuple):
    """A good record whose case need not be measured again."""

    id: int
    dependent: bool
    """Its trials showed that time or addresses depend on data."""
    contradicts: bool
    """They did, although the implementation claims that they do not."""
    trials: int


def _printable(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def store_url(location: str | Path) -> sa.URL:
    """Convert a path or URL to a URL.

    Raises:
        ValueError: it is not a valid path or URL.
    """
    text = str(location)
    if "\0" in text:
        raise ValueError("a zero byte in a name")
    if "://" in text:
        url = sa.make_url(text)
        if url.get_backend_name() == "sqlite" and url.host:
            raise ValueError("a file is on no host: sqlite:///PATH has three slashes")
        return url
    return sa.URL.create("sqlite", database=str(Path(text).expanduser()))


class Store(Closes):
    """Records in a database.

    Args:
        location: a file (SQLite) or an SQLAlchemy URL.
        access: `create` creates the store if it does not exist; `write` requires that it exists;
            `read` needs no write permission.

    Raises:
        StoreError: it cannot be opened, is damaged, or was written by another version.
    """

    def __init__(self, location: str | Path, access: Access = "create") -> None:
        try:
            self.url = store_url(location)
        except (sa.exc.ArgumentError, ValueError) as error:
            raise StoreError(
                "not a store's URL",
                _printable(str(location)),
                "give a file's path or a URL such as postgresql+psycopg://user@host/name",
            ) from error
        self.path: Path | None = None
        """Its file; None if it is not a file."""
        if self.url.get_backend_name() == "sqlite" and self.url.database not in _IN_MEMORY:
            self.path = Path(str(self.url.database))
            self.name = _printable(str(self.path))
            self._check_path(self.path, access)
        else:
            self.name = _printable(self.url.render_as_string(hide_password=True))
        try:
            self._engine = self._connected(access)
        except (ImportError, sa.exc.NoSuchModuleError) as error:
            raise StoreError(
                f"the database's driver is missing ({error})", self.name, "install it with pip"
            ) from error
        except (SQLAlchemyError, TypeError, ValueError) as error:
            raise StoreError(f"not a store's URL: {error}", self.name) from error
        self._check_schema(access)

    def _check_path(self, path: Path, access: Access) -> None:
        try:
            there = path.exists()
            if access == "create":
                path.parent.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            what = f"cannot make its folder: {getattr(error, 'strerror', None) or error}"
            raise StoreError(what, self.name, "name another store with --store") from error
        if path.is_dir():
            raise StoreError("is a folder", self.name, "name a file with --store")
        if access != "create" and not there:
            raise StoreError("there is no store", self.name, "`joulemark run` makes one")

    def _connected(self, access: Access) -> sa.Engine:
        if self.url.get_backend_name() != "sqlite":
            return sa.create_engine(self.url)
        path = self.path
        if path is None or self.url.query:
            engine = sa.create_engine(self.url)
        else:
            # A file's name may contain characters that a URL cannot.
            engine = sa.create_engine(
                "sqlite://",
                creator=lambda: _open_file(path, access),
                poolclass=sa.pool.QueuePool,
            )
        sa.event.listen(engine, "connect", _on_connect if access != "read" else _on_connect_to_read)
        sa.event.listen(engine, "begin", _on_begin)
        return engine

    @contextmanager
    def _transaction(self, verb: str, *, writes: bool = False) -> Iterator[sa.Connection]:
        """Open a transaction that turns errors into one message; `writes` waits for writers."""
        try:
            with self._engine.execution_options(writes=writes).begin() as connection:
                yield connection
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise self._explain(error, verb) from error
        except (ValueError, TypeError, KeyError, ArithmeticError) as error:
            what = f"the store is damaged: {str(error).splitlines()[0]}"
            mend = "restore it from a copy, or name another store with --store"
            raise StoreError(what, self.name, mend) from error

    def _check_schema(self, access: Access) -> None:
        with self._transaction("opened") as connection:
            version = self._version(connection)
        if version == SCHEMA_VERSION:
            return
        if access == "read":
            raise StoreError("there is no store", self.name, "`joulemark run` makes one")
        with self._transaction("opened", writes=True) as connection:
            if connection.dialect.name == "postgresql":
                # Other processes that open it for the first time wait here.
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
            if self._version(connection) is None:
                tables.metadata.create_all(connection)
                connection.execute(schema.insert().values(version=SCHEMA_VERSION))

    def _version(self, connection: sa.Connection) -> int | None:
        """Return the version of the store's schema; None if the database is empty."""
        there = set(sa.inspect(connection).get_table_names())
        if schema.name not in there:
            if there:
                raise StoreError(
                    "the database holds something else than records",
                    self.name,
                    "name another store with --store",
                )
            return None
        found = connection.scalar(sa.select(schema.c.version))
        if found is None:
            raise ValueError("its schema's version is not there")
        version = int(found)
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"the store has schema version {version}, this joulemark knows {SCHEMA_VERSION}",
                self.name,
                "name another store with --store, or use the joulemark that made it",
            )
        return version

    def _explain(self, error: Exception, verb: str) -> StoreError:
        """Turn a database's error into one message; the store itself is unchanged."""
        cause = error.orig if isinstance(error, DBAPIError) else error
        reason = (str(cause).splitlines() or [type(cause).__name__])[0]
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
        elif "malformed" in lower or "not a database" in lower or "utf-8" in lower:
            mend = "restore it from a copy, or name another store with --store"
        elif "locked" in lower:
            mend = "another process holds it; wait for it or name another store with --store"
        return StoreError(f"the store cannot be {verb}: {reason}", self.name, mend)

    def append(self, *some: Record[Subject]) -> None:
        """Write records durably, all of them or none.

        Raises:
            StoreError: they could not be written, or hold what cannot be; the store is unchanged.
        """
        if not some:
            return
        for record in some:
            try:
                tables.refuse_impossible(record)
            except ValueError as error:
                raise StoreError(f"{record.case} cannot be kept: {error}", self.name) from error
        inserted = records.insert().returning(records.c.id, sort_by_parameter_order=True)
        with self._transaction("written", writes=True) as connection:
            ids = connection.scalars(inserted, [tables.record_row(r) for r in some]).all()
            rows = [q for r, i in zip(some, ids, strict=True) for q in tables.quantity_rows(r, i)]
            if rows:
                connection.execute(quantities.insert(), rows)

    def append_new(self, *some: Record[Subject]) -> None:
        """Write the records whose key has no good record yet: deterministic results, made again.

        Raises:
            StoreError: they could not be written; the store is unchanged.
        """
        known = self.served(dict.fromkeys(record.key for record in some))
        self.append(*(record for record in some if record.key not in known))

    def renew(self, ids: Iterable[int]) -> None:
        """Append records again behind which others of their cases were written.

        What is measured, changed, and changed back is served from the store: it is then the last
        of its case again.

        Args:
            ids: by their `Served.id`.

        Raises:
            StoreError: they could not be written; the store is unchanged.
        """
        given = set(ids)
        digest, last = records.c.case_digest, sa.func.max(records.c.id).label("last")
        former: dict[str, int] = {}
        with self._transaction("read") as connection:
            every = connection.execute(sa.select(digest, last).group_by(digest))
            current = {row.case_digest for row in every if row.last in given}
            for some in _chunks(sorted(given)):
                rows = sa.select(digest, records.c.id).where(records.c.id.in_(some))
                former |= {row.case_digest: row.id for row in connection.execute(rows)}
        self.append(*self.load(n for case, n in former.items() if case not in current))

    def records(self, *, history: bool = False) -> list[Record[Subject]]:
        """Return the last record of each case; with `history` all records, in order of writing."""
        chosen = None
        if not history:
            last = sa.select(sa.func.max(records.c.id)).group_by(records.c.case_digest)
            chosen = records.c.id.in_(last)
        found = self._fetch(chosen)
        return found if history else sorted(found, key=lambda r: r.order)

    def of_board(self, board: str, clock: str, **subject: Collection[Any]) -> list[Record[Subject]]:
        """Return the last record of each case on a board at a clock, filtered by subject.

        Args:
            board: name of the board.
            clock: name of the clock profile.
            subject: allowed values of the subject's fields, such as kind={"aead"}.
        """

        def value(name: str, like: object) -> Any:
            found: Any = records.c.subject[name]
            return found.as_integer() if isinstance(like, int) else found.as_string()

        here = sa.and_(
            records.c.board == board,
            records.c.clock == clock,
            *(value(n, next(iter(some))).in_(sorted(some)) for n, some in subject.items()),
        )
        last = sa.select(sa.func.max(records.c.id)).where(here).group_by(records.c.case_digest)
        return sorted(self._fetch(records.c.id.in_(last)), key=lambda r: r.order)

    @property
    def is_empty(self) -> bool:
        """Whether it has no record."""
        with self._transaction("read") as connection:
            return connection.execute(sa.select(records.c.id).limit(1)).first() is None

    def served(self, seeds: Mapping[str, int | None]) -> dict[str, Served]:
        """Return the last good record of each key that has one.

        Args:
            seeds: by key, the seed that its inputs must be of; None takes any.
        """
        found: dict[str, Served] = {}
        shown = (records.c.finding, records.c.secret_independent_claim, records.c.trials)
        wanted = sorted(seeds)
        with self._transaction("read") as connection:
            for some in _chunks(wanted):
                query = (
                    sa.select(records.c.key, records.c.id, records.c.seed, *shown)
                    .where(records.c.status == "ok", records.c.key.in_(some))
                    .order_by(records.c.id)
                )
                for key, identity, seed, finding, claim, trials in connection.execute(query):
                    if seeds[key] not in (None, seed):
                        continue
                    dependent = finding in DEPENDENT
                    contradicts = dependent and bool(claim)
                    found[key] = Served(identity, dependent, contradicts, trials or 0)
        return found

    def load(self, ids: Iterable[int]) -> list[Record[Subject]]:
        """Return records by their `Served.id`."""
        result: list[Record[Subject]] = []
        for some in _chunks(sorted(set(ids))):
            result += self._fetch(records.c.id.in_(some))
        return result

    def _fetch(self, chosen: sa.ColumnElement[bool] | None) -> list[Record[Subject]]:
        rows = sa.select(records).order_by(records.c.id)
        numbers = sa.select(quantities.c.record, *tables.QUANTITY)
        if chosen is not None:
            rows = rows.where(chosen)
            ids = sa.select(records.c.id).where(chosen)
            numbers = numbers.where(quantities.c.record.in_(ids))
        with self._transaction("read") as connection:
            # In this order, because a record that is visible already has its quantities.
            found = connection.execute(rows).mappings().all()
            gathered = tables.by_record(connection.execute(numbers).all())
            return [tables.record(row, gathered.get(row["id"], ())) for row in found]

    def prune(self) -> int:
        """Delete the failed records, and return how many there were."""
        failed = records.c.status != "ok"
        with self._transaction("written", writes=True) as connection:
            ids = sa.select(records.c.id).where(failed)
            connection.execute(quantities.delete().where(quantities.c.record.in_(ids)))
            return connection.execute(records.delete().where(failed)).rowcount

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()


def _chunks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[i : i + _AT_ONCE] for i in range(0, len(values), _AT_ONCE))


def _open_file(path: Path, access: Access) -> sqlite3.Connection:
    name = quote(os.fsencode(path.absolute()))
    if access != "read":
        mode = "rwc" if access == "create" else "rw"
        return sqlite3.connect(f"file:{name}?mode={mode}", uri=True, check_same_thread=False)
    opened = sqlite3.connect(f"file:{name}?mode=ro", uri=True, check_same_thread=False)
    try:
        opened.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        opened.close()
        log = Path(f"{path}-wal")
        if log.exists() and log.stat().st_size > 0:
            raise
        # In WAL mode, SQLite creates files beside the database, but this user may not. No writer
        # has it open, because those files would exist then (https://www.sqlite.org/wal.html,
        # "Read-Only Databases").
        opened = sqlite3.connect(
            f"file:{name}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
    return opened


def _on_connect(connection: sqlite3.Connection, _: object) -> None:
    """Set WAL: readers never wait for a writer, and a killed writer leaves a whole database.

    With NORMAL, a killed process loses nothing that was committed. A power failure may lose the
    last records, which are measured again, but never the database
    (https://www.sqlite.org/wal.html, "Performance Considerations").
    """
    _on_connect_to_read(connection, _)
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            # Changing the mode needs exclusive access, for which SQLite does not wait.
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            if mode not in {"wal", "memory"}:
                connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous = NORMAL")


def _on_connect_to_read(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # `_on_begin` begins transactions.
    connection.execute(f"PRAGMA busy_timeout = {_PATIENCE_S * 1000}")


def _on_begin(connection: sa.Connection) -> None:
    """Take a writer's lock at once: two transactions that read first could not both write."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
