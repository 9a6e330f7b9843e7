"""Our application calls, through Core, an application made with DIAL's SDK."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
from aidial_sdk.utils.merge_chunks import cleanup_indices, merge_chat_completion_chunks

from tests.contract import proves
from tests.dial.installation import (
    Installation,
    asking,
    called,
    deltas,
    helpers,
    key_of,
    last,
    said,
    stages,
    told_to,
)
from tests.dial.sdk_application import NAME, serve
from tests.dial_core import Core
from tests.dial_core.core import KEY
from tests.dial_core.models import Answer

SESSION = re.compile(r"\[session_id: (\S+)\]")


@pytest.fixture(scope="module")
def sdk_url(dial_site: Installation) -> Iterator[str]:
    with serve(dial_site.core.url) as url:
        yield url


@pytest.fixture
def reporting(core: Core, sdk_url: str) -> Core:
    core.add_application(NAME, sdk_url, displayName="Reporter")
    return core


def tools_of(body: Mapping[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body["tools"]]


def stage_attachments(delta: Mapping[str, Any]) -> list[dict[str, Any]]:
    stages = (delta.get("custom_content") or {}).get("stages", ())
    return [attachment for stage in stages for attachment in stage.get("attachments", ())]


def results_of(body: Mapping[str, Any]) -> list[str]:
    return [message["content"] for message in told_to(body) if message["role"] == "tool"]


@proves("R-28")
async def test_files_and_state_of_an_application_below_go_on_to_its_siblings(
    reporting: Core, installation: Installation
):
    """It writes a file and later continues it, and another deployment reads it (§1.5)."""

    def lead(body: Mapping[str, Any]) -> Answer:
        results = results_of(body)
        reporter, reader, _ = tools_of(body)
        match len(results):
            case 0:
                return called(reporter, query="sales")
            case 1:
                [session] = SESSION.findall(results[0])
                return called(reporter, query="costs", session_id=session)
            case 2:
                [url] = [url for url in reporting.storage.items if url.endswith("report%202.png")]
                return called(reader, query="read", attachment_urls=[url])
            case _:
                return [{"text": " / ".join(result.split("\n")[0] for result in results)}]

    reporting.add_model("lead", lead)
    reader = reporting.add_model("reader", [[{"text": "Read."}]], inputAttachmentTypes=["*/*"])
    resumable = helpers(NAME, conversation_mode={"resumable": True})
    installation.add("reports", "lead", resumable, helpers("reader"))

    reply = await reporting.call_application("reports", asking("Write"))

    assert said(reply) == "Report 1 / Report 2 / Read."
    shown = [one for stage in deltas(reply) for one in stage_attachments(stage)]
    assert [(one["title"], one["type"]) for one in shown] == [
        ("Report 1", "image/png"),
        ("Report 2", "image/png"),
    ]
    [given] = last(reader.asked[0])["custom_content"]["attachments"]
    assert given["url"] == shown[1]["url"]
    async with httpx.AsyncClient(base_url=reporting.url, timeout=60, verify=False) as user:
        read = await user.get(f"/v1/{given['url']}", headers={"Api-Key": KEY})
    assert read.content == b"png"
    names = [name for name, _, _ in stages(reply)]
    assert sum("Writing" in name for name in names) == 2
    assert {status for _, _, status in stages(reply)} == {"completed"}
    spent = reply.events()[-1]["statistics"]["usage_per_model"]
    assert {entry["model"]: entry["total_tokens"] for entry in spent}["press"] == 2 * 12


async def test_the_state_of_an_application_survives_a_client_that_merges_as_the_sdk_does(
    reporting: Core, installation: Installation
):
    """§8.4: the SDK's rules would sort a list by `index`, fill its gaps and remove the key."""
    kept = {"count": 1, "rows": [{"index": 5}, {"index": 9}]}
    model = reporting.add_model(
        "stateful", [[{"state": kept}, {"text": "One."}], [{"text": "Two."}]]
    )
    installation.add("keeper", "stateful")

    first = await reporting.call_application("keeper", asking("One"))
    merged = cleanup_indices(merge_chat_completion_chunks(*first.events())["choices"][0]["delta"])
    content = {
        "role": "assistant",
        "content": "One.",
        "custom_content": {"state": merged["custom_content"]["state"]},
    }
    question = asking("One")["messages"] + [content] + asking("Two")["messages"]
    await reporting.call_application("keeper", {"messages": question})

    answers = [m for m in told_to(model.asked[1]) if m["role"] == "assistant"]
    assert answers[0]["custom_content"]["state"] == kept


async def test_an_application_that_breaks_in_mid_stream_is_told_to_the_model(
    reporting: Core, installation: Installation
):
    def lead(body: Mapping[str, Any]) -> Answer:
        if results := results_of(body):
            return [{"text": results[0]}]
        return called("*", query="break")

    reporting.add_model("mourner", lead)
    installation.add("breaking", "mourner", helpers(NAME))

    reply = await reporting.call_application("breaking", asking("Write"))

    assert "It tore." in said(reply)
    assert reply.events()[-1]["choices"][0]["finish_reason"] == "stop"


async def test_nothing_is_asked_with_a_key_whose_answer_has_ended(
    reporting: Core, installation: Installation
):
    """§8.9."""

    def lead(body: Mapping[str, Any]) -> Answer:
        return [{"text": "Done."}] if results_of(body) else called("*", query="sales")

    reporting.add_model("finisher", lead)
    installation.add("finishing", "finisher", helpers(NAME))

    await reporting.call_application("finishing", asking("Write"))
    count = len(reporting.requests)
    key = key_of(reporting, "finishing")
    # Requests that were started with the key have been refused or precede these two.
    reporting.add_model("next", [[{"text": "Done."}]])
    installation.add("after", "next")
    await reporting.call_application("after", asking("Write"))

    assert reporting.keys.wait_until_none_lives(10)
    later = [hop for hop in reporting.requests[count:] if hop.headers.get("api-key") == key]
    assert later == []
