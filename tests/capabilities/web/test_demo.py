"""The demo model reads a web page and links to it, in a whole run."""

import asyncio
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.agent.events import AttachmentAdded, Event, StageClosed, StageOpened, TextDelta
from apps.agent.messages import Attachment, ModelMessage
from apps.catalog.application_files.row_import import import_directories
from apps.catalog.resolve import resolve_application
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from tests.capabilities.manifests import CALLER
from tests.capabilities.web.calls import WORKSPACE
from tests.catalog.rows import store_application
from tests.servers.internet import Internet, internet, ok

pytestmark = pytest.mark.django_db

FEATURES = {
    "timestamp": None,
    "web_fetch": {"enabled": True},
    "representation_tooling": {"add_attachment": True},
    "external_url_fetch": {"host_allowlist": ["files.example"]},
}


@pytest.fixture(autouse=True)
def _switched_on(settings: Any, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ENABLE_PREVIEW_FEATURES = True
    settings.EXTERNAL_URL_FETCH_ENABLED = True
    settings.EXTERNAL_URL_FETCH_HOST_ALLOWLIST = ["*.example", "files.example"]
    monkeypatch.setattr("apps.demo.model.WORD_SECONDS", 0)
    import_directories(settings.PREDEFINED_DIR)


async def ask(question: str) -> tuple[list[Event], Internet]:
    manifest = {
        "orchestrator": {
            "deployment": {"deployment_id": "demo-model"},
            "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
        },
        "contexts": [],
        "tool_sets": [],
        "features": FEATURES,
    }
    await sync_to_async(store_application)(slug="web", title="Web", manifest=manifest)
    application = await resolve_application("web")
    events: list[Event] = []
    page = ok(b"<h1>News of today</h1>", content_type="text/html")
    async with internet({"/news": page}) as net, asyncio.timeout(60):
        await run_application(
            application,
            RunRequest((ModelMessage("user", question),)),
            WORKSPACE,
            CALLER,
            events.append,
        )
    return events, net


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_a_page_that_is_asked_for_is_fetched():
    events, net = await ask("Please fetch http://files.example/news for me")

    assert [e.title for e in events if isinstance(e, StageOpened)] == ["Fetch from the Web"]
    assert [e.failed for e in events if isinstance(e, StageClosed)] == [False]
    assert "# News of today" in text_of(events)
    assert len(net.asked) == 1


async def test_a_host_that_is_not_listed_is_not_asked():
    events, net = await ask("Fetch http://other.example/news")

    assert "not in this app's allowlist" in text_of(events)
    assert net.looked_up == []


async def test_a_link_that_is_asked_for_is_attached():
    events, _ = await ask("Attach http://files.example/chart.png to the answer")

    url = "http://files.example/chart.png"
    assert [e.attachment for e in events if isinstance(e, AttachmentAdded)] == [
        Attachment("image/png", "chart.png", url=url, reference_url=url)
    ]
