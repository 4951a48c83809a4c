"""`joulemark slot`: find and prove the shortest slot for a secured frame.

joulemark slot --board telosb --level enc-mic-128 --strategy software
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark.cli import app
from joulemark.cli._grouped import grouped
from joulemark.cli._options import DEFAULT_STORE, StoreOption, to_write
from joulemark.cli._output import Form, FormOption, figures
from joulemark.subjects.slot.options import SlotOptions

if TYPE_CHECKING:
    from joulemark.conduct import Records
    from joulemark.subjects.slot.record import SlotRecord


@app.command()
@grouped
def slot(
    asked: SlotOptions,
    at_most: Annotated[
        float | None,
        typer.Option(
            "--at-most",
            min=0.1,
            help="Milliseconds; exit code 13 where a slot has to be longer.",
        ),
    ] = None,
    what_if: Annotated[
        bool,
        typer.Option(
            "--what-if",
            help="Find each slot with one thing changed too: bus, key, AES, ...",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", callback=to_write, help="Write a page with each slot's waterfall."),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate",
            callback=to_write,
            help="Write what was proved, for slot-check to prove again.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Cases at a time; one per core if not given."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    form: FormOption = Form.TEXT,
) -> None:
    """Derive the shortest slot, run it, and show that a tick less is too short.

    A root and a leaf exchange frames of 127 bytes in every slot. Each mote counts the moments that
    it is not ready for. The slot found misses none; with any part of it a tick shorter, one is
    missed, and is named. What is in the store and has not changed is not measured again.
    """
    from joulemark.conduct import Means, conduct
    from joulemark.measure.pool import Processes
    from joulemark.records import bounds
    from joulemark.records.record import of_type
    from joulemark.records.store import Store
    from joulemark.report.rows import line
    from joulemark.subjects.slot import SlotSubject
    from joulemark.subjects.slot.measure import work
    from joulemark.subjects.slot.page import WhatIf, row, text
    from joulemark.subjects.slot.what_if import what_ifs

    cases = list(asked.cases())
    changed = {case.case.digest: list(what_ifs(case)) if what_if else [] for case in cases}
    means = Means(workers=Processes(jobs or len(os.sched_getaffinity(0))))
    others = (case for some in changed.values() for _, case in some)

    def told(records: "Records") -> None:
        for record in records:
            if record.status == "failed":
                typer.echo(line(record), err=True)
        good = [record for record in records if record.status == "ok"]
        for found in of_type(good, SlotSubject) if form is Form.TEXT else ():
            if found.case.digest in changed:
                typer.echo(text(found))

    with Store(store) as kept:
        todo = work([*cases, *others], asked.slots, means)
        result = conduct(todo, kept, made=told)
        new = {record.key for record in result.measured}
        records = result.records(kept)
    told([record for record in records if record.key not in new])
    slots = [record for record in of_type(records, SlotSubject) if record.status == "ok"]
    found = {record.case.digest: record for record in slots}
    done = [found[digest] for digest in changed if digest in found]
    compared = [
        WhatIf(
            slot=found[digest],
            others=[(n, found[c.case.digest]) for n, c in others if c.case.digest in found],
        )
        for digest, others in changed.items()
        if others and digest in found
    ]
    if not compared and (form is not Form.TEXT or len(done) > 1):
        typer.echo(figures([row(one) for one in done], list(map(bounds.of_record, done)), form))
    for one in compared:
        of = {} if form is Form.TEXT and len(compared) == 1 else {"slot": str(one.slot.subject)}
        errors = [bounds.of_record(of_one) for _, of_one in one.all]
        typer.echo(figures([of | of_one for of_one in one.rows()], errors, form))
    if out is not None:
        from joulemark.subjects.slot.page import write_page

        write_page(done, out, compared)
        typer.echo(f"page: {out}", err=True)
    for error in todo.errors.values():
        raise error
    if certificate is not None:
        from joulemark.subjects.slot import certificate as certificates

        certificates.write(certificates.certificate(done), certificate)
        typer.echo(f"certificate: {certificate}", err=True)
    if at_most is not None:
        _judge(done, at_most)


def _judge(done: "list[SlotRecord]", at_most_ms: float) -> None:
    """Fail where the shortest slot is longer than the limit."""
    from joulemark.errors import UnsatisfiedError
    from joulemark.subjects.slot.page import certificate, milliseconds

    for one in done:
        if milliseconds(one, "slot") > at_most_ms:
            what = f"more than {at_most_ms:g} ms: {certificate(one)}"
            raise UnsatisfiedError(what, str(one.case))
