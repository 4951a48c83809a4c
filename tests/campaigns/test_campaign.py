"""Campaign files and what they expand to."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from joulemark.campaign.job import Setup
from joulemark.campaign.options import read
from joulemark.catalogue.primitives import Library
from joulemark.errors import InputError
from joulemark.subjects.primitive import PrimitiveSubject
from joulemark.subjects.primitive.cases import expand
from joulemark.subjects.primitive.options import DEFAULT_SIZES, PrimitiveOptions


@pytest.fixture(scope="module")
def library() -> Library:
    return Library.load()


def write(folder: Path, text: str) -> Path:
    path = folder / "campaign.toml"
    path.write_text(text)
    return path


def test_an_empty_file_is_the_default_campaign(tmp_path: Path) -> None:
    assert read(write(tmp_path, ""), {}) == read(None, {}) == [PrimitiveOptions()]


def test_the_default_boards_each_have_their_cores_compiler(library: Library) -> None:
    builds = expand(PrimitiveOptions(), library, Setup())
    assert {(f.board_name, f.build.compiler) for f in builds} == {
        ("telosb", "clang"),
        ("sensortag-cc2650", "gcc"),
        ("openmote-cc2538", "gcc"),
    }


def test_one_name_is_a_list_of_one_and_options_override(tmp_path: Path) -> None:
    path = write(tmp_path, 'primitive = "aes-128"\nsize = [16, 32]\nopt = ["O2"]\n')
    (campaign,) = read(path, {"opt": ["Os"], "board": None})
    assert isinstance(campaign, PrimitiveOptions)
    assert campaign.primitive == ("aes-128",)
    assert campaign.size == (16, 32)
    assert campaign.opt == ("Os",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("primitives = []", "primitives: unknown key.*primitive"),
        ('size = "16"', "size"),
        ("size = [-1]", "size.*must be at least 0"),
        ("size = [true]", "size"),
        ("size = []", "size"),
        ("trials = 0", "trials"),
        ("board = 7", "board"),
        ("board = \n", "not TOML.*line 1"),
    ],
)
def test_a_wrong_file_is_one_error_that_names_file_and_key(
    tmp_path: Path, text: str, message: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=message) as caught:
        read(path, {})
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "none.toml", {})


def test_the_default_campaign_has_every_kind_and_operation(library: Library) -> None:
    cases = [c for cases in expand(PrimitiveOptions(), library, Setup()).values() for c in cases]
    subjects = [c.subject for c in cases]
    assert all(isinstance(s, PrimitiveSubject) for s in subjects)
    found = {(s.kind, s.operation) for s in subjects if isinstance(s, PrimitiveSubject)}
    contracts = {a.kind: a.contract for a in library.algorithms.values()}
    kinds = {name: k for name, k in contracts.items() if not k.file.on_request}
    assert found == {(name, o) for name, kind in kinds.items() for o in kind.measured}
    assert len({c.digest for c in cases}) == len(cases)


@settings(deadline=None)
@given(sizes=st.lists(st.integers(0, 300), min_size=1, max_size=8, unique=True))
def test_sizes_fit_their_primitive(sizes: list[int]) -> None:
    library = Library.load()
    campaign = PrimitiveOptions(primitive=("aes-128*",), size=tuple(sizes), operation=("encrypt",))
    try:
        expanded = expand(campaign, library, Setup())
    except InputError:
        assert not [s for s in sizes if s]
        return
    for firmware, cases in expanded.items():
        algorithm = library[firmware.primitive]
        asked = [s for s in sizes if not algorithm.whole_blocks or (s and s % 16 == 0)]
        way = library.implementation(algorithm, firmware.implementation)
        asked = [s for s in asked if way.takes(s, 0)]
        assert sorted({vars(c.subject)["message_bytes"] for c in cases}) == sorted(asked)


@pytest.mark.parametrize(
    ("field", "option"),
    [
        ("primitive", "--primitive"),
        ("implementation", "--implementation"),
        ("operation", "--operation"),
    ],
)
def test_a_name_that_matches_nothing_is_an_error_with_what_there_is(
    library: Library, field: str, option: str
) -> None:
    with pytest.raises(
        InputError, match=f"{option}: nonsense matches nothing; (there are .+|did you mean .+)"
    ):
        expand(PrimitiveOptions.model_validate({field: ["nonsense"]}), library, Setup())


@pytest.mark.parametrize("size", [0, 15, 65535])
@pytest.mark.parametrize("operation", ["*", "encrypt"])
def test_sizes_that_fit_no_primitive_are_an_error(
    library: Library, size: int, operation: str
) -> None:
    campaign = PrimitiveOptions(primitive=("aes-128",), size=(size,), operation=(operation,))
    with pytest.raises(InputError, match=r"--size: aes-128 takes other sizes; .* of 16 up to"):
        expand(campaign, library, Setup())
    # Operations without a size are still measured.
    assert expand(campaign.model_copy(update={"operation": ("init",)}), library, Setup())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": (1025,)}, r"--size: aes-128-ccm takes other sizes; give 0 to 1024"),
        ({"ad_size": (257,)}, r"--ad-size: images have room for 256 bytes .*; give 0 to 256"),
    ],
)
def test_inputs_that_images_have_no_room_for_are_an_error(
    library: Library, change: dict[str, tuple[int]], message: str
) -> None:
    campaign = PrimitiveOptions(
        board=("telosb",), primitive=("aes-128-ccm",), implementation=("ref",), opt=("O3",)
    )
    with pytest.raises(InputError, match=message):
        expand(campaign.model_copy(update=change), library, Setup())
    # What fits is still measured.
    fitting = {name: (*sizes, 0) for name, sizes in change.items()}
    (cases,) = expand(campaign.model_copy(update=fitting), library, Setup()).values()
    subjects = [c.subject for c in cases if isinstance(c.subject, PrimitiveSubject)]
    assert {s.message_bytes for s in subjects} <= {0, *DEFAULT_SIZES}


def test_some_kinds_are_measured_on_request_only(library: Library) -> None:
    def kinds(**narrowed: object) -> set[str]:
        asked = {"board": ("telosb",), "opt": ("O3",), **narrowed}
        campaign = PrimitiveOptions.model_validate(asked)
        return {firmware.kind for firmware in expand(campaign, library, Setup())}

    everything = kinds()
    assert "aead" in everything
    assert "handshake" not in everything
    assert kinds(kind=("handshake",)) == {"handshake"}
    assert kinds(primitive=("edhoc-*",)) == {"handshake"}


def test_some_implementations_are_measured_on_a_core_on_request_only(library: Library) -> None:
    def ways(**keys: object) -> set[tuple[str, str]]:
        expanded = expand(PrimitiveOptions.model_validate(keys), library, Setup())
        return {(f.board_name, f.implementation) for f in expanded if f.primitive == "x25519"}

    boards = ("telosb", "openmote-cc2538")
    by_default = ways(board=boards)
    assert ("telosb", "msp430") in by_default
    assert ("telosb", "limbs16") not in by_default
    assert ("openmote-cc2538", "armv7m") in by_default
    assert ("openmote-cc2538", "limbs32") not in by_default
    assert ("openmote-cc2538", "limbs16") in ways(board=boards, primitive="x25519")
    assert ("openmote-cc2538", "limbs16") in ways(board=boards, implementation="limbs16")
    assert ("openmote-cc2538", "limbs16") in ways(board=boards, kind="key-agreement")
    # A Cortex-M4 also runs code for ARMv7-M, but has better.
    assert ways(board="nrf52840-dk") == {("nrf52840-dk", "armv7em")}
    assert ("nrf52840-dk", "armv7m") in ways(board="nrf52840-dk", primitive="x25519")
    assert ("openmote-cc2538", "armv7em") not in ways(board=boards, primitive="x25519")


def test_an_unknown_board_or_clock_is_an_error(library: Library) -> None:
    with pytest.raises(InputError, match="telosb"):
        expand(PrimitiveOptions(board=("telosc",)), library, Setup())
    with pytest.raises(InputError, match="9 GHz"):
        expand(PrimitiveOptions(clock=("9 GHz",)), library, Setup())
