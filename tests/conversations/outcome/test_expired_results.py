"""The page shows which tool results are omitted from the next model request."""

from __future__ import annotations

from typing import Any

import pytest

from apps.agent.model import Finish, ToolCallDelta
from apps.conversations.models import Message
from tests.chat.scripts import MANIFEST, Tab, open_tab, says, settled
from tests.contract import proves

pytestmark = pytest.mark.django_db


def manifest(**context: Any) -> dict[str, Any]:
    orchestrator = {**MANIFEST["orchestrator"], "context": context}
    return {**MANIFEST, "orchestrator": orchestrator}


async def turn(tab: Tab) -> Any:
    """Ask a question that leads to calls of "find" and "look". Return the frame with the expired
    results."""
    tab.model.put(ToolCallDelta(0, "1", "find", "{}"), ToolCallDelta(1, "2", "look", "{}"))
    tab.model.put(Finish("tool_calls"), None)
    await tab.exchange("Where?", says("Found."))
    return (await tab.until("results.expired"))[-1]


async def runs() -> list[str]:
    rows = Message.objects.filter(role="assistant").order_by("pk")
    return [str(row.run_id) async for row in rows]


@proves("D-06")
async def test_d_06_the_page_is_told_which_results_the_model_reads_no_more():
    async with open_tab(manifest=manifest(durations={"find": 2, "look": 1})) as (on, tab):
        first, second = await turn(tab), await turn(tab)
        again = await on.visitor.tab(on.hub)
        await again.send_json_to({"type": "open", "conversation": tab.conversation})
        opened = (await again.until("results.expired"))[-1]
        await tab.exchange("Bye", says("Bye."))
        await settled(on.hub)
    sent = on.model.asked[-1].messages
    one, two, _ = await runs()

    assert first["answers"] == {one: ["2"]}
    assert second["answers"] == {one: ["1", "2"], two: ["2"]}
    assert opened["answers"] == second["answers"]
    # Results are marked as read if they were sent.
    called = [call.name for message in sent for call in message.tool_calls]
    assert [name for name in called if name in ("find", "look")] == ["find"]


async def test_nothing_is_told_where_every_result_is_read():
    async with open_tab() as (on, tab):
        frames = await tab.exchange("Hi", says("Hello."))
        await settled(on.hub)

    assert "results.expired" not in {frame["type"] for frame in frames}
