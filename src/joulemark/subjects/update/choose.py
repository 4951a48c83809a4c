"""Answers which signature suits a board's bootloader, and prices what nobody has priced of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from joulemark.analysis.advice import Candidate
from joulemark.analysis.choice import Demands, Judged, Option
from joulemark.campaign.options import checked
from joulemark.catalogue import boards
from joulemark.catalogue.boards import Board
from joulemark.catalogue.near import near
from joulemark.conduct import Means, Work, joined
from joulemark.errors import InputError
from joulemark.records import bounds
from joulemark.records.record import Record, of_type
from joulemark.records.store import Store
from joulemark.subjects.update import UpdateSubject, page
from joulemark.subjects.update.layout import by_name, check_board
from joulemark.subjects.update.measure import plan
from joulemark.subjects.update.options import UpdateOptions
from joulemark.subjects.update.signatures import ALL, Signature

KIND = "update"
"""What is asked for instead of a kind of primitives."""
_STAGES = ("hash", "verify", "erase", "write", "read", "install")


def energy_nj(record: Record[UpdateSubject]) -> tuple[float, bool]:
    """Return the energy of an update, and whether it is received by radio.

    Without a radio in the board's file, it is received over the serial line.
    """
    by_radio = record.value("energy_gross", "radio")
    computed = sum(record.value("energy_gross", stage) or 0 for stage in _STAGES)
    received = record.value("energy_gross", "receive") if by_radio is None else by_radio
    return computed + (received or 0), by_radio is not None


@dataclass(frozen=True, kw_only=True)
class UpdateQuestion:
    """Which signature suits updates of a board."""

    board: Board
    image: str
    """Size of the image, such as 64K."""
    signatures: tuple[str, ...] = ()
    """Globs; all if empty."""
    implementations: tuple[str, ...] = ()
    """Globs; if empty, the fastest of each signature and those that save memory."""
    post_quantum: bool = False
    stateless: bool = False

    def __str__(self) -> str:
        return f"updates of {self.options().image_bytes:,} bytes, on {self.board.name}"

    def options(self, signature: str = "", implementation: str = "") -> UpdateOptions:
        """Return the options of `joulemark update` that price a signature."""
        given = {
            "board": [self.board.name],
            "image": self.image,
            "signature": [signature] if signature else [],
            "implementation": implementation,
        }
        return checked(UpdateOptions, given)

    def considered(self) -> list[Signature]:
        """Return the signatures in question, whatever is demanded."""
        globs = self.signatures or ("*",)
        return [s for s in ALL.values() if any(fnmatchcase(s.name, g) for g in globs)]

    def ways(self, signature: Signature) -> list[str]:
        """Return the implementations in question."""
        names = list(by_name(self.board, signature))
        if self.implementations:
            return [n for n in names if any(fnmatchcase(n, g) for g in self.implementations)]
        own = names[0].count("-lean") if names else 0
        return [n for n in names if n == names[0] or n.count("-lean") > own]

    def objections(self, signature: Signature, demands: Demands) -> list[str]:
        """Return the demands that a signature cannot meet, whatever it costs."""
        found = demands.objects_known(signature.status, signature.security_bits)
        if self.post_quantum and not signature.is_post_quantum:
            found.append("a signature that withstands a quantum computer")
        if self.stateless and signature.has_state:
            found.append("a signer that keeps no state")
        return found


@dataclass(frozen=True, kw_only=True)
class UpdateAnswer(Judged):
    """What suits, and what does not."""

    question: UpdateQuestion
    by_radio: bool
    failures: Mapping[str, str]
    """What does not fit the board, and by how much, by signature and implementation."""

    def row(self, option: Option, every_s: float | None = None) -> dict[str, Any]:
        """Return an option as users see it, by column.

        Args:
            option: one of `good`.
            every_s: seconds between updates, for the charge of a year.
        """
        build = option.build
        row: dict[str, Any] = {
            "front": "*" if build in self.on_front else "",
            "signature": build.primitive,
            "implementation": build.implementation,
            "build": build.built,
            "boot ms": option.time_s * 1e3,
            "update mJ": option.energy_j * 1e3,
            "flash": option.flash_bytes,
            "RAM": option.ram_bytes,
            "stack": option.stack_bytes,
            "bits": option.security_bits,
        }
        if every_s is not None:
            row["mAh a year"] = option.mah_a_year(every_s, self.question.board.supply_v.value)
        return row

    def advice(self, shown: Sequence[Option]) -> list[str]:
        """Say what the figures are of, and what whoever takes one of those has to know."""
        received = "radio" if self.by_radio else "the serial line"
        lines = [
            "boot: from reset to an unchanged image, its signature checked; energy: of an update "
            f"received by {received}; flash: bootloader and keys"
        ]
        names = dict.fromkeys(option.build.primitive for option in shown)
        for names_of, what, leave_out in (
            (
                [name for name in names if ALL[name].has_state],
                "the signer must never use a state twice, not even after a backup is restored",
                "--stateless",
            ),
            (
                [name for name in names if not ALL[name].is_post_quantum],
                "a quantum computer would forge it",
                "--post-quantum",
            ),
        ):
            if names_of:
                left_out = f"{leave_out} leaves {'it' if len(names_of) == 1 else 'them'} out"
                lines.append(f"{', '.join(names_of)}: {what}; {left_out}")
        lines += page.of_images(names)
        return lines


def question(
    board: str,
    image: str,
    *,
    signature: Sequence[str] = (),
    implementation: Sequence[str] = (),
    post_quantum: bool = False,
    stateless: bool = False,
) -> UpdateQuestion:
    """Return a question from what a user gives.

    Args:
        board: the board.
        image: size of the image, such as 64K.
        signature: names or globs; all if empty.
        implementation: names or globs; the fastest and those that save memory if empty.
        post_quantum: whether it has to withstand a quantum computer.
        stateless: whether the signer must not have to keep a state.

    Raises:
        InputError: there is no such board, bootloader, signature or implementation.
    """
    described = boards.load_board(board)
    check_board(described)
    asked = UpdateQuestion(
        board=described,
        image=image,
        signatures=tuple(signature),
        implementations=tuple(implementation),
        post_quantum=post_quantum,
        stateless=stateless,
    )
    asked.options()
    some = asked.considered()
    if not some:
        what = f"{', '.join(signature)} matches no signature of updates"
        raise InputError(what, "--primitive", near(signature[0], ALL))
    if not any(asked.ways(one) for one in some):
        known = sorted({name for one in some for name in by_name(described, one)})
        what = f"{', '.join(implementation)} matches nothing that runs there"
        raise InputError(what, "--implementation", near(implementation[0], known))
    return asked


def work(asked: UpdateQuestion, demands: Demands, means: Means) -> Work:
    """Return the work of pricing what may meet the demands."""
    wanted = [
        asked.options(signature.name, way)
        for signature in asked.considered()
        if not asked.objections(signature, demands)
        for way in asked.ways(signature)
    ]
    means.progress.building(*[len(wanted)] * 3)
    works = []
    for options in wanted:
        works.append(plan(options, means))
        means.progress.built()
    return joined(works)


def answer(asked: UpdateQuestion, demands: Demands, store: Store) -> UpdateAnswer:
    """Answer from a store.

    Raises:
        InputError: there is nothing to answer from.
    """
    board = asked.board
    records = of_type(store.of_board(board.name, board.default_clock), UpdateSubject)
    refused = {
        f"{signature.name}/{way}": reasons
        for signature in asked.considered()
        if (reasons := asked.objections(signature, demands))
        for way in asked.ways(signature)
    }
    signatures = {s.name for s in asked.considered() if not asked.objections(s, demands)}
    size = asked.options().image_bytes
    some = [
        r
        for r in records
        if r.subject.signature in signatures
        and (r.subject.image_bytes, r.subject.frame_header_bytes) == (size, 0)
        and _allowed(asked, r.subject.implementation)
    ]
    good = [r for r in some if r.status == "ok"]
    if not some and not refused:
        what = f"nothing of this was priced: {asked}"
        raise InputError(what, store.name, "leave --stored out, and it is")
    return UpdateAnswer(
        question=asked,
        demands=demands,
        found=[_option(record) for record in good],
        unmeasured=refused,
        by_radio=any(energy_nj(record)[1] for record in good),
        failures=_failures(record for record in some if record.status == "failed"),
    )


def _allowed(asked: UpdateQuestion, implementation: str) -> bool:
    globs = asked.implementations
    return not globs or any(fnmatchcase(implementation, glob) for glob in globs)


def _failures(records: Iterable[Record[UpdateSubject]]) -> dict[str, str]:
    return {
        f"{r.subject.signature}/{r.subject.implementation}": r.failure or "it failed"
        for r in records
    }


def _option(record: Record[UpdateSubject]) -> Option:
    what, built = record.subject, record.build
    signature = ALL[what.signature]

    def bytes_of(*names: str) -> int:
        return sum(int(record.value(name) or 0) for name in names)

    how = ("", "") if built is None else (built.optimisation, built.compiler)
    return Option(
        build=Candidate(what.signature, what.implementation, *how),
        message_bytes=what.image_bytes,
        status=signature.status,
        security_bits=signature.security_bits,
        one_time_key=False,
        claims=True,  # nothing that it verifies is secret
        addresses_alone=False,
        leaks=False,
        time_leaks=False,
        trials=0,
        cycles=0,
        time_s=(record.value("time", "boot") or 0) * 1e-12,
        energy_j=energy_nj(record)[0] * 1e-9,
        flash_bytes=bytes_of("flash", "flash_keys"),
        ram_bytes=bytes_of("ram"),
        stack_bytes=bytes_of("stack"),
        errors=bounds.of_record(record),
    )
