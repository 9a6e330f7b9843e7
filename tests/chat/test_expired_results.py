"""The page is told which results of tools the model reads no more, as the next request leaves them out."""

from __future__ import annotations

from typing import Any

import pytest

from apps.agent.model import Finish, ToolCallDelta
from apps.chat.models import Message
from tests.chat.scripts import MANIFEST, Scene, Tab, says, scene, settled

pytestmark = pytest.mark.django_db


def manifest(**context: Any) -> dict[str, Any]:
    orchestrator = {**MANIFEST["orchestrator"], "context": context}
    return {**MANIFEST, "orchestrator": orchestrator}


async def turn(on: Scene, tab: Tab, conversation: str | None = None) -> tuple[str, Any]:
    """The conversation, after a question that "find" and "look" are called for, and the frame that
    tells what has expired.
    """
    on.model.put(ToolCallDelta(0, "1", "find", "{}"), ToolCallDelta(1, "2", "look", "{}"))
    on.model.put(Finish("tool_calls"), None)
    on.model.put(says("Found."), None)
    asked = await tab.ask("Where?", conversation)
    await tab.until_over()
    return str(asked), (await tab.until("results.expired"))[-1]


async def runs() -> list[str]:
    rows = Message.objects.filter(role="assistant").order_by("pk")
    return [str(row.run_id) async for row in rows]


async def test_d_06_the_page_is_told_which_results_the_model_reads_no_more():
    async with scene(manifest=manifest(durations={"find": 2, "look": 1})) as on:
        tab = await on.visitor.tab(on.hub)
        conversation, first = await turn(on, tab)
        _, second = await turn(on, tab, conversation)
        again = await on.visitor.tab(on.hub)
        await again.send_json_to({"type": "open", "conversation": conversation})
        opened = (await again.until("results.expired"))[-1]
        on.model.put(says("Bye."), None)
        await tab.ask("Bye", conversation)
        await tab.until_over()
        await settled(on.hub)
    sent = on.model.asked[-1].messages
    one, two, _ = await runs()

    assert first["answers"] == {one: ["2"]}
    assert second["answers"] == {one: ["1", "2"], two: ["2"]}
    assert opened["answers"] == second["answers"]
    # What is shown as read is what was sent.
    called = [call.name for message in sent for call in message.tool_calls]
    assert [name for name in called if name in ("find", "look")] == ["find"]


async def test_nothing_is_told_where_every_result_is_read():
    async with scene() as on:
        on.model.put(says("Hello."), None)
        tab = await on.visitor.tab(on.hub)
        conversation = await tab.ask("Hi")
        frames = await tab.until_over()
        await settled(on.hub)

    assert conversation
    assert "results.expired" not in {frame["type"] for frame in frames}
