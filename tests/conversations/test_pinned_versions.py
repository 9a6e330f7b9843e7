"""Conversations are answered by the version of their application that they are pinned to."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.catalog.actions import publish, save_draft, withdraw
from apps.catalog.resolve import forget_applications
from apps.conversations.models import Conversation, Message
from apps.live.models import Run
from tests.chat.scripts import MANIFEST, open_tab, says

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def prompting(text: str) -> dict[str, Any]:
    prompt = {"type": "custom", "content": text, "variables": {}}
    return {**MANIFEST, "orchestrator": {**MANIFEST["orchestrator"], "system_prompt": prompt}}


async def test_what_has_begun_stays_with_its_version_until_that_is_withdrawn():
    async with open_tab(manifest=prompting("One")) as (on, tab):

        async def prompt_of(conversation: Any = None) -> tuple[Any, str]:
            await tab.exchange("Hello?", says("Yes"), conversation=conversation)
            return tab.conversation, str(on.model.asked[-1].messages[0].content).partition("\n")[0]

        begun, first = await prompt_of()
        await sync_to_async(save_draft.execute)(
            on.application, {"manifest": prompting("Two")}, 0, None
        )
        await sync_to_async(publish.execute)(on.application, "Two", only_new=True)
        forget_applications()
        _, stays = await prompt_of(begun)
        _, new = await prompt_of()
        version = await on.application.versions.aget(number=1)
        await sync_to_async(withdraw.execute)(version)
        forget_applications()
        _, moved = await prompt_of(begun)

    assert [first, stays, new, moved] == ["One", "One", "Two", "Two"]
    numbers = [
        one
        async for one in Run.objects.order_by("started_at").values_list(
            "application_number", flat=True
        )
    ]
    assert numbers == [1, 1, 2, 2]
    pinned = [
        one
        async for one in Conversation.objects.order_by("created_at").values_list(
            "pinned_version", flat=True
        )
    ]
    assert pinned == [1, None]
    assert await Message.objects.filter(role="assistant").acount() == 4
