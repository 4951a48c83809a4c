"""Images that need not be looked for again, and when they must be."""

from collections.abc import Callable
from pathlib import Path

import pytest

from joulemark.catalogue import boards
from joulemark.images import BuiltImage, cache, key_of, known, known_images, toolchain

TELOSB = boards.load_board("telosb")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with one source, and the cache beside it."""
    source = tmp_path / "firmware" / "one.c"
    source.parent.mkdir()
    source.write_text("int one;\n")
    monkeypatch.setattr(known, "_OF", (source.parent,))
    monkeypatch.setattr(known, "BUILD", tmp_path / "build")
    monkeypatch.setattr(cache, "BUILD", tmp_path / "build")
    return source


def made(name: str = "a") -> BuiltImage:
    with cache.entry("images", name) as (folder, work):
        if work is not None:
            (work / "image.elf").write_text(name)
    elf = folder / "image.elf"
    return BuiltImage(elf, name, {"build": name}, "a compiler", "-O3", False, elf)


def put(meanwhile: Callable[[], object] = lambda: None) -> BuiltImage:
    with known_images() as images:
        image = made()
        images.put("a key", image)
        meanwhile()
    return image


def got() -> BuiltImage | None:
    with known_images() as images:
        return images.get("a key")


def test_an_image_is_known_the_next_time(tree: Path) -> None:
    assert tree.exists()
    assert got() is None
    image, again = put(), got()
    assert again == image
    assert again.cached
    assert (again.description, again.stand_in) == (image.description, image.stand_in)
    with known_images() as images:
        assert images.get("another key") is None


@pytest.mark.parametrize("what", ["edited", "added", "renamed"])
def test_no_image_is_known_of_another_state(tree: Path, what: str) -> None:
    put()
    if what == "edited":
        tree.write_text("int two;\n")
    elif what == "added":
        (tree.parent / "two.c").write_text("")
    else:
        tree.rename(tree.with_name("two.c"))
    assert got() is None


def test_what_is_made_while_the_tree_changes_is_not_kept(tree: Path) -> None:
    put(lambda: tree.write_text("int two;\n"))
    assert got() is None
    tree.write_text("int one;\n")
    assert got() is None


def test_a_damaged_image_is_not_known(tree: Path) -> None:
    assert tree.exists()
    image = put()
    image.path.write_text("shorter or longer")
    assert got() is None


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"state": 1}', "\0"])
def test_a_damaged_list_is_made_anew(tree: Path, damage: str) -> None:
    put()
    (tree.parents[1] / "build" / "known.json").write_text(damage)
    assert got() is None
    put()
    assert got() is not None


def test_processes_at_once_keep_what_the_other_found(tree: Path) -> None:
    assert tree.exists()
    with known_images() as slow:
        slow.put("another key", made("b"))
        put()
    with known_images() as images:
        assert images.get("a key") is not None
        assert images.get("another key") is not None


def test_a_key_names_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(TELOSB, "max", "clang", "aes-128", "ref", "O3")
    assert before == key_of(TELOSB, "max", "clang", "aes-128", "ref", "O3")
    assert before != key_of(TELOSB, "max", "clang", "aes-128", "ref", "Os")
    found = toolchain.find("clang", TELOSB.core)
    newer = type(found)(found.name, found.path, f"{found.version} and a fix")
    monkeypatch.setattr(toolchain, "find", lambda *_: newer)
    assert before != key_of(TELOSB, "max", "clang", "aes-128", "ref", "O3")
