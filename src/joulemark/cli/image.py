"""`joulemark image`: run an image of your own, and keep what it and its functions cost.

joulemark image app.elf --board nrf52840-dk --for 10s
"""

import json

import typer

from joulemark.cli import app
from joulemark.cli._grouped import grouped
from joulemark.cli._options import DEFAULT_STORE, StoreOption
from joulemark.cli._output import Form, FormOption, say, table
from joulemark.subjects.image.options import ImageOptions


@app.command()
@grouped
def image(
    asked: ImageOptions, store: StoreOption = DEFAULT_STORE, form: FormOption = Form.TEXT
) -> None:
    """Run an image on emulated boards: energy, cycles, time, stack and wake-ups.

    They are shown by function, by part (kernel, network stack, cryptography, application, idle)
    and, of Zephyr, RIOT and FreeRTOS, by thread. What is in the store, of the same bytes, is not
    run again. `joulemark compare` shows what changed between two stores; a campaign file asks for
    the same with [[image]].
    """
    from joulemark.conduct import Means, conduct, plan
    from joulemark.measure.pool import Processes
    from joulemark.records import bounds
    from joulemark.records.store import Store
    from joulemark.report import rows

    work = plan(asked, Means(workers=Processes(1)))
    with Store(store) as kept:
        found = conduct(work, kept).records(kept)
    good = [record for record in found if record.status == "ok"]
    tables = {title: some for title, some, _ in rows.tables(good)}
    if form is Form.JSON:
        typer.echo(json.dumps(tables, indent=1, ensure_ascii=False))
    for title, some in tables.items() if form is not Form.JSON else ():
        typer.echo(f"{title}\n{table(some, form)}\n")
    if form is Form.TEXT:
        for note in dict.fromkeys(note for record in good for note in record.notes):
            say(note)
        for line in bounds.lines(map(bounds.of_record, good)):
            say(line)
    for error in work.errors.values():
        raise error
