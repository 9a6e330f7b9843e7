"""§7.4: the sources of a deployment are passed on to the answer of the application."""

from typing import Any

import pytest

from apps.agent.events import AnnotationAdded, Event, TextDelta
from apps.agent.tools import ToolResult
from tests.capabilities.deployment.scripts import (
    chunk,
    echo,
    one_tool,
    opened,
    simple,
    use,
    written,
)
from tests.capabilities.deployment.test_applications import answer, make
from tests.contract import proves
from tests.fakes import ScriptedModel, calling, finish, saying, text

REPORT = {"id": "r-1", "title": "Report", "url": "https://example.org", "nested": {"page": [3]}}
BOOK = {"id": "b-2", "title": "Book", "url": None}
CITING = {"propagate_annotations_to_choice": True}
CITED = 'It is warm<cit data-id="r-1"></cit>.'


def cites(*annotations: Any) -> Any:
    return chunk(choices=[{"delta": {"custom_fields": {"annotations": list(annotations)}}}])


def annotations_of(events: list[Event]) -> list[Any]:
    return [event.annotation for event in events if isinstance(event, AnnotationAdded)]


@proves("7.4")
@pytest.mark.parametrize("tool", [written(**CITING), simple(**CITING)])
async def test_annotations_are_part_of_the_result_as_they_came(tool):
    workspace, _ = echo([text(CITED), cites(REPORT), cites(BOOK), finish()])

    async with one_tool(workspace, tool) as made:
        result = await use(made, query="Warm?")

    assert result == ToolResult(CITED, annotations=(REPORT, BOOK))


@proves("7.4")
async def test_they_are_left_out_unless_the_manifest_wants_them():
    workspace, _ = echo([text(CITED), cites(REPORT), finish()])

    async with one_tool(workspace, written()) as tool:
        result = await use(tool, query="Warm?")

    assert result == ToolResult(CITED)


@pytest.mark.parametrize("fields", ["x", [], {"annotations": "x"}, {"annotations": [1, None, "x"]}])
async def test_what_are_no_annotations_is_passed_over(fields):
    broken = chunk(choices=[{"delta": {"custom_fields": fields}}])
    workspace, _ = echo([broken, text("Warm."), finish()])

    async with one_tool(workspace, written(**CITING)) as tool:
        assert await use(tool, query="Warm?") == ToolResult("Warm.")


@proves("7.4")
async def test_the_model_is_told_to_copy_the_anchors():
    workspace, _ = echo()

    async with (
        opened(workspace, written(**CITING)) as citing,
        opened(workspace, written()) as other,
    ):
        (instruction,) = citing.instructions
        assert "copy its anchors verbatim" in instruction
        assert '<cit data-id="…"></cit>' in instruction
        assert other.instructions == ()


async def test_a_tool_that_could_not_be_opened_asks_for_no_anchors():
    workspace, _ = echo()

    async with opened(workspace, simple("gone", **CITING)) as contribution:
        assert contribution.instructions == ()


@proves("7.4")
@pytest.mark.django_db
@pytest.mark.parametrize("preview", [True, False])
async def test_annotations_come_through_nested_applications_where_preview_is_on(settings, preview):
    settings.ENABLE_PREVIEW_FEATURES = preview
    await make("outer", "big", simple("inner", **CITING))
    await make("inner", "small", simple("paper", **CITING))
    big = ScriptedModel(calling(("1", "inner", {"query": "Warm?"})), saying(CITED))
    small = ScriptedModel(calling(("2", "paper", {"query": "Warm?"})), saying(CITED))
    paper = ScriptedModel([text(CITED), cites(REPORT), finish()])

    events = await answer("outer", big=big, small=small, paper=paper)

    assert annotations_of(events) == ([REPORT] if preview else [])
    assert TextDelta(CITED) in events
    assert ("anchors" in big.asked[0].messages[0].text) == preview
