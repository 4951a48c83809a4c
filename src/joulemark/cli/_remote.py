"""`joulemark run --host`: the run takes place there, its records come here."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from joulemark.runners.remote import Host

_OURS = ("--host", "--host-command", "--store", "--report")
"""Options with a value that are not passed on."""


def run_there(host: "Host", arguments: Sequence[str], campaign: Path | None, store: str) -> None:
    """Run the same command on a host, and bring its records into the store here.

    Args:
        host: the machine, which measures itself.
        arguments: of the command here.
        campaign: its file, which is sent along.
        store: the store here.

    Raises:
        JoulemarkError: the machine cannot be reached, or its records cannot be stored.
        typer.Exit: the command there failed, with its exit code.
    """
    from joulemark.records.store import Store
    from joulemark.runners.remote import FOLDER, STORE

    passed = _without(arguments)
    if campaign is not None:
        there = host.put("campaign.toml", campaign.read_bytes())
        passed = [there if argument == str(campaign) else argument for argument in passed]
    code = host.run(["run", *passed, "--store", f"{FOLDER}/{STORE}"])
    with tempfile.TemporaryDirectory() as folder:
        fetched, brought = host.fetch_store(Path(folder)), 0
        if fetched is None:
            raise typer.Exit(code)
        with Store(fetched, "write") as theirs, Store(store) as ours:
            have = {(r.key, r.measured_at) for r in ours.records(history=True)}
            for record in theirs.records(history=True):
                if (record.key, record.measured_at) not in have:
                    ours.append(record)
                    brought += 1
            typer.echo(f"brought from {host.address}: {brought} records\nstore:  {ours.name}")
    if code:
        raise typer.Exit(code)


def _without(arguments: Sequence[str]) -> list[str]:
    """Return the arguments without those meant for this side."""
    left, skip = [], False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in _OURS:
            skip = True
        elif not argument.startswith(tuple(f"{name}=" for name in _OURS)):
            left.append(argument)
    return left
