"""`joulemark choose`: rank the primitives and builds that meet an application's demands.

joulemark choose --board openmote-cc2538 --kind aead --size 40 --every 60
joulemark choose --board telosb --kind mac --max-flash 2048 --explain
joulemark choose --board nrf52840-dk --kind update --image 64K
joulemark choose --board telosb --board nucleo-l4r5zi --kind kem
"""

import json
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any

import typer

from joulemark.battery import DEFAULT_MAH
from joulemark.cli import app
from joulemark.cli._grouped import grouped
from joulemark.cli._options import (
    DEFAULT_STORE,
    MessageSize,
    SourceOption,
    StoreOption,
    complete_board,
    complete_kind,
)
from joulemark.cli._output import Form, FormOption, figures, say, table
from joulemark.errors import InputError, UnsatisfiedError
from joulemark.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from joulemark.analysis.choice import Answer, Demands, Judged, Option, Question
    from joulemark.conduct import Means, Work
    from joulemark.records.store import Store
    from joulemark.subjects.primitive.several import SeveralAnswered
    from joulemark.subjects.update.choose import UpdateAnswer, UpdateQuestion


class Standing(StrEnum):
    """The standing of a primitive."""

    STANDARD = "standard"
    FINALIST = "finalist"
    RESEARCH = "research"
    DEPRECATED = "deprecated"
    BROKEN = "broken"


class By(StrEnum):
    """A quantity to rank by."""

    ENERGY = "energy"
    TIME = "time"
    FLASH = "flash"
    RAM = "ram"
    STACK = "stack"


@dataclass(frozen=True, kw_only=True)
class DemandOptions:
    """Demands on a build."""

    status: Annotated[Standing, typer.Option("--status", help="Lowest acceptable status.")] = (
        Standing.STANDARD
    )
    constant_time: Annotated[
        bool | None,
        typer.Option(
            "--constant-time/--no-constant-time",
            help="Require a constant-time claim that no trial contradicts; the default, without "
            "--time-alone.",
        ),
    ] = None
    time_alone: Annotated[
        bool,
        typer.Option(
            "--time-alone",
            help="On a chip without a cache: require times that no trial shows to depend on "
            "secrets, whatever addresses do.",
        ),
    ] = False
    one_time_key: Annotated[
        bool, typer.Option("--one-time-key", help="Accept a key for one message only.")
    ] = False
    security_bits: Annotated[
        int | None,
        typer.Option("--security-bits", min=1, metavar="N", help="Minimum security strength."),
    ] = None
    max_flash: Annotated[
        int | None, typer.Option("--max-flash", min=0, metavar="BYTES", help="Flash budget.")
    ] = None
    max_ram: Annotated[
        int | None,
        typer.Option(
            "--max-ram",
            min=0,
            metavar="BYTES",
            help="RAM budget: context and data; of updates with the stack.",
        ),
    ] = None
    max_stack: Annotated[
        int | None, typer.Option("--max-stack", min=0, metavar="BYTES", help="Stack budget.")
    ] = None
    max_memory: Annotated[
        int | None,
        typer.Option(
            "--max-memory",
            min=0,
            metavar="BYTES",
            help="RAM in all: context and data, stack, and the caller's keys and messages.",
        ),
    ] = None
    max_ms: Annotated[
        float | None,
        typer.Option("--max-ms", min=0, metavar="MS", help="Time budget for one message."),
    ] = None

    @property
    def demands(self) -> "Demands":
        """The demands, as the analysis takes them."""
        from joulemark.analysis.choice import Demands

        return Demands(
            status=self.status.value,
            constant_time=not self.time_alone if self.constant_time is None else self.constant_time,
            time_alone=self.time_alone,
            one_time_key=self.one_time_key,
            security_bits=self.security_bits,
            max_flash_bytes=self.max_flash,
            max_ram_bytes=self.max_ram,
            max_stack_bytes=self.max_stack,
            max_memory_bytes=self.max_memory,
            max_time_s=None if self.max_ms is None else self.max_ms * 1e-3,
        )


