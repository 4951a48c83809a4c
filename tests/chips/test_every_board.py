"""A case on every board that exists: no board is named here."""

from pathlib import Path

from command import joulemark
from joulemark.catalogue import boards
from joulemark.records.record import of_primitives
from joulemark.records.store import Store


def test_a_verified_hash_with_cycles_and_energy_on_every_board(tmp_path: Path) -> None:
    names = boards.names()
    assert names
    case = ("--primitive", "sha-256", "--implementation", "ref", "--opt", "Os", "--size", "64")
    chosen = [word for name in names for word in ("--board", name)]
    joulemark("run", *case, "--operation", "hash", "--seed", "1", *chosen, folder=tmp_path)
    with Store(tmp_path / "results" / "joulemark.db") as store:
        records = {r.conditions.board: r for r in of_primitives(store.records())}
    assert sorted(records) == sorted(names)
    for name, record in records.items():
        assert record.status == "ok", (name, record)
        assert record.cycles is not None, name
        # One block and its padding: two compressions of 64 rounds, each of some 20 operations on
        # words, which a 16-bit core does in halves.
        assert 2 * 64 * 10 < record.cycles < 2 * 64 * 2000, name
        energy = record.quantity("energy_gross")
        assert energy is not None, name
        assert energy.value is not None, name
        assert energy.value > 0, name
