"""A vision model reads pages that are images."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import pytest

from apps.agent.events import Event, ModelUsage
from apps.agent.meter import ModelCallReport, NoMeter
from apps.agent.model import Delta, ModelRequest
from apps.capabilities.documents import scans
from apps.capabilities.documents.cache import cache
from apps.capabilities.documents.scans import ADVICE, TASK
from apps.documents.png import SIGNATURE
from apps.errors import ModelFailed
from tests.capabilities.manifests import stage_text
from tests.contract import proves
from tests.documents.samples import pdf
from tests.fakes import ScriptedModel, saying

SCAN = "The document 'scan.pdf' cannot be read: its pages are images without text (a scan), and "
SEEN: dict[str, Any] = {"vision_deployment_id": "eyes"}


class Eyes(ScriptedModel):
    """Returns the given text of each page, in any order of requests, or raises a failure."""

    def __init__(self, pages: Mapping[int, str | Exception]) -> None:
        super().__init__()
        self.pages = dict(pages)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        said = self.pages[page_of(request)]
        self.scripts.append([said] if isinstance(said, Exception) else saying(said, prompt=9))
        async for batch in super().stream(request):
            yield batch

    @property
    def looked_at(self) -> list[int]:
        return sorted(map(page_of, self.asked))


def page_of(request: ModelRequest) -> int:
    return int(request.messages[-1].text.removeprefix("Page ").removesuffix("."))


def refusing(status: int = 400) -> ModelFailed:
    return ModelFailed("the picture is refused.", status=status)


@proves("G-51")
async def test_the_pages_of_a_scan_are_read_one_by_one_and_cited(desk):
    desk.eyes = Eyes({1: "# Dogs\n\nDogs stay free.", 2: "A late check-out costs 20 euros."})
    path = await desk.keep("scan.pdf", pdf("", ""), "application/pdf")
    events: list[Event] = []
    spent: list[ModelUsage] = []

    async with desk.run(spend=spent.extend, **SEEN) as run:
        result = await run.ask("What does a late check-out cost?", path, emit=events.append)

    assert [(one.title, one.reference_url) for one in result.propagated] == [
        ("[1] scan.pdf, page 2", f"{path}#page=2")
    ]
    shown = stage_text(events)
    assert "Pages that are images are read by 'eyes':\n\n- page " in shown
    assert {"- page 1 of 2", "- page 2 of 2"} <= set(shown.splitlines())
    assert spent == [ModelUsage("eyes", 9, 0)] * 2
    assert desk.eyes.looked_at == [1, 2]
    task, page = desk.eyes.asked[0].messages
    assert (task.role, task.text, desk.eyes.asked[0].tools) == ("system", TASK, ())
    (picture,) = page.attachments
    assert (picture.type, b64decode(picture.data or "")[:8]) == ("image/png", SIGNATURE)


async def test_each_page_is_a_call_that_is_counted(desk):
    desk.eyes = Eyes({1: "Dogs stay free.", 2: refusing()})
    path = await desk.keep("scan.pdf", pdf("", ""), "application/pdf")
    meter = Heard()

    async with desk.run(meter=meter, **SEEN) as run:
        await run.read(path)

    assert sorted(meter.calls) == [("eyes", ""), ("eyes", "status 400")]


class Heard(NoMeter):
    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def model_called(self, report: ModelCallReport) -> None:
        self.calls.append((report.deployment, report.error))


async def test_a_service_without_attachments_is_sent_parts(desk):
    desk.eyes, desk.files = Eyes({1: "Dogs stay free."}), "none"
    path = await desk.keep("scan.pdf", pdf(""), "application/pdf")

    async with desk.run(**SEEN) as run:
        assert await run.read(path) == "Dogs stay free."

    (message,) = desk.eyes.asked[0].messages[1:]
    parts: Any = message.content
    assert (parts[0], message.attachments) == ({"type": "text", "text": "Page 1."}, ())
    assert parts[1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


async def test_only_pages_without_text_are_looked_at_and_paid_once(desk):
    desk.eyes = Eyes({2: "Second"})
    path = await desk.keep("mixed.pdf", pdf("First", "", "Third"), "application/pdf")

    async with desk.run(**SEEN) as run:
        texts = [await run.read(path), await run.read(path)]
    async with desk.run(**SEEN) as run:
        texts.append(await run.read(path))
        await run.ask("Second", path)

    assert texts == ["First\n\nSecond\n\nThird"] * 3
    assert (desk.eyes.looked_at, desk.reads) == ([2], [path])


async def test_calls_at_once_share_the_work_and_both_see_the_progress(desk):
    desk.eyes = Eyes({1: "Dogs stay free."})
    path = await desk.keep("scan.pdf", pdf(""), "application/pdf")
    stages: list[list[Event]] = [[], []]

    async with desk.run(**SEEN) as run:
        await asyncio.gather(*(run.ask("dogs", path, emit=one.append) for one in stages))

    assert desk.eyes.looked_at == [1]
    assert all("- page 1 of 1\n" in stage_text(one) for one in stages)


async def test_a_page_that_fails_is_told_and_the_next_run_tries_it_again(desk):
    desk.eyes = Eyes({1: "First", 2: refusing(), 3: "Third"})
    path = await desk.keep("scan.pdf", pdf("", "", ""), "application/pdf")
    events: list[Event] = []

    async with desk.run(**SEEN) as run:
        texts = [await run.read(path), await run.read(path)]
        await run.ask("third", path, emit=events.append)
    desk.eyes.pages[2] = "Second"
    async with desk.run(**SEEN) as run:
        texts.append(await run.read(path))

    told = "[page 2: could not be read: the picture is refused.]"
    partly = f"First\n\nThird\n\n{told}"
    assert texts == [partly, partly, "First\n\nSecond\n\nThird"]
    assert f"1 of 3 pages have no text; {told}" in stage_text(events)
    assert desk.eyes.looked_at == [1, 2, 2, 3]


async def test_a_service_that_is_broken_is_not_asked_for_each_page(desk, monkeypatch):
    monkeypatch.setattr(scans, "AT_ONCE", 1)
    desk.eyes = Eyes(dict.fromkeys(range(1, 9), refusing()))
    path = await desk.keep("scan.pdf", pdf(*[""] * 8), "application/pdf")

    async with desk.run(**SEEN) as run:
        refused = await run.refused(request="?", file_url=path)

    assert refused == (
        f"{SCAN}no page of it could be read. [page 1: could not be read: the picture is refused.]"
    )
    assert desk.eyes.looked_at == [1, 2, 3]


async def test_only_the_first_pages_of_a_long_document_are_read(desk, monkeypatch):
    monkeypatch.setattr(scans, "PAGES", 2)
    desk.eyes = Eyes({1: "First", 2: "NO TEXT"})
    path = await desk.keep("scan.pdf", pdf(*[""] * 5), "application/pdf")

    async with desk.run(**SEEN) as run:
        text = await run.read(path)

    assert text == (
        "First\n\n[3 pages, from page 3 on, are images that were not read: at most 2 of a document are]"
    )
    assert desk.eyes.looked_at == [1, 2]


async def test_what_was_read_before_a_stop_is_kept(desk, monkeypatch):
    monkeypatch.setattr(scans, "AT_ONCE", 1)
    path = await desk.keep("scan.pdf", pdf("", ""), "application/pdf")
    desk.eyes = ScriptedModel(saying("First"), [ScriptedModel.never])
    async with desk.run(**SEEN) as run:
        asking = asyncio.create_task(run.read(path))
        await asyncio.wait_for(desk.eyes.waiting.wait(), 60)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    eyes = desk.eyes = Eyes({1: "First", 2: "Second"})
    async with desk.run(**SEEN) as run:
        assert await run.read(path) == "First\n\nSecond"

    assert eyes.looked_at == [2]


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({}, f"the model 'some-model' does not accept images. {ADVICE}"),
        (
            {"vision_deployment_id": "gone"},
            "the deployment that would read them cannot be called: ",
        ),
    ],
    ids=["the model is blind", "there is no such deployment"],
)
async def test_without_a_model_that_sees_it_is_told_why_and_what_to_do(desk, wanted, why):
    desk.eyes = Eyes({})
    scan = await desk.keep("scan.pdf", pdf(""), "application/pdf")
    mixed = await desk.keep("mixed.pdf", pdf("First", ""), "application/pdf")

    async with desk.run(**wanted) as run:
        for tool, asked in (("file_content_extraction_tool", {}), ("rag_tool", {"request": "?"})):
            refused = await run.refused(tool, file_url=scan, **asked)
            assert refused.startswith(SCAN + why)
            assert refused.endswith(ADVICE)
        assert [await run.read(mixed), await run.read(mixed)] == ["First", "First"]

    assert desk.reads.count(mixed) == 1


async def test_the_model_of_the_application_reads_scans_if_it_takes_images(desk):
    desk.eyes = Eyes({1: "Dogs stay free."})
    path = await desk.keep("scan.pdf", pdf(""), "application/pdf")
    workspace = desk.workspace()

    async with desk.run() as run:
        run.opening.workspace.infos = {"some-model": workspace.infos["eyes"]}
        run.opening.workspace.models = {"some-model": desk.eyes}
        assert await run.read(path) == "Dogs stay free."

    cache.clear()