@dataclass(frozen=True, kw_only=True)
class UpdateDemands:
    """Demands on the signature of firmware updates."""

    image: Annotated[
        str | None,
        typer.Option(
            "--image",
            metavar="SIZE",
            help="With --kind update: size of the image, such as 32K; 64K if not given.",
        ),
    ] = None
    post_quantum: Annotated[
        bool,
        typer.Option(
            "--post-quantum", help="With --kind update: it has to withstand a quantum computer."
        ),
    ] = False
    stateless: Annotated[
        bool,
        typer.Option(
            "--stateless",
            help="With --kind update: its signer must not have to keep a state, as LMS's does.",
        ),
    ] = False

    def question(
        self, board: str, signature: "Sequence[str]", implementation: "Sequence[str]"
    ) -> "UpdateQuestion":
        """The question, as the subject takes it."""
        from joulemark.subjects.update.choose import question

        return question(
            board,
            self.image or "64K",
            signature=signature,
            implementation=implementation,
            post_quantum=self.post_quantum,
            stateless=self.stateless,
        )


def _interval(text: str) -> float:
    from joulemark.catalogue.networks import seconds

    try:
        return seconds(text, "--every")
    except InputError as error:
        raise typer.BadParameter(f"{error.what}; {error.mend}") from error


@dataclass(frozen=True, kw_only=True)
class UseOptions:
    """How often it is used, and the battery."""

    every: Annotated[
        float | None,
        typer.Option(
            "--every",
            parser=_interval,
            metavar="TIME",
            help="Interval between messages: 500ms, 60s, 5m, 1h; a number alone is seconds.",
        ),
    ] = None
    battery_mah: Annotated[
        float,
        typer.Option(
            "--battery-mah",
            min=1e-3,
            max=1e9,
            help="With --every: usable battery capacity; two alkaline AA cells have about 2,000.",
        ),
    ] = DEFAULT_MAH


