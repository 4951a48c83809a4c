"""`joulemark image`: run an image of your own, and keep what it and its functions cost.

joulemark image app.elf --board telosb --for-ms 10000
"""

import typer

from joulemark.cli import app
from joulemark.cli._grouped import grouped
from joulemark.cli._options import DEFAULT_STORE, StoreOption
from joulemark.cli._output import Form, FormOption, table
from joulemark.subjects.image.options import ImageOptions


@app.command()
@grouped
def image(
    asked: ImageOptions, store: StoreOption = DEFAULT_STORE, form: FormOption = Form.TEXT
) -> None:
    """Run an image on emulated boards: energy, cycles, time, stack and wake-ups, by function.

    What is in the store, of the same bytes, is not run again. `joulemark compare` shows what
    changed between two stores; a campaign file asks for the same with [[image]].
    """
    from joulemark.conduct import Means, conduct, plan
    from joulemark.measure.pool import Processes
    from joulemark.records.store import Store
    from joulemark.report import rows

    work = plan(asked, Means(workers=Processes(1)))
    with Store(store) as kept:
        found = conduct(work, kept).records(kept)
    for title, some, _ in rows.tables([record for record in found if record.status == "ok"]):
        typer.echo(
            table(some, form) if form is not Form.TEXT else f"{title}\n{table(some, form)}\n"
        )
    for error in work.errors.values():
        raise error
