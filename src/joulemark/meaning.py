"""Digests of what a file means, so that a result is kept as long as nothing that made it changes.

Comments, layout, docstrings, the order of keys and the text that only readers see do not count.
Every value does.
"""

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from joulemark.catalogue import datafile

TEXT = frozenset(
    {
        *("description", "documents", "get", "method", "note", "source", "specification"),
        *("status_source", "timing_note", "title"),
    }
)
"""Keys of data files whose values no result depends on."""
_PACKAGE = Path(__file__).parent


def of_values(*values: object) -> str:
    """Return the SHA-256 of values of JSON's types, without the keys in `TEXT`, hexadecimal."""
    text = json.dumps(_plain(values), sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(of) for key, of in value.items() if key not in TEXT}
    if isinstance(value, list | tuple):
        return [_plain(of) for of in value]
    return value


def of_table(path: Path) -> str:
    """Return the digest of a TOML file's values.

    Raises:
        InputError: the file is unreadable or is not TOML.
    """
    return of_values(datafile.table(path))


def of_module(path: Path) -> str:
    """Return the digest of a Python file's syntax tree and of the project's modules it imports.

    Raises:
        OSError: the file cannot be read.
        SyntaxError: the file is not Python.
    """
    found: dict[Path, str] = {}
    waiting = [path]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found[module], imported = _tree(module, module.stat().st_mtime_ns)
            waiting += imported
    return of_values(sorted(found.values()))


def of_file(path: Path) -> str:
    """Return the digest of a Python file's syntax tree alone.

    Raises:
        OSError: the file cannot be read.
        SyntaxError: the file is not Python.
    """
    return _tree(path, path.stat().st_mtime_ns)[0]


@cache
def _tree(path: Path, _changed_ns: int) -> tuple[str, tuple[Path, ...]]:
    """Return the digest of a syntax tree without docstrings, and the imported files."""
    tree = ast.parse(path.read_bytes(), str(path))
    return of_tree(tree), tuple(_imported(tree))


def of_tree(tree: ast.AST) -> str:
    """Return the digest of a syntax tree, from which docstrings are removed."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            # A string that stands alone is documentation, wherever it stands.
            node.body = [line for line in body if not _is_text(line)]  # type: ignore[attr-defined]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _imported(tree: ast.AST) -> Iterator[Path]:
    """Yield the files of this package's modules that a tree imports."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    for name in dict.fromkeys(names):
        package, _, rest = name.partition(".")
        if package != _PACKAGE.name:
            continue
        place = _PACKAGE.joinpath(*rest.split(".")) if rest else _PACKAGE
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file():
                yield path


def of_folders(*folders: Path) -> str:
    """Return the digest of all data files and Python modules in folders, with their names."""
    found: list[tuple[str, str]] = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(folder.parent))
            if path.suffix == ".toml":
                found.append((name, of_table(path)))
            elif path.suffix == ".py":
                found.append((name, of_file(path)))
    return of_values(found)