@app.command()
@grouped
def choose(
    demanded: DemandOptions,
    use: UseOptions,
    updated: UpdateDemands,
    board: Annotated[
        list[str],
        typer.Option(
            "--board",
            help="Board; repeatable: of several, each one's best and what does not fit it.",
            autocompletion=complete_board,
        ),
    ],
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="What for: aead, hash, mac, ...; kinds that serve the same are considered, too. "
            "update: the signature of a bootloader.",
            autocompletion=complete_kind,
        ),
    ],
    size: MessageSize = None,
    ad_size: Annotated[
        int,
        typer.Option(
            "--ad-size", min=0, max=65535, metavar="BYTES", help="Size of the associated data."
        ),
    ] = 0,
    clock: Annotated[
        str | None, typer.Option("--clock", help="Clock profile; the board's first if not given.")
    ] = None,
    operation: Annotated[
        list[str] | None,
        typer.Option(
            "--operation",
            help="Operation run for each message; repeatable; the kind's if not given.",
        ),
    ] = None,
    primitive: Annotated[
        list[str] | None,
        typer.Option("--primitive", help="Consider only these (names or globs); repeatable."),
    ] = None,
    implementation: Annotated[
        list[str] | None,
        typer.Option("--implementation", help="Consider only these (names or globs); repeatable."),
    ] = None,
    hardware: Annotated[
        bool,
        typer.Option("--hardware/--no-hardware", help="Consider what uses an accelerator."),
    ] = True,
    by: Annotated[By, typer.Option("--sort", help="Quantity to rank by.")] = By.ENERGY,
    top: Annotated[int, typer.Option("--top", min=1, help="Number of builds to show.")] = 15,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what each demand ruled out.")
    ] = False,
    stored: Annotated[
        bool,
        typer.Option("--stored", help="Use only what the store holds; build and measure nothing."),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Number of processes; one per core if not given."),
    ] = None,
    form: FormOption = Form.TEXT,
    source: SourceOption = None,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Choose a primitive, its implementation and its build for a board.

    What was not measured is measured now, with every compiler and optimisation level; then the
    store answers, as its report does. Shows the builds of each implementation on the Pareto front
    of time, energy, flash and RAM, marked with a star, or else its best build. Exits with 13 if
    nothing satisfies all demands. Of several boards, it shows the best build of each primitive, and
    of what does not fit the bytes that are missing.

    Of updates, each signature's bootloader is built for size, and an update is emulated, as
    `joulemark update` does: time is that of a start, energy that of an update.
    """
    from joulemark.records.store import Store
    from joulemark.subjects.primitive import choose as choosing
    from joulemark.subjects.primitive.several import Several

    if kind == "update":
        _refuse(
            {
                "--size": size is not None,
                "--ad-size": ad_size != 0,
                "--clock": clock is not None,
                "--operation": bool(operation),
                "--no-hardware": not hardware,
                "--constant-time": demanded.constant_time is not None,
                "--time-alone": demanded.time_alone,
                "--one-time-key": demanded.one_time_key,
                "--max-memory, which is --max-ram here": demanded.max_memory is not None,
            },
            "an update takes no such option",
        )
        if len(board) > 1:
            raise InputError("updates are of one board", "--board", "give one board")
        question = updated.question(board[0], primitive or (), implementation or ())
        found = _of_updates(question, demanded.demands, (store, jobs, stored))
        _show_updates(found, by, top, use, form)
        _conclude(found, str(found.question), form, explain=explain)
        return
    _refuse(
        {
            "--image": updated.image is not None,
            "--post-quantum": updated.post_quantum,
            "--stateless": updated.stateless,
        },
        "it is for --kind update",
    )
    asked = [
        choosing.question(
            name,
            kind,
            size=size,
            ad_size=ad_size,
            clock=clock,
            operation=operation or (),
            primitive=primitive or (),
            implementation=implementation or (),
            hardware=hardware,
        )
        for name in dict.fromkeys(board)
    ]
    demands = demanded.demands
    if len(asked) > 1:
        several = Several.of(asked, demands, stored=stored)
        with Store(store, "read" if stored else "create") as opened:
            if not stored:
                _measure(several.work, opened, jobs)
            of_several = several.answered(opened)
        _show_several(of_several, by, top, use, form, explain=explain)
        return
    one = asked[0]
    choosing.check(one, demands)
    wanted = None if stored else choosing.wanted(one, demands)
    with Store(store, "read" if stored else "create") as opened:
        if wanted is not None and wanted.work is not None:
            _measure(wanted.work, opened, jobs)
        answer = choosing.answer(one, demands, opened, wanted)
    if answer.good:
        _show(answer, by, top, use, form)
        if form in {Form.TEXT, Form.MARKDOWN}:
            _hardware(answer)
            if line := _left_out(answer, measured=not stored):
                say(line)
    if form in {Form.TEXT, Form.MARKDOWN}:
        for line in (*answer.misfits, *(_by_chance(one) if answer.good else ())):
            say(line)
    _conclude(answer, str(one), form, explain=explain)


def _refuse(given: "Mapping[str, bool]", what: str) -> None:
    """Refuse options that do not go with what is asked for."""
    for name, is_given in given.items():
        if is_given:
            raise InputError(what, name, "leave it out")


def _conclude(answer: "Judged", asked: str, form: Form, *, explain: bool) -> None:
    """Say what does not fit and what each demand ruled out, and fail if nothing is left."""
    if form in {Form.TEXT, Form.MARKDOWN}:
        for line in (*_too_large(answer), *_too_slow(answer)):
            say(line)
    if explain and form in {Form.TEXT, Form.MARKDOWN}:
        _explain(answer.removed())
    if not answer.good:
        count = len(answer.found) + len(answer.unmeasured)
        mends = [_surrendering(answer), "" if explain or not count else "--explain says more"]
        raise UnsatisfiedError(
            f"{f'none of {count} satisfies' if count else 'nothing is there that satisfies'} all "
            f"demands: {asked}",
            None,
            "; ".join(filter(None, mends)),
        )


def _too_large(answer: "Judged") -> list[str]:
    told = []
    for name, (option, missing) in sorted(answer.too_large().items()):
        bytes_of = " and ".join(f"{value:,} bytes of {what}" for what, value in missing.items())
        how = f"{option.build.implementation}, {option.build.built}"
        told.append(f"{name} does not fit: {bytes_of} more than the limit ({how})")
    return told


def _too_slow(answer: "Judged") -> list[str]:
    told = []
    for name, option in sorted(answer.too_slow().items()):
        how = f"{option.build.implementation}, {option.build.built}"
        told.append(f"{name} is too slow: {option.time_s * 1e3:,.4g} ms at least ({how})")
    return told


def _surrendering(answer: "Judged") -> str:
    """Return what to give up for an answer, if there is anything."""
    found = answer.surrenders()
    return f"give up {'; or '.join(found)}" if found else ""


def _ranked_by(question: "Question", by: By) -> "Iterator[str]":
    """Say what a rank is of, where the sides of a protocol do different things."""
    others = [
        " ".join(f"--operation {name}" for name in service.operations)
        for service in question.kind.file.service
        if len(service.operations) == 1 and service.operations != list(question.operations)
    ]
    if question.kind.file.default is not None and others:
        done = " and ".join(question.operations)
        yield f"ranked by {by.value}: {done} alone; {' or '.join(others)} ranks the other side"


def _by_chance(question: "Question") -> "Iterator[str]":
    """Say that chance decides how many attempts an operation takes."""
    for name in question.operations:
        operation = question.kind.file.operation.get(name)
        if operation is not None and operation.attempts is not None:
            yield (
                f"{name}: a mean of few trials, of which chance decides how many attempts each "
                "takes; `run` says how many they were, docs/post-quantum.md has expected times"
            )


def _of_updates(
    asked: "UpdateQuestion", demands: "Demands", means_of: tuple[str, int | None, bool]
) -> "UpdateAnswer":
    """Price updates of a board, and answer from the store."""
    from joulemark.cli._measuring import conducted, means
    from joulemark.measure.bench import Bench
    from joulemark.measure.cluster import workers_of
    from joulemark.records.store import Store
    from joulemark.subjects.update import choose as choosing

    store, jobs, stored = means_of
    with Store(store, "read" if stored else "create") as opened:
        if not stored:
            with workers_of(None, jobs) as workers, means(Bench(), workers) as used:
                conducted(opened, choosing.work(asked, demands, used))
        found = choosing.answer(asked, demands, opened)
    if found.failures and not found.found:
        each = "; ".join(f"{name}: {why}" for name, why in found.failures.items())
        raise UnsatisfiedError(f"no signature fits: {each}", str(asked))
    return found


def _show_updates(answer: "UpdateAnswer", by: By, top: int, use: UseOptions, form: Form) -> None:
    from joulemark.analysis import choice

    if answer.good:
        in_order = choice.ranked(answer.good, by.value)
        chosen = in_order[: None if form in {Form.JSON, Form.CSV} else top]
        rows = [answer.row(option, use.every) for option in chosen]
        errors = [option.errors for option in chosen]
        if form is Form.JSON:
            rows = [{**row, "errors": error} for row, error in zip(rows, errors, strict=True)]
            payload = {"question": str(answer.question), "candidates": rows}
            typer.echo(json.dumps(payload, indent=1, ensure_ascii=False))
            return
        if form is Form.CSV:
            typer.echo(figures(rows, errors, form))
            return
        say(f"{answer.question}\n")
        say(figures(_starred(rows, form), errors, form, _UPDATES_LEFT_OUT))
        hidden = len(in_order) - len(chosen)
        say(
            "\n*: on the Pareto front of boot, energy, flash and RAM"
            + (f"; {hidden} more are beyond --top" if hidden else "")
        )
        for line in answer.advice(chosen):
            say(line)
    if form in {Form.TEXT, Form.MARKDOWN}:
        for name, why in answer.failures.items():
            say(f"{name} does not fit: {why}")


def _measure(work: "Callable[[Means], Work]", store: "Store", processes: int | None) -> None:
    from joulemark.cli._measuring import conducted, means
    from joulemark.measure.bench import Bench
    from joulemark.measure.cluster import workers_of

    with workers_of(None, processes) as workers, means(Bench(), workers) as used:
        records = conducted(store, work(used)).records(store)
    failed = [r for r in records if r.status != "ok"]
    if failed:
        typer.echo(f"{counted(len(failed), 'case')} failed: {failed[0].failure}", err=True)


def _show_several(
    answered: "SeveralAnswered", by: By, top: int, use: UseOptions, form: Form, *, explain: bool
) -> None:
    """Show what fits each board, what it costs, and what does not fit.

    Raises:
        UnsatisfiedError: nothing meets all demands on any of them.
    """
    rows = answered.rows(by.value, use.every)
    answers = answered.answers
    if form is Form.JSON:
        payload = {"questions": [str(a.question) for a in answers.values()], "candidates": rows}
        typer.echo(json.dumps(payload, indent=1, ensure_ascii=False))
    elif form is Form.CSV:
        typer.echo(table(rows, form))
    else:
        questions = [answer.question for answer in answers.values()]
        for line in (*map(str, questions), *_ranked_by(questions[0], by)):
            say(line)
        if rows:
            say("\n" + _people(rows, top, form))
        for name, answer in answers.items():
            told = [*answer.misfits, *_too_slow(answer)]
            if not answer.good:
                mend = _surrendering(answer)
                told.append("nothing satisfies all demands" + (f": {mend}" if mend else ""))
            for line in told:
                say(f"{name}: {line}")
            if explain:
                say(f"{name}:")
                _explain(answer.removed())
        for line in _by_chance(next(iter(answers.values())).question) if answers else ():
            say(line)
        for name, why in answered.unable.items():
            say(f"{name}: {why}")
    if not answered.good:
        raise UnsatisfiedError(
            f"nothing satisfies all demands on any of {len(answers) + len(answered.unable)} boards",
            None,
            "" if explain else "--explain says what each demand rules out",
        )


def _people(rows: "Sequence[Mapping[str, Any]]", top: int, form: Form) -> str:
    """Return the rows of several boards as people read them."""
    seen: Counter[str] = Counter()
    shown = []
    for row in rows:
        seen[row["board"]] += 1
        if seen[row["board"]] <= top:
            shown.append(row)
    empty = {name for name in shown[0] if all(row[name] is None for row in shown)}
    sizes = {row.get("bytes") for row in shown} - {None}
    left = {"errors", *empty, *({"bytes"} if len(sizes) < 2 else ())}
    cells = [{name: row[name] for name in row if name not in left} for row in shown]
    errors = [row["errors"] for row in shown if row["errors"]]
    return figures(cells, errors, form, _SEVERAL_LEFT_OUT)


def _left_out(answer: "Answer", *, measured: bool) -> str:
    """Say what the board runs and was not considered; empty if nothing."""
    from joulemark.analysis.advice import left_out, on_request

    asked = answer.question
    if asked.implementations or (measured and asked.primitives):
        return ""
    have = {o.build[:2] for o in answer.found}
    if measured:
        return on_request(have, asked.board, asked.algorithms())
    return left_out(
        have,
        asked.board,
        asked.algorithms(),
        able=lambda way: not answer.demands.objects_unmeasured(way),
    )


def _explain(removed: "Mapping[str, Mapping[str, int]]") -> None:
    typer.echo(
        "\nremoved by each demand, whatever the others remove:"
        if removed
        else "\nno demand removes anything"
    )
    for reason, builds in sorted(removed.items(), key=lambda item: -len(item[1])):
        typer.echo(f"  {reason}:")
        by_primitive: dict[str, list[str]] = {}
        for name, count in builds.items():
            primitive, _, implementation = name.partition("/")
            counted = f" ({count} build{'s' if count > 1 else ''})" if count else ""
            by_primitive.setdefault(primitive, []).append(implementation + counted)
        for primitive, implementations in sorted(by_primitive.items()):
            typer.echo(f"    {primitive}: {', '.join(implementations)}")


def _show(answer: "Answer", by: By, top: int, use: UseOptions, form: Form) -> None:
    from joulemark.analysis import choice

    good = answer.good
    chosen = choice.ranked(good, by.value) if form is Form.JSON else choice.shown(good, by.value)
    if form not in {Form.JSON, Form.CSV}:
        chosen = chosen[:top]
    rows = [answer.row(option, use.every) for option in chosen]
    errors = [option.errors for option in chosen]
    life = _life(answer, by, use)
    if form is Form.JSON:
        rows = [{**row, "errors": error} for row, error in zip(rows, errors, strict=True)]
        payload = {"question": str(answer.question), "candidates": rows, **life}
        typer.echo(json.dumps(payload, indent=1, ensure_ascii=False))
        return
    if form is Form.CSV:
        typer.echo(figures(rows, errors, form))
        return
    say(f"{answer.question}\n")
    asked_bytes = answer.question.message_bytes
    padded = [row["primitive"] for row in rows if row.get("bytes", asked_bytes) != asked_bytes]
    if not padded:
        rows = [{name: row[name] for name in row if name != "bytes"} for row in rows]
    say(figures(_starred(rows, form), errors, form, _FIRST_LEFT_OUT))
    hidden = len(good) - len(rows)
    more = f"; {hidden} more are dearer builds of these, or beyond --top" if hidden else ""
    say(f"\n*: on the Pareto front of time, energy, flash and RAM{more}")
    for line in _ranked_by(answer.question, by):
        say(line)
    if rows[0]["secrets"].endswith("(claimed)"):
        first = rows[0]["primitive"]
        accelerated = choice.is_accelerated(chosen[0].build)
        tells = "an accelerator is not followed" if accelerated else "`joulemark leaks` does"
        say(f"that {first} keeps its secrets is claimed; trials cannot tell: {tells}")
    if padded:
        say(f"bytes: the smallest message that was measured of it and holds {asked_bytes}")
    if (cheaper := answer.leaking(by.value)) is not None:
        say(f"with --no-constant-time first: {_named(cheaper)}; {cheaper.secrets}")
    for line in life.values():
        say(line)


def _starred(rows: "Sequence[Mapping[str, Any]]", form: Form) -> list[dict[str, Any]]:
    """Return rows for a terminal, where the column of stars is as narrow as a star."""
    title = "*" if form is Form.TEXT else "front"
    return [{title if n == "front" else n: v for n, v in row.items()} for row in rows]


_FIRST_LEFT_OUT = ("bits", "RAM", "stack", "secrets", "time µs")
"""Columns that a narrow terminal omits, in this order."""


_SEVERAL_LEFT_OUT = ("bits", "secrets", "RAM", "stack", "build", "flash", "time µs")


_UPDATES_LEFT_OUT = ("bits", "stack", "build", "RAM")


def _named(option: "Option") -> str:
    """Return a build with its costs."""
    build = option.build
    return (
        f"{build.primitive}, {build.implementation}, {build.built}: "
        f"{option.time_s * 1e6:,.4g} µs, {option.energy_j * 1e6:,.4g} µJ, "
        f"{option.flash_bytes:,} B flash"
    )


def _hardware(answer: "Answer") -> None:
    """Point out the board's accelerators that could do some of it where nothing here uses them."""
    from joulemark.catalogue.primitives import library

    known = library()
    ways = {way.algorithm.name for way in answer.unmeasured}
    names = {o.build.primitive for o in answer.found} | ways
    for engine in answer.question.board.accelerator:
        # A store may have algorithms of others, or some that no longer exist.
        there = (known.algorithms[name] for name in names if name in known.algorithms)
        used = {
            algorithm.name
            for algorithm in there
            if any(engine.name in way.accelerators for way in known.implementations(algorithm))
        }
        able = sorted(
            name
            for name in names - used
            if any(fnmatchcase(name, pattern) for pattern in engine.primitives)
        )
        if able:
            say(
                f"hardware for {', '.join(able)}: {engine.description}; not measured here "
                f"({engine.grade}: {engine.source})"
            )


