"""Python in the database of a site, in one process for all that its tests run there.

A process for each piece of code would spend seconds on importing everything.
"""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


class Shell:
    """Reads and writes one JSON document a line with a process of its own."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.browser.shell"],
            cwd=ROOT,
            env={**environment, "DJANGO_SETTINGS_MODULE": "quickapps_site.settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, code: str, values: dict[str, Any]) -> Any:
        """Raises `AssertionError` with the traceback of code that fails."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"code": code, "values": values}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def close(self) -> None:
        self.process.communicate()


def serve() -> None:
    """Run what comes in, line by line, until there is no more."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what the code prints is no answer
    import django

    django.setup()
    from django.apps import apps
    from django.db import connections

    for line in sys.stdin:
        asked = json.loads(line)
        names: dict[str, Any] = {model.__name__: model for model in apps.get_models()}
        names |= {"json": json, "result": None, **asked["values"]}
        try:
            exec(asked["code"], names)
            answer = {"result": names["result"]}
        except Exception:  # noqa: BLE001 - whoever asked is told
            answer = {"error": traceback.format_exc()}
        finally:
            connections.close_all()
        answers.write(json.dumps(answer, default=str) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
