"""Comfort: completion, near names, sorting, output forms; and quick help."""

import os
import resource
import subprocess
import sys

import pytest

from command import joulemark


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("joulemark cho", "choose"),
        ("joulemark run --board tel", "telosb"),
        ("joulemark choose --kind ae", "aead"),
        ("joulemark run --primitive ascon-ae", "ascon-aead128"),
        ("joulemark exec x --chip msp", "msp430f1611"),
        ("joulemark profile x --board open", "openmote-cc2538"),
    ],
)
def test_a_shell_completes(words: str, expected: str) -> None:
    environment = {"_JOULEMARK_COMPLETE": "complete_bash", "COMP_WORDS": words}
    environment["COMP_CWORD"] = str(len(words.split()) - 1)
    done = subprocess.run(
        [sys.executable, "-c", "from joulemark.cli import main; main()"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [expected], done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--primitive", "aes128"), "did you mean aes-128"),
        (("run", "--kind", "hush"), "did you mean hash?"),
        (("run", "--implementation", "reff", "--primitive", "xtea"), "did you mean ref?"),
        (("run", "--operation", "encrpyt", "--primitive", "xtea"), "did you mean encrypt"),
        (("exec", "x", "--chip", "cc2651"), "did you mean cc2650"),
        (("list", "primitives", "--kind", "hush"), "did you mean hash?"),
        (("list", "primitives", "--sort", "statu"), "did you mean status?"),
        (("list", "boards", "--kind", "hash"), "have no kind"),
    ],
)
def test_a_wrong_name_is_answered_with_a_near_one(
    arguments: tuple[str, ...], message: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("comfort")
    (folder / "x").write_bytes(b"\x7fELF")
    assert message in joulemark(*arguments, code=3, folder=folder).stderr or "x" in arguments


def test_lists_are_sorted_and_formed() -> None:
    asked = ("list", "primitives", "--kind", "aead", "--sort", "status")
    lines = joulemark(*asked, "--format", "markdown").stdout.splitlines()
    cells = [line.strip("|").split("|") for line in lines]
    assert [cell.strip() for cell in cells[0][:3]] == ["primitive", "kind", "status"]
    assert {row[1].strip() for row in cells[2:]} == {"aead"}
    states = [row[2].strip() for row in cells[2:]]
    assert states == sorted(states)
    assert len(states) == len(joulemark(*asked).stdout.splitlines()) - 1


def test_kinds_choose_what_is_measured(tmp_path: "os.PathLike[str]") -> None:
    asked = ("run", "--kind", "hash", "--primitive", "*", "--board", "telosb", "--size", "16")
    chosen = ("--implementation", "ref", "--operation", "init", "--trials", "1")
    done = joulemark(*asked, *chosen, "--store", f"{os.fspath(tmp_path)}/s.db")
    assert "sha-256" in done.stdout
    assert "aes-128" not in done.stdout


def test_help_is_there_at_once() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = "from joulemark.cli import main; main()"
    subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # CPU time, because other tests run beside this one.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.3


def test_a_first_run_says_how_long_it_takes_only_where_that_is_known(
    tmp_path: "os.PathLike[str]",
) -> None:
    """A signature by hashing takes minutes: nothing says so before."""

    def told(*asked: str) -> str:
        only = ("--board", "stm32vldiscovery", "--implementation", "ref", "--opt", "O3")
        where = ("--store", f"{tmp_path}/{len(list(os.scandir(tmp_path)))}.db")
        stderr = joulemark("run", *only, *asked, *where).stderr
        return next(line for line in stderr.splitlines() if line.startswith("first run"))

    assert "1 image and 1 case, about 5 s on 1 core;" in told(
        *("--primitive", "xtea", "--operation", "init", "-j", "1")
    )
    public = ("--primitive", "x25519", "--implementation", "armv7m", "--trials", "1")
    assert "1 image and 2 cases, from milliseconds to minutes each;" in told(*public)
    assert "3 cases, about 5 s on 1 core, 2 of the cases from milliseconds to" in told(
        *(*public, "--primitive", "xtea", "--operation", "init"),
        *("--operation", "keygen", "--operation", "agree", "-j", "1"),
    )
