"""How a number of a primitive is made again."""

from joulemark import words
from joulemark.campaign.job import LOCAL
from joulemark.records.record import PrimitiveRecord


def command(record: PrimitiveRecord) -> str:
    """Return the command that measures the record's case again with the same inputs.

    Returns:
        The command; empty for what an instrument or this machine measured, which no command
        repeats.
    """
    what, where, build = record.subject, record.conditions, record.build
    if where.runner != "emulator" or where.board == LOCAL or build is None:
        return ""
    options: dict[str, object] = {
        "board": where.board,
        "clock": where.clock,
        "primitive": what.primitive,
        "implementation": what.implementation,
        "operation": what.operation,
        "size": what.message_bytes or None,
        "ad-size": what.ad_bytes,
        "compiler": build.compiler,
        "opt": build.optimisation,
        "placements": build.offset_bytes // 4 + 1 if build.offset_bytes else None,
        "repetitions": where.repetitions if where.repetitions > 1 else None,
        "trials": record.trials,
        "seed": record.provenance.seed,
    }
    return words.command("run", options=options)
