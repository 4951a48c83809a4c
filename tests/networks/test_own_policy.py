"""A policy of one's own in a security architecture, from a folder of `--source`."""

from pathlib import Path

import pytest

from command import joulemark
from joulemark.campaign.case import Build
from joulemark.catalogue import boards
from joulemark.catalogue.architectures import Architecture, load_architecture
from joulemark.errors import InputError, VerificationError
from joulemark.images import memory
from joulemark.project import using
from joulemark.subjects.architecture.measure import Pricing


@pytest.fixture
def own(tmp_path: Path) -> Path:
    joulemark("new", "policy", "plain", "--out", str(tmp_path))
    return tmp_path


def pricing(architecture: Architecture) -> Pricing:
    return Pricing(
        architecture=architecture,
        board=boards.load_board("telosb"),
        clock="tinyos",
        build=Build(compiler="clang", optimisation="Os"),
        repetitions=1,
        executions=2,
        seed=1,
    )


def test_it_is_priced_in_memory_time_energy_and_bytes(own: Path) -> None:
    before = load_architecture("plasa")
    with using(own):
        found = load_architecture("plasa")
        assert found.digest != before.digest
        assert found.oracle.on_air()["plain: secure"] == 7
        # Of memory, the two wirings whose difference is the policy's.
        priced = pricing(found)
        without, with_it = (
            memory.total(priced._image(found.application, [name]))
            for name in ("STaR", "STaR's engine: plain")
        )
        assert 40 < with_it.less(without).flash_bytes < 400
        rows = {r.subject.row: r for r in pricing(found).made("processing")}
        # The network has its own policies; of this one's bytes the sum is computed.
        alone = pricing(found.model_copy(update={"air": None}))
        on_air = {r.subject.row: r for r in alone.made("communication")}
    secured, bare = rows["plain: secure"], rows["STaR: secure"]
    assert (secured.value("cycles") or 0) > (bare.value("cycles") or 0) > 100
    assert (secured.value("energy_gross") or 0) > (bare.value("energy_gross") or 0) > 0
    assert rows["plain: unsecure"].value("time")
    assert on_air["plain: secure"].value("on_air") == 7
    assert on_air["plain: secure"].value("energy", "radio")
    assert "plain: secure" not in load_architecture("plasa").oracle.on_air()


def test_an_output_that_its_oracle_does_not_give_is_no_price(own: Path) -> None:
    oracle = own / "plain" / "oracle.py"
    oracle.write_text(oracle.read_text().replace("payload + boots", "payload[::-1] + boots"))
    with using(own), pytest.raises(VerificationError, match="plasa, plain: secure"):
        pricing(load_architecture("plasa")).made("processing")


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("modules.toml", '"plasa"', '"plaza"', "no such architecture: plaza"),
        ("modules.toml", "engine: plain", "engine: SHA-1", "plasa has a module STaR's engine: SHA"),
        ("modules.toml", '["STaR"]', '["Star"]', "there is no module Star"),
        ("oracle.py", "NUMBER = 6", "NUMBER = 2", "2 is no number of a policy that is free"),
        ("oracle.py", "OVERHEAD = 6", "", "there is no OVERHEAD"),
        ("modules.toml", '"plasa"', '"link-security"', "link-security takes no oracle of others"),
    ],
)
def test_a_wrong_file_is_one_message(
    own: Path, file: str, old: str, new: str, message: str
) -> None:
    path = own / "plain" / file
    path.write_text(path.read_text().replace(old, new))
    if "link" in new:
        text = path.read_text().replace("STaR's engine: ", "").replace('["STaR"]', "[]")
        path.write_text(text)
    with using(own), pytest.raises(InputError) as caught:
        load_architecture("link-security" if "link" in new else "plasa").oracle.on_air()
    assert message in str(caught.value)
    assert str(own / "plain") in str(caught.value) or "key module" in str(caught.value)
