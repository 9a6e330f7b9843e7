"""The snippets in the guides and docs run unchanged."""

from __future__ import annotations

import os
import subprocess
import sys

import httpx
import pytest

from apps.doors.guides import Snippet, load_guides
from tests.sites.gateway import SLUG, Gateway

COMMANDS = {"sh": ("sh", "-ec"), "python": (sys.executable, "-c")}
CLAUDE_CODE = "Claude Code"


def runnable() -> list[tuple[str, Snippet]]:
    return [
        (guide.id, snippet)
        for guide in load_guides()
        for snippet in guide.snippets
        if snippet.language in COMMANDS and snippet.title != CLAUDE_CODE
    ]


@pytest.mark.parametrize(("door", "title"), [(door, snippet.title) for door, snippet in runnable()])
def test_a_snippet_brings_an_answer(gateway: Gateway, door: str, title: str):
    [guide] = [one for one in load_guides() if one.id == door]
    [snippet] = [
        one for one in guide.fill(gateway.url, SLUG, "Echo").snippets if one.title == title
    ]

    done = subprocess.run(
        [*COMMANDS[snippet.language], snippet.text],
        env={"PATH": os.environ["PATH"], "QUICKAPPS_KEY": gateway.key},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert '"error":{' not in done.stdout
    assert done.stdout.strip()


def test_the_first_message_of_the_studio_gets_an_answer_at_each_door(gateway: Gateway):
    guides = [guide.fill(gateway.url, SLUG, "Echo") for guide in load_guides()]
    statuses = {
        guide.id: httpx.post(
            guide.trial.address,
            content=guide.trial.body.replace(guide.trial.MESSAGE, '"Hello"'),
            headers={**dict(guide.trial.headers), "Authorization": f"Bearer {gateway.key}"}
            | {"Content-Type": "application/json"},
            timeout=60,
        ).status_code
        for guide in guides
        if guide.trial is not None
    }
    assert [door for door, status in statuses.items() if status not in (200, 202)] == []
