"""The interface for notebooks and scripts: what `import joulemark` gives."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pandas as pd

    from joulemark._engine import Machine
    from joulemark.analysis.budget import Budget
    from joulemark.analysis.choice import Demands, Metric
    from joulemark.campaign.options import Options
    from joulemark.catalogue.boards import Board
    from joulemark.measure.bench import Workers
    from joulemark.project import Folders
    from joulemark.records.store import Store
    from joulemark.subjects.update.choose import UpdateAnswer, UpdateQuestion

DEFAULT_STORE = "results/joulemark.db"

Names = str | Sequence[str]
Sizes = int | Sequence[int]


def open_store(location: "str | Path" = DEFAULT_STORE) -> "Store":
    """Open a results store for reading; close it, or use it in a `with` statement.

    Args:
        location: a file, or an SQLAlchemy URL.

    Raises:
        StoreError: there is no store, or it cannot be read.
    """
    from joulemark.records.store import Store

    return Store(location, "read")


def results(
    location: "str | Path" = DEFAULT_STORE, *, history: bool = False, long: bool = False
) -> "pd.DataFrame":
    """Return the records of a store as a data frame: one row per record, one column per quantity.

    Args:
        location: a file, or an SQLAlchemy URL.
        history: all records, not only the latest of each case.
        long: one row per quantity instead of per record.

    Raises:
        StoreError: there is no store, or it cannot be read.
    """
    from joulemark.records.export import flat_frame, long_frame

    with open_store(location) as opened:
        records = opened.records(history=history)
    return long_frame(records) if long else flat_frame(records)


def run(
    *,
    store: "str | Path" = DEFAULT_STORE,
    campaign: "str | Path | None" = None,
    board: Names | None = None,
    clock: Names | None = None,
    primitive: Names | None = None,
    implementation: Names | None = None,
    operation: Names | None = None,
    size: Sizes | None = None,
    ad_size: Sizes | None = None,
    compiler: Names | None = None,
    opt: Names | None = None,
    trials: int | None = None,
    seed: int | None = None,
    processes: int | None = None,
    cluster: str | None = None,
    source: "Folders | None" = None,
) -> "pd.DataFrame":
    """Measure a campaign on emulated boards; cases that the store already holds are not repeated.

    The arguments are those of `joulemark run`, each one value or several; names may be globs. A
    script must call this under `if __name__ == "__main__":`, because worker processes import it.

    Args:
        store: a file, or an SQLAlchemy URL; created if it does not exist.
        campaign: a TOML file, which the arguments override.
        board: boards.
        clock: clock profiles.
        primitive: primitives.
        implementation: implementations.
        operation: operations.
        size: message sizes in bytes.
        ad_size: sizes of associated data in bytes.
        compiler: compilers.
        opt: optimisation levels.
        trials: executions of each case, each with its own random inputs.
        seed: seed of the random inputs.
        processes: cases measured at a time; one per core if not given.
        cluster: use Dask's workers instead, as given to `joulemark run --cluster`.
        source: folders of your own primitives, boards and chips.

    Returns:
        The campaign's records, failed ones included, as a data frame like that of `results`.

    Raises:
        InputError: a name matches nothing, or a value is invalid.
        ToolError: a compiler is missing.
        LinkError: the cluster does not answer.
        StoreError: the store cannot be written.
    """
    from joulemark import project
    from joulemark.campaign.options import read

    given = {
        "board": board,
        "clock": clock,
        "primitive": primitive,
        "implementation": implementation,
        "operation": operation,
        "size": size,
        "ad_size": ad_size,
        "compiler": compiler,
        "opt": opt,
        "trials": trials,
        "seed": seed,
    }
    with project.using(source):
        asked = read(None if campaign is None else Path(campaign), given)
        return _conducted(asked, store, processes, cluster)


def _conducted(
    asked: "Sequence[Options]",
    store: "str | Path",
    processes: int | None,
    cluster: str | None = None,
) -> "pd.DataFrame":
    """Measure tables of a campaign, and return their records."""
    from joulemark.conduct import Means, conduct, plan
    from joulemark.measure.cluster import workers_of
    from joulemark.records.export import flat_frame
    from joulemark.records.store import Store

    with Store(store) as opened, workers_of(cluster, processes) as workers:
        works = [plan(one, Means(workers=workers)) for one in asked]
        found = [record for work in works for record in conduct(work, opened).records(opened)]
    return flat_frame(sorted(found, key=lambda r: r.order))


def _several(names: Names | None) -> Sequence[str]:
    return [names] if isinstance(names, str) else names or ()


def choose(
    board: Names,
    kind: str,
    *,
    size: int | None = None,
    ad_size: int = 0,
    clock: str | None = None,
    operation: Names | None = None,
    primitive: Names | None = None,
    implementation: Names | None = None,
    hardware: bool = True,
    sort: "Metric" = "energy",
    stored: bool = False,
    store: "str | Path" = DEFAULT_STORE,
    processes: int | None = None,
    source: "Folders | None" = None,
    image: str | None = None,
    post_quantum: bool = False,
    stateless: bool = False,
    **demands: Any,
) -> "pd.DataFrame":
    """Rank the builds that meet an application's demands, as `joulemark choose` does.

    What was not measured is measured first, with every compiler and optimisation level.
    For `kind="update"`, signatures of bootloaders are ranked.

    Args:
        board: the board; or several, of which each primitive's best build is shown.
        kind: what for: aead, hash, mac, ...; kinds that serve the same are considered, too.
        size: message size in bytes; 64 if not given, where there is a message.
        ad_size: size of the associated data in bytes.
        clock: clock profile; the board's first if not given.
        operation: operations run for each message; the kind's if not given.
        primitive: consider only these; names may be globs.
        implementation: consider only these; names may be globs.
        hardware: consider what uses an accelerator.
        sort: quantity to rank by: energy, time, flash, ram or stack.
        stored: use only what the store holds.
        store: a file, or an SQLAlchemy URL; created if it does not exist.
        processes: cases measured at a time; one per core if not given.
        source: folders of your own primitives, boards and chips.
        image: of updates, the size of the image, such as "32K"; 64K if not given.
        post_quantum: of updates, it has to withstand a quantum computer.
        stateless: of updates, its signer must not have to keep a state.
        **demands: status ("standard", "finalist", ...), constant_time (True unless time_alone),
            time_alone, one_time_key, security_bits, max_flash_bytes, max_ram_bytes,
            max_stack_bytes, max_memory_bytes, max_time_s.

    Returns:
        A row per build, the answer first; empty if nothing meets all demands. Of several boards,
        a row per board and primitive; of what does not fit it has the missing bytes and no costs.

    Raises:
        InputError: a name matches nothing, or a value is invalid.
        ToolError: a compiler is missing.
        StoreError: the store cannot be read or written.
    """
    import pandas as pd

    from joulemark import project
    from joulemark.analysis.choice import demands as checked
    from joulemark.analysis.choice import metric, ranked
    from joulemark.conduct import Means, conduct
    from joulemark.errors import InputError
    from joulemark.measure.cluster import workers_of
    from joulemark.records.store import Store
    from joulemark.subjects.primitive import choose as choosing
    from joulemark.subjects.primitive.several import Several
    from joulemark.subjects.update import choose as updating

    wanted_of, by, names = checked(**demands), metric(sort), _several(board)
    if not names:
        raise InputError("no board is named", "board", "name one or more")
    of_updates = {"image": image, "post_quantum": post_quantum, "stateless": stateless}
    with project.using(source), Store(store, "read" if stored else "create") as opened:
        if kind == "update":
            not_taken = {
                "size": size,
                "ad_size": ad_size,
                "clock": clock,
                "operation": operation,
                "hardware": not hardware,
            }
            _refuse(not_taken, "an update takes no such argument")
            if len(names) > 1:
                raise InputError("updates are of one board", "board", "give one board")
            of_update = _choose_update(
                opened,
                updating.question(
                    names[0],
                    image or "64K",
                    signature=_several(primitive),
                    implementation=_several(implementation),
                    post_quantum=post_quantum,
                    stateless=stateless,
                ),
                wanted_of,
                None if stored else workers_of(None, processes),
            )
            rows = [of_update.row(o) | {"errors": o.errors} for o in ranked(of_update.good, by)]
            return pd.DataFrame(rows)
        _refuse(of_updates, 'it is for kind="update"')
        asked = [
            choosing.question(
                name,
                kind,
                size=size,
                ad_size=ad_size,
                clock=clock,
                operation=_several(operation),
                primitive=_several(primitive),
                implementation=_several(implementation),
                hardware=hardware,
            )
            for name in dict.fromkeys(names)
        ]
        if len(asked) > 1:
            several = Several.of(asked, wanted_of, stored=stored)
            if not stored:
                with workers_of(None, processes) as workers:
                    conduct(several.work(Means(workers=workers)), opened)
            return pd.DataFrame(several.answered(opened).rows(by))
        one = asked[0]
        choosing.check(one, wanted_of)
        wanted = None if stored else choosing.wanted(one, wanted_of)
        if wanted is not None and wanted.work is not None:
            with workers_of(None, processes) as workers:
                conduct(wanted.work(Means(workers=workers)), opened)
        found = choosing.answer(one, wanted_of, opened, wanted)
    rows = [found.row(o) | {"errors": o.errors} for o in ranked(found.good, by)]
    return pd.DataFrame(rows)


def _refuse(given: Mapping[str, Any], what: str) -> None:
    from joulemark.errors import InputError

    for name, value in given.items():
        if value:
            raise InputError(what, name, "leave it out")


def _choose_update(
    opened: "Store",
    asked: "UpdateQuestion",
    demanded: "Demands",
    workers: "AbstractContextManager[Workers] | None",
) -> "UpdateAnswer":
    from joulemark.conduct import Means, conduct
    from joulemark.subjects.update import choose as updating

    if workers is not None:
        with workers as used:
            conduct(updating.work(asked, demanded, Means(workers=used)), opened)
    return updating.answer(asked, demanded, opened)


def handshake(
    primitive: str = "edhoc-3-2-aes-128",
    *,
    store: "str | Path" = DEFAULT_STORE,
    processes: int | None = None,
    **options: Any,
) -> "pd.DataFrame":
    """Price a handshake as `joulemark handshake` does: what each side's steps cost.

    Args:
        primitive: the handshake.
        store: a file, or an SQLAlchemy URL; created if it does not exist.
        processes: cases measured at a time; one per core if not given.
        **options: keys of a campaign's table `[[handshake]]`: board, implementation, compiler, opt,
            optional, ad_size; or network, which runs it over the air.

    Returns:
        A record per step, or per side over the air, as a data frame like that of `results`.

    Raises:
        InputError: a name matches nothing, or a value is invalid.
        ToolError: a compiler is missing.
        StoreError: the store cannot be written.
    """
    from joulemark.campaign.options import checked
    from joulemark.subjects.handshake.options import HandshakeOptions

    asked = checked(HandshakeOptions, {"primitive": primitive, **options})
    return _conducted([asked], store, processes)


def leaks(
    primitive: Names,
    *,
    implementation: Names | None = None,
    operation: Names | None = None,
    board: Names | None = None,
    compiler: Names | None = None,
    opt: Names | None = None,
    branches: bool = False,
    one_way: bool = False,
    cover: bool = False,
    source: "Folders | None" = None,
) -> "pd.DataFrame":
    """Show what builds reveal of their secrets, as `joulemark leaks` does; nothing is stored.

    A program of one's own is `joulemark.measure.following.follow_call`.

    Args:
        primitive: primitives; names may be globs.
        implementation: implementations; all if not given.
        operation: operations; all that handle a secret if not given.
        board: boards; telosb and stm32vldiscovery if not given.
        compiler: compilers; the core's first if not given.
        opt: optimisation levels; all if not given.
        branches: also look at what decides branches by trials, which is slow.
        one_way: also name the branches that went one way.
        cover: follow secrets through other inputs too, and name those that reached more.
        source: folders of your own primitives, boards and chips.

    Returns:
        A row per operation of a build. `decided_by_secrets` has a list of dictionaries: what each
        instruction decides by which secret bytes, its function, file, line, address and text, how
        often, and the cycles that it costs at most; `branches` and `one_way` are lists like it.

    Raises:
        InputError: a name matches nothing.
        ToolError: a tool is missing.
    """
    import pandas as pd

    from joulemark import project
    from joulemark.measure.survey import survey
    from joulemark.records import bounds

    with project.using(source):
        found = survey(
            _several(primitive),
            implementation=_several(implementation),
            operation=_several(operation),
            board=_several(board),
            compiler=_several(compiler),
            opt=_several(opt),
            branches=branches,
            one_way=one_way,
            cover=cover,
        )
        rows = [one.row | {"errors": bounds.of_board(one.board, None)} for one in found]
    return pd.DataFrame(rows)


def leaks_power(
    primitive: Names,
    *,
    implementation: Names | None = None,
    operation: Names | None = None,
    board: Names | None = None,
    compiler: Names | None = None,
    opt: Names | None = None,
    traces: int = 400,
    weights: str = "equal",
    source: "Folders | None" = None,
) -> "pd.DataFrame":
    """Model power, and say what tells secrets apart, as `joulemark leaks --power` does.

    Args:
        primitive: primitives; names may be globs.
        implementation: implementations; all if not given.
        operation: operations; all that handle a secret if not given.
        board: boards; telosb and stm32vldiscovery if not given.
        compiler: compilers; the core's first if not given.
        opt: optimisation levels; all if not given.
        traces: traces of each.
        weights: `equal`, `elmo-m0`, `elmo-m3`, or a .npz file of recorded traces to fit them to.
        source: folders of your own primitives, boards and chips.

    Returns:
        A row per operation of a build, graded `model`. `instructions` has a list of dictionaries:
        what leaks, its function, file, line, address and text, by which component, and its t.

    Raises:
        InputError: a name matches nothing.
        ToolError: a tool is missing.
    """
    import pandas as pd

    from joulemark import project
    from joulemark.measure.power import weights_of
    from joulemark.measure.survey import Wanted, survey_power

    with project.using(source):
        wanted = Wanted(
            primitive=_several(primitive),
            implementation=_several(implementation),
            operation=_several(operation),
            board=_several(board),
            compiler=_several(compiler),
            opt=_several(opt),
        )
        found = survey_power(wanted, traces=traces, weights=weights_of(weights))
        rows = [names | each.row for names, each in found]
    return pd.DataFrame(rows)


def budget(
    scenario: "str | Path",
    *,
    store: "str | Path" = DEFAULT_STORE,
    processes: int | None = None,
    source: "Folders | None" = None,
) -> "Budget":
    """Work out where a device's current goes, as `joulemark budget` does.

    What the store does not have of the scenario's security is measured first.

    Args:
        scenario: a TOML file, or a scenario's name.
        store: a file, or an SQLAlchemy URL; created if it does not exist.
        processes: cases measured at a time; one per core if not given.
        source: folders of your own scenarios, primitives and boards.

    Raises:
        InputError: the scenario is invalid.
        ToolError: a compiler is missing.
        StoreError: the store cannot be written.
    """
    from joulemark import project
    from joulemark.analysis.budget import Costs, campaign
    from joulemark.analysis.budget import budget as compute
    from joulemark.analysis.scenario import read
    from joulemark.campaign.options import checked
    from joulemark.catalogue import files
    from joulemark.records.record import of_primitives
    from joulemark.records.store import Store
    from joulemark.subjects.primitive.options import PrimitiveOptions

    def costs() -> Costs:
        with Store(store) as opened:
            return Costs(of_primitives(opened.records()), opened.name)

    with project.using(source):
        known = files.names(project.SCENARIOS)
        asked = read(files.given(str(scenario), project.SCENARIOS, known))
        missing = [checked(PrimitiveOptions, campaign(s, asked)) for s in costs().missing(asked)]
        if missing:
            _conducted(missing, store, processes)
        found = costs()
        found.require(asked)
        return compute(asked, found)


def study(
    name: str,
    *,
    item: Names | None = None,
    short: bool = False,
    store: "str | Path" = DEFAULT_STORE,
    processes: int | None = None,
    source: "Folders | None" = None,
) -> dict[str, Any]:
    """Set a paper's numbers beside ours, as `joulemark study NAME --json` does.

    Args:
        name: the study.
        item: tables, sections or items; all if not given.
        short: only the items that the study marks as short; no causes, no best of today.
        store: a file, or an SQLAlchemy URL; created if it does not exist.
        processes: cases measured at a time; one per core if not given.
        source: folders of your own studies, primitives and boards.

    Returns:
        The counts of verdicts, and each item's `results`, in JSON's types.

    Raises:
        InputError: there is no such study or item, or its file is wrong.
        ToolError: a tool is missing.
        StoreError: the store cannot be written.
    """
    from joulemark import project
    from joulemark.measure.cluster import workers_of
    from joulemark.records.store import Store
    from joulemark.studies.conduct import judged
    from joulemark.studies.output import document
    from joulemark.studies.study import load
    from joulemark.studies.ways import Bench

    with (
        project.using(source),
        Store(store) as opened,
        workers_of(None, processes) as workers,
    ):
        bench = Bench(store=opened, workers=workers)
        return document(*judged(load(name), _several(item), bench, short=short))


def machine(
    image: "str | Path", *, board: str | None = None, chip: str | None = None, profile: bool = False
) -> "Machine":
    """Load an image into an emulated board or bare chip and reset it.

    Args:
        image: an ELF, Intel HEX or UF2 file.
        board: the board to emulate, with its devices.
        chip: the bare chip to emulate instead.
        profile: count cycles per function.

    Raises:
        InputError: not exactly one of board and chip is given, a name is unknown, or the image is
            invalid.
    """
    from joulemark._engine import EngineError, Image
    from joulemark._engine import Machine as Emulated
    from joulemark.catalogue import boards as catalogue
    from joulemark.catalogue import chips
    from joulemark.errors import InputError

    if (board is None) == (chip is None):
        raise InputError("one of board and chip says what to emulate", "machine", "give one")
    described = None if board is None else catalogue.load_board(board)
    try:
        return Emulated(
            chips.load_chip(described.chip if described else str(chip)),
            Image.load(image),
            wiring=described.wiring if described else None,
            profile=profile,
            trace=True,
        )
    except EngineError as error:
        raise InputError(str(error)) from error


def profile(
    image: "str | Path",
    board: str,
    *,
    operation: str | None = None,
    size: int | None = None,
    max_cycles: int | None = None,
    source: "Folders | None" = None,
) -> "pd.DataFrame":
    """Return what each function of an image costs on a board, as `joulemark profile` shows it.

    Args:
        image: an ELF, Intel HEX or UF2 file.
        board: the board that it runs on.
        operation: for an image that `run` built: only this operation's window.
        size: message size in bytes; 64 if not given, where the operation takes a message.
        max_cycles: stop after this many cycles.
        source: folders of your own boards and chips.

    Returns:
        A row per function, those with the most cycles first, and a last one for sleep, if any.

    Raises:
        InputError: a name is unknown, or the image is invalid.
        JoulemarkError: the program faults, or does not end.
    """
    import pandas as pd

    from joulemark import project
    from joulemark._engine import EngineError, Image
    from joulemark.catalogue import boards as catalogue
    from joulemark.errors import InputError
    from joulemark.measure.profiled import whole, window
    from joulemark.records import bounds

    with project.using(source):
        described = catalogue.load_board(board)
        try:
            program = Image.load(image)
        except (EngineError, OSError) as error:
            raise InputError(str(error)) from error
        if operation is None:
            found = whole(program, described, max_cycles=max_cycles)
        else:
            found = window(program, described, operation, size)
        if found.failure is not None:
            raise found.failure
        rows, asleep = found.by_function(described)
        grade = found.grade(described)
        errors = (
            bounds.of_program(described, grade)
            if operation is None
            else bounds.of_board(described, None, grade)
        )
    return pd.DataFrame([row | {"errors": errors} for row in [*rows, *asleep]])


def board(name: str) -> "Board":
    """Return the contents of a board's file.

    Raises:
        InputError: no board has that name.
    """
    from joulemark.catalogue import boards as catalogue

    return catalogue.load_board(name)


def boards() -> list[str]:
    """Return the names of the boards."""
    from joulemark.catalogue import boards as catalogue

    return catalogue.names()


def primitives() -> "pd.DataFrame":
    """Return the primitives: kind, status, security in bits, names of implementations."""
    import pandas as pd

    from joulemark.catalogue.primitives import library

    known = library()
    rows = [
        {
            "primitive": a.name,
            "kind": a.kind,
            "status": a.status,
            "security_bits": a.sizes.get("security_bits"),
            "implementations": [i.name for i in known.implementations(a)],
        }
        for a in sorted(known.algorithms.values(), key=lambda a: (a.kind, a.name))
    ]
    return pd.DataFrame(rows).astype({"security_bits": "Int64"})


def compare(base: "str | Path", head: "str | Path") -> "pd.DataFrame":
    """Return the changes from one store or export to another: one row per changed quantity.

    Args:
        base: a store's file or URL, or a file that `joulemark export` wrote.
        head: the store or file that is compared with it.

    Raises:
        InputError: a file cannot be read.
        StoreError: a store cannot be read.
    """
    import pandas as pd

    from joulemark.analysis.changes import Limits
    from joulemark.analysis.changes import compare as changes
    from joulemark.records.sides import rows

    found = changes(rows(str(base)), rows(str(head)), Limits())
    columns = ["case", "place", "state", "errors"]
    columns += ["quantity", "unit", "base", "head", "fraction"]
    nothing = (None,) * 5
    values: list[tuple[object, ...]] = []
    for c in found:
        case = (c.name, c.place, c.state, c.errors)
        values += [(*case, x.measure, x.unit, x.base, x.head, x.fraction) for x in c.changes]
        values += [] if c.changes else [(*case, *nothing)]
    return pd.DataFrame(values, columns=columns)
