"""Limits and versions apply at every door: the requests are those of the studio's guides."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from apps.doors.guides import load_guides
from tests.contract import proves_feature
from tests.peers.one_application.own_clients import PATIENCE, TASKS, until_still
from tests.peers.one_application.shop import SLUG, Shop
from tests.sites.gateway import MANIFEST

PREPARE_VERSIONS = """
from apps.accounts.models import ApiKey
from apps.catalog.actions import publish, save_draft
from tests.catalog.rows import store_application
application = store_application(slug=slug, title="Two versions", manifest=first)
save_draft.execute(application, {"manifest": second}, 0, None)
publish.execute(application, "Two")
result = ApiKey.objects.create_key(name=slug)[1]
"""
PREPARE_LIMIT = """
from apps.accounts.models import ApiKey
result = ApiKey.objects.create_key(name=name, requests_per_minute=1)[1]
"""
DOORS = ("completions", "responses", "messages", "mcp", "a2a", "ag-ui", "conversations")
STATUSES = {"mcp": (200, 200), "conversations": (202, 429)}
"""The statuses of an answer and of a refusal, where they are not 200 and 429."""

FAILURES = [
    ("completions", 400, '"error":{'),
    ("responses", 400, '"error":{'),
    ("messages", 400, '"type":"error"'),
    ("mcp", 200, '"isError":true'),
    ("a2a", 200, '"state":"TASK_STATE_FAILED"'),
    ("ag-ui", 400, '"error":{'),
    ("conversations", 202, '"status":"failed"'),
]
"""The status and a part of the report of a failed run."""


def request_of(shop: Shop, door: str, slug: str, key: str, message: str = "Hello") -> httpx.Request:
    """Return the guide's first request."""
    [guide] = [one for one in load_guides() if one.id == door]
    trial = guide.fill(shop.url, slug, "Shop").trial
    assert trial is not None
    headers = {**dict(trial.headers), "Api-Key": key, "Content-Type": "application/json"}
    body = trial.body.replace(trial.MESSAGE, json.dumps(message))
    return httpx.Request("POST", trial.address, content=body, headers=headers)


def post(shop: Shop, door: str, slug: str, key: str, message: str = "Hello") -> httpx.Response:
    """Send the message in the guide's request. A task is awaited."""
    sent = request_of(shop, door, slug, key, message)
    with httpx.Client(headers={"Api-Key": key}, timeout=PATIENCE) as client:
        if door == "mcp":
            sent = with_name_of_tool(client, sent)
        reply = client.send(sent)
        if door == "conversations" and reply.status_code == 202:
            until_still(client, f"{shop.url}{TASKS}/tasks/{reply.json()['task_id']}")
    return reply


def with_name_of_tool(client: httpx.Client, call: httpx.Request) -> httpx.Request:
    """Return the call with the name that the server lists, which differs for a version."""
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {name: call.headers[name] for name in ("Accept", "MCP-Protocol-Version")}
    listed = client.post(call.url, json=listing, headers=headers).text
    [tool] = json.loads(listed.partition("data: ")[2] or listed)["result"]["tools"]
    body = json.loads(call.content)
    body["params"]["name"] = tool["name"]
    del call.headers["Content-Length"]
    return httpx.Request("POST", call.url, json=body, headers=call.headers)


def prompting(text: str) -> dict[str, Any]:
    prompt = {"type": "custom", "content": text, "variables": {}}
    orchestrator: Any = MANIFEST["orchestrator"]
    return {**MANIFEST, "orchestrator": {**orchestrator, "system_prompt": prompt}}


@proves_feature("completions", "versions")
@proves_feature("responses", "versions")
@proves_feature("messages", "versions")
@proves_feature("mcp", "versions")
@proves_feature("a2a", "versions")
@proves_feature("ag-ui", "versions")
@proves_feature("conversations", "versions")
@pytest.mark.parametrize("door", DOORS)
def test_a_version_answers_under_its_number(shop: Shop, door: str):
    slug = f"two-{uuid4().hex[:8]}"
    manifests = {"first": prompting("One."), "second": prompting("Two.")}
    key = shop.gateway.site.shell(PREPARE_VERSIONS, slug=slug, **manifests)

    def prompt_of(name: str) -> str:
        before = len(shop.gateway.upstream.asked)
        assert post(shop, door, name, key).status_code in (200, 202)
        [request] = shop.gateway.upstream.asked[before:]
        return str(request["messages"][0]["content"]).partition("\n")[0]

    assert [prompt_of(name) for name in (slug, f"{slug}@1")] == ["Two.", "One."]


@proves_feature("completions", "limits")
@proves_feature("responses", "limits")
@proves_feature("messages", "limits")
@proves_feature("mcp", "limits")
@proves_feature("a2a", "limits")
@proves_feature("ag-ui", "limits")
@proves_feature("conversations", "limits")
@pytest.mark.parametrize("door", DOORS)
def test_a_rate_limit_refuses_the_second_request(shop: Shop, door: str):
    key = shop.gateway.site.shell(PREPARE_LIMIT, name=f"limited-{door}")

    answers = [post(shop, door, SLUG, key) for _ in range(2)]

    first, second = answers
    assert (first.status_code, second.status_code) == STATUSES.get(door, (200, 429))
    assert "Rate limit reached for you: 1 request per minute." in second.text
    assert "Rate limit" not in first.text


@proves_feature("completions", "errors")
@proves_feature("responses", "errors")
@proves_feature("messages", "errors")
@proves_feature("mcp", "errors")
@proves_feature("a2a", "errors")
@proves_feature("ag-ui", "errors")
@proves_feature("conversations", "errors")
@pytest.mark.parametrize(("door", "status", "report"), FAILURES)
def test_a_failed_run_is_reported(shop: Shop, door: str, status: int, report: str):
    reply = post(shop, door, SLUG, shop.key, "status 400")

    text = reply.text
    if door == "conversations":
        headers = {"Api-Key": shop.key}
        address = f"{shop.url}{TASKS}/tasks/{reply.json()['task_id']}"
        text = httpx.get(address, headers=headers, timeout=PATIENCE).text
    assert reply.status_code == status
    assert report in text.replace(" ", "")
    assert "reference" in text


@proves_feature("messages", "cancel")
@proves_feature("ag-ui", "cancel")
@pytest.mark.parametrize("door", ["messages", "ag-ui"])
def test_a_client_that_leaves_stops_the_run(shop: Shop, door: str):
    upstream = shop.gateway.upstream
    upstream.is_left.clear()
    sent = request_of(shop, door, SLUG, shop.key, "hang")
    body = {**json.loads(sent.content), "stream": True}
    del sent.headers["Content-Length"]

    with httpx.stream("POST", sent.url, json=body, headers=sent.headers, timeout=PATIENCE) as reply:
        assert reply.status_code == 200
        assert any("Well" in line for line in reply.iter_lines())

    assert upstream.is_left.wait(PATIENCE)


@proves_feature("conversations", "usage")
def test_a_conversation_has_the_usage_of_its_answers(shop: Shop):
    task = post(shop, "conversations", SLUG, shop.key).json()

    address = f"{shop.url}{TASKS}/conversations/{task['conversation']}"
    told = httpx.get(address, headers={"Api-Key": shop.key}, timeout=PATIENCE).json()

    usage = told["messages"][-1]["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (5, 2)
