"""Python on the database of a site, in one process for all its tests.

A process for each piece of code would spend seconds on imports.
"""

import json
import socket
import sys
import traceback
from typing import Any

from tests.fork_server import fork_server


class Shell:
    """Exchanges JSON documents with a separate process, one per line."""

    def __init__(self, environment: dict[str, str]) -> None:
        ours, theirs = socket.socketpair()
        both = theirs.fileno()
        settings = {"DJANGO_SETTINGS_MODULE": "quickapps_site.settings"}
        self.process = fork_server().start(
            "tests.browser.shell", (), {**environment, **settings}, (both, both, 2)
        )
        theirs.close()
        self.stream = ours.makefile("rw")
        ours.close()  # when the stream is closed

    def run(self, code: str, values: dict[str, Any]) -> Any:
        """Run code. Raises `AssertionError` with the traceback if it fails."""
        self.stream.write(json.dumps({"code": code, "values": values}) + "\n")
        self.stream.flush()
        answer = json.loads(self.stream.readline())
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def close(self) -> None:
        self.stream.close()
        self.process.stop(60)


def serve() -> None:
    """Run each line of input until it ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # output of the code is not an answer
    import django

    from tests.browser.quick_site import hurry

    hurry()
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
