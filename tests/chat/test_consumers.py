from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest

from apps.chat.models import Conversation, Message
from apps.errors import ModelFailed
from apps.runs.hub import Hub
from apps.runs.models import JournalEntry, Run
from tests.chat.scripts import (
    PATIENCE,
    PacedModel,
    scene,
    counts,
    says,
    settled,
    text_of,
    thinks,
)

pytestmark = pytest.mark.django_db


def kinds(frames: list[dict[str, Any]]) -> list[str]:
    return [frame["type"] for frame in frames]


async def test_a_question_is_answered_and_stored():
    async with scene() as on:
        on.model.put(says("12"), says(" degrees"), counts(7, 2), None)
        tab = await on.visitor.tab(on.hub)

        conversation = await tab.ask("How warm is it?")
        frames = await tab.until_over()

    messages = [message async for message in Message.objects.select_related("run")]
    run = await Run.objects.aget()
    common = {"conversation": conversation, "run": str(run.pk)}
    complete = frames[-2]["message"]
    assert frames == [
        {
            "type": "message.added",
            "message": {
                "id": str(messages[0].uuid),
                "role": "user",
                "text": "How warm is it?",
                "created_at": messages[0].created_at.isoformat(),
            },
            "seq": 1,
            **common,
        },
        {"type": "run.status", "status": "running", "seq": 2, **common},
        {"type": "message.delta", "text": text_of(frames), "seq": 4, **common},
        {
            "type": "message.complete",
            "message": {
                "id": str(messages[1].uuid),
                "role": "assistant",
                "text": "12 degrees",
                "attachments": [],
                "finish_reason": "stop",
                "usage": {"prompt_tokens": 7, "completion_tokens": 2},
                "seconds": complete["seconds"],
            },
            "seq": 5,
            **common,
        },
        {"type": "run.status", "status": "done", "seq": 6, **common},
    ]
    assert [(m.role, m.text, m.run_id) for m in messages] == [
        ("user", "How warm is it?", run.pk),
        ("assistant", "12 degrees", run.pk),
    ]
    assert (run.status, run.finished_at is not None) == ("done", True)
    assert (await Conversation.objects.aget()).owner == on.visitor.bucket
