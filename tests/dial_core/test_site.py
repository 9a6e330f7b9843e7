"""The example configuration with the real site."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dial_core import Core, serve_core
from tests.sites.serving import serve

EXAMPLE = Path(__file__).with_name("example.json")
THERE = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Core]:
    """The site listens on another port than in the example."""
    with (
        serve_core() as core,
        serve(tmp_path_factory.mktemp("site"), DIAL_URL=core.url) as site,
    ):
        site.manage("import_content")
        core.read(json.loads(EXAMPLE.read_text().replace(THERE, site.url)))
        yield core


def asked(question: str) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": question}]}


async def test_the_manifest_of_the_example_runs(example: Core):
    reply = await example.call_application("clock_helper", asked("What time is it?"), stream=False)

    answer = reply.json()["choices"][0]["message"]
    assert answer["content"] == "The tool has answered. That is all there is to say."
    first, second = example.models["scripted"].asked
    assert [tool["function"]["name"] for tool in first["tools"]] == [
        "internal_timeawareness_current_timestamp",
        "internal_skills_read_skill",
    ]
    assert second["messages"][-1]["tool_call_id"].startswith("scripted-")
    assert example.keys.wait_until_none_lives(10)


async def test_the_demonstration_of_the_site_runs(example: Core):
    reply = await example.call_application("demo", asked("What can you do?"), stream=False)

    assert reply.status == 200
    assert len(reply.json()["choices"][0]["message"]["content"]) > 100
