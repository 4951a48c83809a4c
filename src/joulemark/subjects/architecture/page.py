"""How a number of an architecture is made again."""

import itertools
import random

from joulemark import words
from joulemark.catalogue.architectures import load_architecture
from joulemark.records.record import Record
from joulemark.subjects.architecture import ArchitectureSubject


def command(record: Record[ArchitectureSubject]) -> str:
    """Return the command that makes the record's table again with the same inputs."""
    what, where, build = record.subject, record.conditions, record.build
    if build is None:
        return ""
    executed: dict[str, object] = {}
    if what.aspect == "processing" and record.trials:
        once = record.trials // _trials_of_one(record)
        executed = {"repetitions": once // record.repetitions, "executions": record.repetitions}
    options: dict[str, object] = {
        "board": where.board,
        "clock": where.clock,
        "compiler": build.compiler,
        "opt": build.optimisation,
        "only": what.aspect,
        "wire": what.wiring,
        **executed,
        "seed": record.provenance.seed,
    }
    return words.command("architecture", what.architecture, options=options)


def _trials_of_one(record: Record[ArchitectureSubject]) -> int:
    """Return how often a row is executed where each operation is executed once."""
    steps = load_architecture(record.subject.architecture).oracle.steps(random.Random(0), 1)
    rows = [row for row, _ in itertools.groupby(steps, lambda step: step.row)]
    return rows.count(record.subject.row)
