"""A library that is built from source: a small one, for this machine."""

import shutil
import subprocess
from pathlib import Path

import pytest

from command import joulemark
from joulemark.catalogue.libraries import FromSource, LibraryFile
from joulemark.errors import BuildError, InputError, ToolError
from joulemark.images.architectures import Architecture
from joulemark.images.from_source import Source, build
from joulemark.images.sysroot import OlderCompiler
from joulemark.measure.pool import Processes
from joulemark.records.store import Store
from joulemark.studies.ways import Bench
from joulemark.studies.ways import library as way
from joulemark.subjects.library.plan import LibraryJob

THIS = Architecture(name="x86-64", triple="x86_64-linux-gnu", flags=("-m64",), debian="", qemu=())
MAKEFILE = """\
static: libsmall.a
libsmall.a: small.o
\t$(AR) r $@ $^
\t$(RANLIB) $@
small.o: small.cpp small.h
\t$(CXX) $(CXXFLAGS) -c $<
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("joulemark.images.cache.BUILD", tmp_path / "build")
    folder = tmp_path / "small-1.0"
    folder.mkdir()
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "small.h").write_text("int small();\n")
    (folder / "small.cpp").write_text('#include "small.h"\nint small() { return ANSWER; }\n')
    return folder


def library(from_source: FromSource | None) -> LibraryFile:
    return LibraryFile(
        title="Small",
        language="c++",
        source="program.cpp",
        link=["-lsmall"],
        header="small/small.h",
        package="libsmall-dev",
        from_source=from_source,
    )


HOW = FromSource(
    package="small", makefile="Makefile", target="static", archive="lib*.a", include="small"
)
SMALL = library(HOW)


def test_it_is_built_once_for_each_flag_and_source(source: Path) -> None:
    one = build(SMALL, THIS, Source(str(source), ("-DANSWER=1",)))
    assert one.archive.read_bytes().startswith(b"!<arch>")
    assert (one.include / "small" / "small.h").read_text() == "int small();\n"
    assert one.what.startswith("small-1.0, built for x86-64 by ")
    assert one.what.endswith(" with -DANSWER=1")
    # The result is in the cache, with nothing added to the source's folder.
    assert {path.name for path in source.iterdir()} == {"Makefile", "small.h", "small.cpp"}
    made = one.archive.stat().st_mtime_ns
    assert build(SMALL, THIS, Source(str(source), ("-DANSWER=1",))).archive == one.archive
    assert one.archive.stat().st_mtime_ns == made
    assert build(SMALL, THIS, Source(str(source), ("-DANSWER=2",))).archive != one.archive
    (source / "small.h").write_text("int small(void);\n")
    assert build(SMALL, THIS, Source(str(source), ("-DANSWER=1",))).archive != one.archive


def test_it_is_built_by_an_earlier_compiler(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its command may have several words; here it is this machine's, with ANSWER defined in it."""
    asked: list[str] = []

    def older(target: Architecture, name: str) -> OlderCompiler:
        asked.append(name)
        return OlderCompiler((str(shutil.which("g++")), "-DANSWER=2"), Path("/nowhere"))

    monkeypatch.setattr("joulemark.images.sysroot.older_compiler", older)
    with pytest.raises(BuildError):
        build(SMALL, THIS, Source(str(source)))
    built = build(SMALL, THIS, Source(str(source), compiler="gcc-9"))
    assert built.archive.read_bytes().startswith(b"!<arch>")
    assert asked == ["gcc-9"]


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_a_release_is_fetched_by_its_tag(source: Path) -> None:
    git(source, "init", "-q")
    git(source, "add", ".")
    git(source, "commit", "-qm", "one")
    git(source, "tag", "V1_0")
    (source / "small.cpp").write_text("broken")
    tagged = library(HOW.model_copy(update={"repository": str(source)}))
    built = build(tagged, THIS, Source("tag:V1_0", ("-DANSWER=1",)))
    assert built.what.startswith("V1_0, built for x86-64 by ")
    shutil.rmtree(source / ".git")
    assert build(tagged, THIS, Source("tag:V1_0", ("-DANSWER=1",))).archive == built.archive
    with pytest.raises(ToolError, match="fetching V2_0"):
        build(tagged, THIS, Source("tag:V2_0"))
    with pytest.raises(InputError, match="no repository"):
        build(SMALL, THIS, Source("tag:V1_0"))


def test_an_experiment_that_cannot_be_made_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study's variants of a library: results of other builds are not served for them."""

    def none(*arguments: object) -> list[LibraryJob]:
        raise ToolError("no compiler")

    monkeypatch.setattr(way, "estimates", none)
    asked = way.Asked(
        machine="raspberry-pi-zero-w", library="cryptopp", algorithm="md5", operation="hash",
        of="rate",
    )  # fmt: skip
    variant = asked.model_copy(update={"source": "debian"})
    with Store(f"sqlite:///{tmp_path / 'store.db'}") as store:
        answer = way.obtain([variant], Bench(store=store, workers=Processes(1)))[variant]
        assert (answer.value, answer.how) == (None, "no compiler")
        with pytest.raises(ToolError):
            way.obtain([asked], Bench(store=store, workers=Processes(1)))


def test_what_cannot_be_built(source: Path) -> None:
    with pytest.raises(BuildError, match="was not declared in this scope") as failed:
        build(SMALL, THIS, Source(str(source)))
    log = source / "build.log"
    assert str(log) in str(failed.value)
    assert "small.cpp" in log.read_text()
    (source / "build.log").unlink()
    answers = Source(str(source), ("-DANSWER=1",))
    with pytest.raises(BuildError, match="it makes 0 files libother"):
        build(library(HOW.model_copy(update={"archive": "libother.a"})), THIS, answers)
    with pytest.raises(BuildError, match="No rule to make target 'all'"):
        build(library(HOW.model_copy(update={"target": "all"})), THIS, answers)
    with pytest.raises(InputError, match="there is no Makefile"):
        build(SMALL, THIS, Source(str(source / "nowhere")))
    with pytest.raises(InputError, match="Small is not built from source"):
        build(library(None), THIS, Source(str(source)))
    other = Architecture(name="x", triple="no-such", flags=(), debian="", qemu=())
    with pytest.raises(ToolError, match=r"no no-such-g\+\+") as missing:
        build(SMALL, other, Source(str(source)))
    assert "install the Debian package g++-no-such" in str(missing.value)
    with pytest.raises(InputError, match="no such compiler: gcc-1") as unknown:
        build(SMALL, THIS, Source("tag:V1_0", compiler="gcc-1"))
    assert "use gcc-6, gcc-9" in str(unknown.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--library-source", "debian"), "--library-source: is of a library"),
        (("--library", "cryptopp", "--library-flag", "-O3"), "give --library-source"),
        (("--library", "cryptopp", "--library-compiler", "gcc-9"), "give --library-source"),
        (("--library", "cryptopp", "--library-source", "/nowhere"), "there is no GNUmakefile"),
        (("--library", "openssl", "--library-source", "debian"), "OpenSSL is not built from"),
    ],
)
def test_options_that_do_not_go_together(options: tuple[str, ...], words: str) -> None:
    assert words in joulemark("estimate", "raspberry-pi-zero-w", *options, code=3).stderr