def _life(answer: "Answer", by: By, use: UseOptions) -> dict[str, str]:
    """Return the battery life with the best option, beside that of the sleeping board."""
    from joulemark.analysis import choice
    from joulemark.analysis.budget import life_text, lifetime_s
    from joulemark.analysis.scenario import Battery
    from joulemark.meters.model import ModelMeter
    from joulemark.records import bounds

    if use.every is None:
        return {}
    first, board = answer.first(by.value), answer.question.board
    idle = ModelMeter(board, answer.question.clock).idle
    battery = Battery.of_mah(use.battery_mah, "--battery-mah")
    security_a = first.energy_j / board.supply_v.value / use.every
    asleep_s, both_s = (
        lifetime_s(battery, ampere) for ampere in (idle.ampere, idle.ampere + security_a)
    )
    idle_mah = idle.ampere * choice.YEAR_S / 3.6
    return {
        "battery": (
            f"a battery of {use.battery_mah:g} mAh that discharges itself by 3% a year feeds the "
            f"board asleep ({idle_mah:.4g} mAh a year) {life_text(asleep_s)}, with "
            f"{first.build.primitive} every {use.every:g} s {life_text(both_s)}; radio and "
            "sensors are not in it: `joulemark budget` has them (asleep: "
            f"{bounds.of_grade(board, idle.grade)})"
        )
    }
