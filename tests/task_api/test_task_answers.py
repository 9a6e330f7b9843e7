"""Programs read what a task asks, and answer it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.catalog.actions import publish, save_draft
from apps.catalog.resolve import forget_applications
from apps.conversations.answering.continuation import sweeper
from apps.live.models import Interaction
from tests.chat.scripts import MANIFEST, Scene, scene
from tests.contract import proves_feature
from tests.fakes import calling, saying
from tests.task_api.test_tasks import Program, make_key

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

ASKED = {
    "question": "Which city?",
    "input_type": "single-select",
    "options": [{"label": "Oslo"}, {"label": "Riga"}],
    "allow_freeform": False,
}


@asynccontextmanager
async def waiting() -> AsyncIterator[tuple[Scene, Program, Any]]:
    """Return a task of a key that waits for a choice."""
    async with scene(manifest={**MANIFEST, "features": {"questions": {}}}) as on:
        on.model.put(*calling(("q", "internal_ask_question", ASKED)), None)
        program = Program(on, key=await make_key(on.application))
        _, begun = await program.submit()
        yield on, program, await program.until_over(begun["task_id"])


@proves_feature("conversations", "questions")
async def test_a_waiting_task_shows_its_question_and_takes_the_answer():
    async with waiting() as (on, program, task):
        [question] = task["questions"]
        answer = {"outcome": "answered", "choices": ["Riga"]}
        status, told = await program.answer(task["task_id"], question["key"], answer)
        on.model.put(*saying("Fine."), None)
        await sweeper(on.hub, on.visitor.open_workspace).sweep()
        over = await program.until_over(task["task_id"])
        late, refused = await program.answer(task["task_id"], question["key"], answer)

    row = await Interaction.objects.aget()
    assert (task["status"], question["kind"], question["asked"]["question"]) == (
        "waiting",
        "question",
        "Which city?",
    )
    assert (status, told["task_id"]) == (202, task["task_id"])
    assert row.answer == {"outcome": "answered", "choices": ["Riga"], "text": ""}
    assert (over["status"], over["questions"], over["message"]["text"]) == ("done", [], "Fine.")
    assert (late, refused["error"]["code"]) == (404, "answered")


@pytest.mark.parametrize(
    ("key", "answer", "status", "code"),
    [
        ("", {"outcome": "answered", "choices": ["Paris"]}, 400, "bad_answer"),
        ("", {"outcome": "approved"}, 400, "bad_request"),
        ("", "Riga", 400, "bad_request"),
        ("unknown", {"outcome": "skipped"}, 404, "answered"),
    ],
)
async def test_an_answer_that_does_not_fit_leaves_the_question_open(key, answer, status, code):
    async with waiting() as (_, program, task):
        key = key or task["questions"][0]["key"]
        found, told = await program.answer(task["task_id"], key, answer)

    row = await Interaction.objects.aget()
    assert (found, told["error"]["code"]) == (status, code)
    assert row.answer is None


async def test_only_the_caller_of_a_task_answers_it():
    async with waiting() as (on, _, task):
        other = Program(on, key=await make_key(on.application))
        key = task["questions"][0]["key"]
        status, told = await other.answer(task["task_id"], key, {"outcome": "skipped"})

    assert (status, told["error"]["code"]) == (404, "task_not_found")


@proves_feature("conversations", "versions")
async def test_a_task_is_answered_by_the_version_of_its_application():
    def prompting(text: str) -> dict[str, Any]:
        prompt = {"type": "custom", "content": text, "variables": {}}
        return {**MANIFEST, "orchestrator": {**MANIFEST["orchestrator"], "system_prompt": prompt}}

    async with scene(manifest=prompting("One")) as on:
        row = on.application
        await sync_to_async(save_draft.execute)(row, {"manifest": prompting("Two")}, 0, None)
        await sync_to_async(publish.execute)(row, "Two")
        forget_applications()
        program = Program(on, key=await make_key(row))
        prompts = []
        for name in (row.slug, f"{row.slug}@1"):
            on.model.put(*saying("Fine."), None)
            _, begun = await program.submit(application=name)
            await program.until_over(begun["task_id"])
            prompts.append(str(on.model.asked[-1].messages[0].content).partition("\n")[0])
        unknown, _ = await program.submit(application=f"{row.slug}@9")
        queued, told = await program.submit(application=f"{row.slug}@1", while_running="queue")

    assert prompts == ["Two", "One"]
    assert (unknown, queued) == (404, 400)
    assert "while_running" in told["error"]["message"]
