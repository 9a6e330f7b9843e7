"""Approvals and questions as interrupts, and the runs that resume them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from apps.ag_ui import interrupts
from apps.ag_ui.interrupts import APPROVAL_SCHEMA
from apps.capabilities.questions.capability import TOOL_NAME
from apps.capabilities.wrappers.approval import DENIED
from apps.runs.asking_ledger import REPLAYED
from tests.ag_ui.threads import QUESTION, ask, events_in, named, thread_after
from tests.capabilities.manifests import Files
from tests.capabilities.service import Service, json_reply, serving
from tests.fakes import calling
from tests.gateway.scripts import ScriptedModel, ScriptedWorkspace, add_application, ends, says
from tests.gateway.test_asking_ledger import PAY, paying, pays

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

COLOUR = {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]}


@dataclass
class Thread:
    """A thread as a client stores it."""

    slug: str
    model: ScriptedModel
    shop: Service
    messages: list[dict[str, Any]] = field(default_factory=lambda: [QUESTION])
    events: list[dict[str, Any]] = field(default_factory=list)

    async def run(self, **fields: Any) -> Any:
        """Run, store the messages, and return the answer."""
        workspace: Any = ScriptedWorkspace(self.model)
        workspace.files = Files()
        self.model.answers.append([says("Done."), ends()])
        answer = await ask(workspace, self.slug, messages=self.messages, **fields)
        if answer.status == 200:
            self.events = events_in(answer.body)
            self.messages = [*self.messages, *thread_after(self.events)]
        return answer

    async def resume(self, status: str = "resolved", key: str = "", **fields: Any) -> Any:
        entry = {"interruptId": key or self.interrupt["id"], "status": status, **fields}
        return await self.run(resume=[entry], runId="r2")

    @property
    def interrupt(self) -> dict[str, Any]:
        [found] = self.events[-1]["outcome"]["interrupts"]
        return dict(found)

    @property
    def paid(self) -> list[Any]:
        return [json.loads(seen.body) for seen in self.shop.seen if seen.method == "POST"]

    def results(self) -> list[str]:
        messages = self.model.asked[-1].messages
        return [m.text for m in messages if m.role == "tool" and "# Files" not in m.text]


@asynccontextmanager
async def interrupted(*calls: Any) -> AsyncIterator[Thread]:
    async with serving(json_reply('{"done": true}')) as shop:
        application = await add_application(manifest=paying(shop.url))
        thread = Thread(application.slug, ScriptedModel(calling(*(calls or [pays()]))), shop)
        await thread.run()
        thread.model.answers.clear()
        yield thread


async def test_a_call_is_proposed_and_its_result_comes_in_the_run_that_approves_it():
    async with interrupted() as thread:
        asked, proposed, before = thread.interrupt, thread.events, thread.paid
        await thread.resume(payload={"approved": True})

    call = asked["toolCallId"]
    assert asked == {
        "id": asked["id"],
        "expiresAt": asked["expiresAt"],
        "reason": "tool_call",
        "message": "shop · pay",
        "toolCallId": call,
        "responseSchema": APPROVAL_SCHEMA,
        "metadata": {"name": PAY, "arguments": {"amount": 5}, "risk": "changes"},
    }
    assert datetime.fromisoformat(asked["expiresAt"]).tzinfo is not None
    assert [event["delta"] for event in named(proposed, "TOOL_CALL_ARGS")] == ['{"amount":5}']
    assert named(proposed, "TEXT_MESSAGE_CONTENT") == []
    assert (before, thread.paid) == ([], [{"amount": 5}])
    assert named(thread.events, "TOOL_CALL_START") == []
    assert [event["toolCallId"] for event in named(thread.events, "TOOL_CALL_RESULT")] == [call]
    assert named(thread.events, "TEXT_MESSAGE_CONTENT") == [{"delta": "Done."}]
    assert thread.events[-1]["outcome"] == {"type": "success"}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"payload": {"approved": False}}, DENIED),
        ({"status": "cancelled"}, DENIED),
        ({"payload": {"approved": False, "reason": "1"}}, f"{DENIED} Their reason: 1"),
    ],
)
async def test_a_call_that_is_not_approved_is_not_made(answer, told):
    async with interrupted() as thread:
        call = thread.interrupt["toolCallId"]
        await thread.resume(**answer)

    assert (thread.paid, thread.results()) == ([], [told])
    [result] = named(thread.events, "TOOL_CALL_RESULT")
    assert result["toolCallId"] == call


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"payload": {"answer": "Blue"}}, 'The user chose: "Blue"'),
        ({"payload": "2"}, "The user wrote: 2"),
        ({"status": "cancelled"}, "The user skipped the question"),
    ],
)
async def test_a_question_is_answered_by_a_choice_or_a_text(answer, told):
    async with interrupted(("1", TOOL_NAME, COLOUR)) as thread:
        asked = thread.interrupt
        await thread.resume(**answer)

    assert (asked["reason"], asked["message"]) == ("input_required", "Which colour?")
    schema = asked["responseSchema"]["properties"]["answer"]
    assert schema == {"anyOf": [{"enum": ["Red", "Blue"]}, {"type": "string"}]}
    assert thread.results()[0].startswith(told)


async def test_the_thread_continues_after_an_answer_without_asking_again():
    async with interrupted() as thread:
        await thread.resume(payload={"approved": True})
        thread.messages.append({"id": "m9", "role": "user", "content": "Thanks"})
        answer = await thread.run(runId="r3")

    assert (answer.status, thread.paid) == (200, [{"amount": 5}])
    heard = [m.text for m in thread.model.asked[-1].messages if m.role == "user"]
    assert heard[-1] == "Thanks"


async def test_an_answer_counts_once():
    async with interrupted() as thread:
        asked, messages = thread.interrupt, thread.messages
        await thread.resume(payload={"approved": True})
        thread.messages = messages
        await thread.resume(key=asked["id"], payload={"approved": True})

    assert thread.paid == [{"amount": 5}]
    heard = [m.text for m in thread.model.asked[-1].messages if m.role == "user"]
    assert REPLAYED in heard[-1]


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ([{"interruptId": "x", "status": "resolved", "payload": True}], "Unknown interrupt"),
        ([{"interruptId": "", "status": "resolved", "payload": "yes"}], "Use {'approved': true}"),
        ([{"interruptId": "", "status": "resolved"}], "Use {'approved': true}"),
        ([{"interruptId": "", "status": "cancelled"}] * 2, "The list has 2 entries"),
    ],
)
async def test_an_answer_that_does_not_fit_is_refused_before_the_run(entries, problem):
    async with interrupted() as thread:
        key = thread.interrupt["id"]
        given = [{**one, "interruptId": one["interruptId"] or key} for one in entries]
        answer = await thread.run(resume=given)

    assert (answer.status, thread.paid) == (400, [])
    assert problem in answer.json()["error"]["message"]


async def test_a_state_that_was_changed_or_has_expired_is_refused(monkeypatch):
    async with interrupted() as thread:
        key = thread.interrupt["id"]
        with monkeypatch.context() as patch:
            patch.setattr(interrupts, "time", SimpleNamespace(time=lambda: 9e9))
            late = await thread.resume(payload=True)
        holder = next(m for m in thread.messages if "encryptedValue" in m)
        holder["encryptedValue"] = f"{holder['encryptedValue'][:-4]}AAAA"
        changed = await thread.resume(key=key, payload=True)

    assert (late.status, changed.status, thread.paid) == (400, 400, [])
    assert "has expired" in late.json()["error"]["message"]
    assert "has no open interrupt" in changed.json()["error"]["message"]
