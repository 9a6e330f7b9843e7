"""A Core in a separate process, for tests whose clients keep their own process busy.

    with serve_core_apart("tests.dial.crowd") as core:
        core.do("open", desk="http://…")          calls crowd.open(core, desk=…) in that process

A module contains the functions for that Core. They take the Core and JSON values, and return a JSON
value.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from tests.dial_core.serving import serve_core

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True, slots=True)
class CoreApart:
    """`asking` and `answers` are this process's ends of its pipes."""

    url: str
    asking: IO[str]
    answers: IO[str]

    def do(self, name: str, **arguments: Any) -> Any:
        """Wait for the result of the function. Exceptions are printed to that process's stderr."""
        self.asking.write(json.dumps([name, arguments]) + "\n")
        self.asking.flush()
        answer = self.answers.readline()
        assert answer, f"Core ended over {name}."
        return json.loads(answer)


@contextmanager
def serve_core_apart(module: str) -> Iterator[CoreApart]:
    """Serve a Core with the functions of a module within the block."""
    command = [sys.executable, "-m", __name__, module]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            url = json.loads(process.stdout.readline())
            yield CoreApart(url, process.stdin, process.stdout)
        finally:
            process.stdin.close()
            process.wait()


def main(module: str) -> None:
    functions = import_module(module)
    with serve_core() as core:
        tell(core.url)
        for line in sys.stdin:
            name, arguments = json.loads(line)
            tell(getattr(functions, name)(core, **arguments))


def tell(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
