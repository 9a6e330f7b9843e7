"""A message is sent to one process, and its answer is read from another."""

import json
from collections.abc import Iterator
from http.client import HTTPResponse
from http.cookies import SimpleCookie
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.contract import proves
from tests.peers.upstream import serve_upstream
from tests.sites.gateway import PREPARE, SLUG
from tests.sites.serving import Site
from tests.sites.websocket import PATIENCE, visitor_cookie

MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "upstream"}},
    "contexts": [],
    "tool_sets": [],
}
WORDS = " ".join(f"word{number}" for number in range(500))


def ask(url: str, body: dict[str, Any] | None, headers: dict[str, str]) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data, headers), timeout=PATIENCE) as answer:
        return json.loads(answer.read())


def events(stream: HTTPResponse) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return names and data of the events."""
    name = ""
    for line in stream:
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


@pytest.mark.slow("starts a site in a process of its own")
@proves("T-10")
@pytest.mark.full
def test_what_is_sent_to_one_process_is_answered_in_the_stream_of_another(
    pair: tuple[Site, Site],
):
    here, there = pair
    with serve_upstream() as upstream:
        key = here.shell(PREPARE, url=upstream.url, slug=SLUG, manifest=MANIFEST)
        here.shell(
            "from apps.catalog.models import Application as A; A.objects.update(is_public=1)"
        )
        cookie = visitor_cookie(here.url, SLUG)
        session = {"cookie": cookie, "x-csrftoken": SimpleCookie(cookie)["csrftoken"].value}
        feed = urlopen(Request(f"{there.url}/api/notifications", headers=session), timeout=PATIENCE)
        api = f"{here.url}/api/IAIAssistantApi"
        message = {"application": SLUG, "text": "hang"}
        ask(f"{api}/SubmitMessage", message, {"api-key": key})
        hanging = ask(f"{api}/SubmitMessage", message, session)
        assert upstream.is_asked.wait(PATIENCE)

        begun = ask(f"{api}/SubmitMessage", {**message, "text": WORDS}, session)
        seen = []
        for event in events(feed):
            if event[1].get("conversation") == begun["conversation"]:
                seen.append(event)
                if event[1].get("status") == "done":
                    break
            else:
                assert event[1].get("conversation") in (hanging["conversation"], None)
        task = ask(f"{there.url}/api/IAIAssistantApi/tasks/{begun['task_id']}", None, session)
        ask(f"{there.url}/api/IAIAssistantApi/tasks/{hanging['task_id']}/cancel", {}, session)
        assert upstream.is_left.wait(PATIENCE)
        for _, data in events(feed):
            if data.get("status") == "stopped":
                break
        feed.close()

    deltas = [data["text"] for name, data in seen if name == "AIMessageDelta"]
    numbers = [data["seq"] for _, data in seen]
    assert numbers == sorted(set(numbers))
    assert "".join(deltas) == WORDS
    assert (task["status"], task["message"]["text"]) == ("done", WORDS)
