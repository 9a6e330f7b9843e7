"""No code uses private names of the libraries for serving, models and tools."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = {"twisted", "autobahn", "daphne", "uvicorn", "openai", "httpx", "httpx2", "mcp"}


def test_no_private_name_of_a_library_is_used() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for folder in ("apps", "quickapps_site", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
        if any(library in (code := path.read_text()) for library in LIBRARIES)
        for name in private_names(code)
    }

    assert found == set()


FOUND = [
    ("from mcp.client._transport import Streams", ["mcp.client._transport"]),
    ("from twisted.web.http import _parse", ["twisted.web.http._parse"]),
    ("import openai._models", ["openai._models"]),
    ("from twisted.web import http\nhttp._parse = 1", ["http._parse"]),
    ("import uvicorn\nclass A(uvicorn.Server):\n  def b(self): self._c", ["A._c"]),
    ("from uvicorn import Server\nclass A(Server):\n  def _b(self): ...", ["A._b"]),
    ("from uvicorn import Server\nclass A(Server):\n  def b(self): super()._b()", ["A._b"]),
    ("import os\nos._exit(1)\nclass A:\n  def b(self): self._c", []),
    ("from mcp import types\nclass A(types.B):\n  def __init__(self): self.__doc__", []),
]


def test_private_names_are_found(subtests: pytest.Subtests) -> None:
    for code, found in FOUND:
        with subtests.test(code=code):
            assert list(private_names(code)) == found


def private_names(code: str) -> Iterator[str]:
    """Return imported modules and names, and attributes of imports, including inherited ones."""
    tree = ast.parse(code)
    theirs: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for path, bound in imports(node):
                theirs.add(bound)
                if any(map(is_private, path.split("."))):
                    yield path if is_private(path.split(".")[-1]) else path.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and root(node) in theirs:
            yield ast.unparse(node)
        if isinstance(node, ast.ClassDef) and theirs.intersection(map(root, node.bases)):
            yield from sorted({f"{node.name}.{name}" for name in inherited(node)})


def imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Return the imports from the libraries: the path, and the local name."""
    parent = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        path = parent + alias.name
        if path.split(".")[0] in LIBRARIES:
            yield path, alias.asname or (alias.name if parent else path.split(".")[0])


def inherited(found: ast.ClassDef) -> Iterator[str]:
    for node in ast.walk(found):
        name = ""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            name = node.name
        elif isinstance(node, ast.Attribute) and root(node) in {"self", "cls", "super"}:
            name = node.attr
        if is_private(name):
            yield name


def root(node: ast.expr) -> str:
    """Return the name at the beginning of `name.attribute` or of `name().attribute`."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")
