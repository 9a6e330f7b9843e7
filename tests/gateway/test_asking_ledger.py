"""R-11: runs with questions for a user of the API; the next message is the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core import signing
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.accounts.models import ApiKey
from apps.agent.messages import Thoughts
from apps.agent.model import ReasoningDelta
from apps.agent.tools import PendingResult
from apps.capabilities.questions.answers import SKIPPED
from apps.capabilities.questions.capability import TOOL_NAME
from apps.capabilities.wrappers.approval import DENIED, NOBODY_ELSE
from apps.catalog.models import Application
from apps.catalog.resolve import forget_applications
from apps.conversations.answering.continuation import sweeper
from apps.doors import run_consumer
from apps.doors.admission import Admission
from apps.live import interactions
from apps.live.models import AnsweredCall
from apps.runs.asking_ledger import (
    CHANGED,
    FOREIGN,
    LATE,
    NOT_BROUGHT,
    OUTDATED,
    PENDING,
    REPLAYED,
    SALT,
)
from tests.capabilities.manifests import Files, parameter, tool, tool_set
from tests.capabilities.service import Service, json_reply, serving
from tests.chat.scripts import ScriptedWorkspace as PageWorkspace
from tests.chat.scripts import scene, settled
from tests.contract import proves
from tests.fakes import calling
from tests.gateway.scripts import (
    MANIFEST,
    ScriptedModel,
    ScriptedWorkspace,
    add_application,
    ask,
    ends,
    says,
)
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

PAY, LOOK = "shop_pay", "shop_look_up"
QUESTION = {
    "question": "Which colour?",
    "options": [{"label": "Red", "description": "Like\nfire."}, {"label": "Blue"}],
}
CARD = (
    "**Do you approve this call?** It changes something.\n\n"
    '```\nshop · pay\nshop_pay {\n "amount": 5\n}\n```\n\n'
    "1. Approve\n2. Deny\n\n"
    "Answer with a number. Any other answer denies the call.\n\n"
    "Waiting for your answer until "
)
FORM = {
    "type": "object",
    "properties": {
        "answer": {
            "type": "integer",
            "description": "Answer with a number. Any other answer denies the call.",
            "dial:widget": "buttons",
            "oneOf": [
                {
                    "const": number,
                    "title": title,
                    "dial:widgetOptions": {
                        "populateText": title,
                        "submit": True,
                        "confirmationMessage": None,
                    },
                }
                for number, title in ((1, "Approve"), (2, "Deny"))
            ],
        }
    },
}


def paying(url: str, **approval: Any) -> dict[str, Any]:
    """Return a manifest with one tool that needs approval and one that does not."""
    amount = {"amount": parameter("body", "amount", "integer")}
    pay = tool(f"{url}/pay", "post", amount, approval={"mode": "confirm", **approval})
    pay["open_ai_tool"]["function"]["name"] = "pay"
    tools = tool_set(pay, tool(f"{url}/look", "get"))
    return {**MANIFEST, "tool_sets": [tools], "features": {"timestamp": None, "questions": {}}}


def pays(call_id: str = "1", amount: int = 5) -> tuple[str, str, dict[str, Any]]:
    return call_id, PAY, {"amount": amount}


@dataclass
class Talk:
    """A conversation with an application. `said` has the messages as the client stores them."""

    application: Application
    model: ScriptedModel
    shop: Service
    is_streamed: bool = False
    key: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    said: list[dict[str, Any]] = field(default_factory=list)

    @property
    def workspace(self) -> ScriptedWorkspace:
        workspace: Any = ScriptedWorkspace(self.model)
        workspace.files = Files()
        return workspace  # type: ignore[no-any-return]

    def then(self, *script: Any) -> None:
        self.model.answers.append(script)

    async def say(self, text: str, form: Any = None, **fields: Any) -> dict[str, Any]:
        """Send a message and store the answer."""
        custom = {} if form is None else {"custom_content": {"form_value": form}}
        self.said.append({"role": "user", "content": text, **custom})
        answer = await self.send(**fields)
        self.said.append(answer)
        return answer

    async def send(self, **fields: Any) -> dict[str, Any]:
        body = {"messages": self.said, "stream": self.is_streamed, **fields}
        headers = {"Api-Key": self.key} if self.key else {}
        headers |= self.headers
        answer = await ask(self.application, self.workspace, body, headers=headers)
        if not self.is_streamed:
            [choice] = answer.json()["choices"]
            assert choice["finish_reason"] == "stop"
            return dict(choice["message"])
        assert answer.chunks()[-1]["choices"][0]["finish_reason"] == "stop"
        custom: dict[str, Any] = {}
        for chunk in answer.chunks():
            delta = chunk["choices"][0]["delta"].get("custom_content", {})
            custom |= {name: delta[name] for name in ("state", "form_schema") if name in delta}
        return {"role": "assistant", "content": answer.text(), "custom_content": custom}

    @property
    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = self.said[-1]["custom_content"]["state"]
        return state

    def results(self) -> list[str]:
        """Return the results of calls that the model read last, without the skill that it always
        reads."""
        messages = self.model.asked[-1].messages
        return [m.text for m in messages if m.role == "tool" and "# Files" not in m.text]

    def heard(self) -> str:
        """Return the user's last message as the model read it."""
        return [m.text for m in self.model.asked[-1].messages if m.role == "user"][-1]

    @property
    def paid(self) -> list[Any]:
        return [json.loads(seen.body) for seen in self.shop.seen if seen.method == "POST"]


@asynccontextmanager
async def talk(*calls: Any, **fields: Any) -> AsyncIterator[Talk]:
    """Return a conversation whose first answer makes these calls. Its model then reports that it is
    done."""
    approval = fields.pop("approval", {})
    async with serving(json_reply('{"done": true}')) as shop:
        application = await add_application(manifest=paying(shop.url, **approval))
        model = ScriptedModel(calling(*(calls or [pays()])))
        yield Talk(application, model, shop, **fields)


@asynccontextmanager
async def asked(*calls: Any, **fields: Any) -> AsyncIterator[Talk]:
    async with talk(*calls, **fields) as it:
        await it.say("Pay.")
        it.then(says("Done."), ends())
        yield it


def from_core(monkeypatch: pytest.MonkeyPatch, bucket: str = "dial-somebody") -> None:
    async def visit(scope: Any, while_connected: Any) -> Admission:
        slug = scope["path"].split("/")[3]
        return Admission(Caller(bucket, kind="dial", appdata=f"{bucket}/appdata/{slug}"))

    monkeypatch.setattr(run_consumer, "visit", visit)


# --- Approvals --------------------------------------------------------------------------------


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_a_call_is_asked_about_in_words_and_made_when_the_next_message_approves_it(
    is_streamed,
):
    async with asked(is_streamed=is_streamed) as it:
        question, before = it.said[-1], it.paid
        answer = await it.say("1")

        assert question["content"].startswith(CARD)
        assert "form_schema" not in question["custom_content"]
        assert (before, it.paid, answer["content"]) == ([], [{"amount": 5}], "Done.")
        assert PENDING not in it.state
        it.then(says("Welcome."), ends())
        await it.say("Thanks.")
        assert it.paid == [{"amount": 5}]
        told = [(m.role, m.text) for m in it.model.asked[-1].messages][4:]
        [result] = it.results()
        assert told == [
            ("assistant", question["content"]),
            ("user", "1"),
            ("assistant", " "),
            ("tool", result),
            ("assistant", "Done."),
            ("user", "Thanks."),
        ]


@pytest.mark.parametrize("text", ["1", " 1\n", "approve", "Approve"])
async def test_only_an_exact_choice_approves(text):
    async with asked() as it:
        await it.say(text)

        assert it.paid == [{"amount": 5}]


@each_row(
    "text", ["yes", "1!", "1.", "01 ", "1, 1", "1, 2", "approved", "3", "0", "", "\u0661", "1" * 5]
)
async def test_any_other_words_deny_the_call_and_reach_the_model(text):
    async with asked() as it:
        await it.say(text)

        told = f"{DENIED} Their reason: {text.strip()}" if text else DENIED
        assert (it.paid, it.results(), it.heard()) == ([], [told], text)


async def test_what_is_denied_is_not_made():
    async with asked() as it:
        await it.say("2")

        assert (it.paid, it.results()) == ([], [DENIED])


@each_row("is_streamed", [True, False])
@each_row(("value", "is_made"), [(1, True), (2, False), (True, False), (1.0, False), ("1", False)])
async def test_dial_gets_a_form_whose_value_answers(monkeypatch, is_streamed, value, is_made):
    from_core(monkeypatch)
    async with asked(is_streamed=is_streamed) as it:
        question = it.said[-1]
        await it.say("Approve", form={"answer": value})

        assert question["content"].startswith(CARD)
        assert question["custom_content"]["form_schema"] == FORM
        assert bool(it.paid) is is_made


async def test_dial_takes_the_number_as_text_too(monkeypatch):
    from_core(monkeypatch)
    async with asked() as it:
        await it.say("1")

        assert it.paid == [{"amount": 5}]


async def test_calls_of_one_answer_are_asked_one_after_the_other_and_the_rest_is_made_at_once():
    calls: tuple[Any, ...] = (pays("a", 5), ("b", LOOK, {}), pays("c", 7))
    async with asked(*calls) as it:
        first, looked = it.said[-1]["content"], it.shop.targets
        second = (await it.say("1"))["content"]
        paid = it.paid
        answer = await it.say("2")

        assert ('"amount": 5' in first, '"amount": 7' in second) == (True, True)
        assert (looked, paid, it.paid) == (["GET /look"], [{"amount": 5}], [{"amount": 5}])
        assert answer["content"] == "Done."
        assert [text == DENIED for text in it.results()] == [False, False, True]


async def test_what_the_model_thought_before_it_asked_comes_back_with_the_call():
    async with talk() as it:
        it.model.answers = [[ReasoningDelta("Hm.", "reasoning_content"), *calling(pays())]]
        await it.say("Pay.")
        it.then(says("Done."), ends())
        await it.say("1")

        [waited] = [m for m in it.model.asked[-1].messages if m.thoughts is not None]
        assert (waited.thoughts, waited.tool_calls[0].name) == (
            Thoughts({"reasoning_content": "Hm."}, "scripted"),
            PAY,
        )


async def test_other_words_deny_all_calls_that_wait():
    async with asked(pays("a", 5), pays("c", 7)) as it:
        answer = await it.say("No, wait.")

        assert (it.paid, answer["content"]) == ([], "Done.")
        assert it.results() == [f"{DENIED} Their reason: No, wait."]


async def test_tools_of_the_client_wait_with_the_calls():
    weather = {"type": "function", "function": {"name": "weather", "parameters": {}}}
    async with talk(pays(), ("w", "weather", {})) as it:
        await it.say("Pay.", tools=[weather])
        it.said.append({"role": "user", "content": "1"})
        body = {"messages": it.said, "tools": [weather]}
        answer = (await ask(it.application, it.workspace, body)).json()["choices"][0]

        [call] = answer["message"]["tool_calls"]
        assert (answer["finish_reason"], call["id"]) == ("tool_calls", "w")
        assert it.paid == [{"amount": 5}]


async def test_four_eyes_never_hold_here():
    async with talk(approval={"four_eyes": True}) as it:
        it.then(says("Not paid."), ends())
        answer = await it.say("Pay.")

        assert (answer["content"], it.results(), it.paid) == ("Not paid.", [NOBODY_ELSE], [])


# --- What does not count ----------------------------------------------------------------------


def resigned(token: str, **changes: Any) -> str:
    return signing.dumps({**signing.loads(token, salt=SALT), **changes}, salt=SALT)


def with_other_arguments(token: str) -> str:
    """Return other calls under the signature of the original ones."""
    content = signing.loads(token, salt=SALT)
    content["message"]["tool_calls"][0]["function"]["arguments"] = '{"amount": 500}'
    forged = signing.dumps(content, salt=SALT, key="x" * 50)
    return ":".join([forged.split(":")[0], *token.split(":")[1:]])


def told_why(it: Talk, reason: str, text: str = "1") -> bool:
    """Return True if no call was made and the model read the reason before the message."""
    assert (it.paid, it.results()) == ([], [])
    return f": {reason}. The tool calls" in it.heard() and it.heard().endswith(f"\n\n{text}")


@each_row("is_streamed", [True, False])
@each_row(
    ("change", "reason"),
    [
        (lambda token: token[:-1] + ("A" if token[-1] != "A" else "B"), CHANGED),
        (with_other_arguments, CHANGED),
        (lambda token: signing.dumps(signing.loads(token, salt=SALT), salt="other"), CHANGED),
        (lambda token: {"calls": []}, CHANGED),
        (lambda token: 5, CHANGED),
        (lambda token: resigned(token, due=0), LATE),
    ],
)
async def test_a_forged_a_changed_and_a_late_answer_are_denied(is_streamed, change, reason):
    async with asked(is_streamed=is_streamed) as it:
        it.state[PENDING] = change(it.state[PENDING])
        await it.say("1")

        assert told_why(it, reason)


async def test_the_time_to_answer_is_that_of_the_manifest_where_it_sets_one():
    async with asked(approval={"seconds": 0.01}) as it:
        due = signing.loads(it.state[PENDING], salt=SALT)["due"]
        while timezone.now().timestamp() <= due:
            await asyncio.sleep(0)
        await it.say("1")

        assert told_why(it, LATE)


async def test_an_answer_of_another_caller_is_denied():
    _, mine = await sync_to_async(ApiKey.objects.create_key)(name="mine")
    _, other = await sync_to_async(ApiKey.objects.create_key)(name="other")
    async with asked(key=mine) as it:
        it.key = other
        await it.say("1")

        assert told_why(it, FOREIGN)


async def test_an_answer_through_another_door_is_denied(monkeypatch):
    async with asked() as it:
        from_core(monkeypatch)
        await it.say("1")

        assert told_why(it, FOREIGN)


async def test_an_answer_to_another_application_is_denied():
    async with asked() as it:
        it.application = await add_application(manifest=it.application.manifest)
        await it.say("1")

        assert told_why(it, FOREIGN)


async def test_an_answer_after_the_application_was_changed_is_denied():
    async with asked() as it:
        it.application.manifest = paying(it.shop.url, editable=["amount"])
        await it.application.asave()
        forget_applications()
        await it.say("1")

        assert told_why(it, OUTDATED)


@pytest.mark.parametrize("first", ["1", "2", "What is it?"])
async def test_an_answer_counts_once(first):
    async with asked() as it:
        before = list(it.said)
        await it.say(first)
        paid = it.paid
        it.said = before
        it.then(says("Again."), ends())
        it.shop.seen.clear()
        await it.say("1")

        assert len(paid) == (first == "1")
        assert told_why(it, REPLAYED)


@pytest.mark.postgres
async def test_of_two_answers_at_once_one_makes_the_call():
    async with asked() as it:
        it.then(says("Done."), ends())
        it.said.append({"role": "user", "content": "1"})
        await asyncio.gather(it.send(), it.send())

        heard = [request.messages for request in it.model.asked[1:]]
        notes = [any(REPLAYED in m.text for m in messages) for messages in heard]
        assert (it.paid, sorted(notes)) == ([{"amount": 5}], [False, True])


@pytest.mark.parametrize("is_from_core", [True, False])
async def test_a_client_that_brings_no_state_back_gets_the_call_denied(monkeypatch, is_from_core):
    if is_from_core:
        from_core(monkeypatch)
    async with asked() as it:
        it.said[-1] = {"role": "assistant", "content": it.said[-1]["content"]}
        await it.say("1")

        assert told_why(it, NOT_BROUGHT)


async def test_what_was_asked_before_the_last_answer_is_not_asked_any_more():
    async with asked() as it:
        await it.say("No.")
        it.said[-1] = {"role": "assistant", "content": "Done."}
        it.then(says("Hm."), ends())
        await it.say("1")

        assert (it.paid, it.heard()) == ([], "1")


async def test_rows_of_answered_calls_go_when_nobody_can_answer_them_any_more():
    async with asked() as it:
        await it.say("1")
        kept = await sync_to_async(interactions.delete_answered_calls)()
        await AnsweredCall.objects.aupdate(expires_at=timezone.now() - timedelta(seconds=1))

        assert (kept, await sync_to_async(interactions.delete_answered_calls)()) == (0, 1)


# --- Questions --------------------------------------------------------------------------------


def asks(**arguments: Any) -> tuple[str, str, Mapping[str, Any]]:
    return "q", TOOL_NAME, {**QUESTION, **arguments}


@proves("D-43")
@each_row(
    ("arguments", "text", "told"),
    [
        ({}, "2", 'The user chose: "Blue"'),
        ({}, "blue", 'The user chose: "Blue"'),
        ({}, "Green", "The user wrote: Green"),
        ({}, "Skip", SKIPPED),
        ({"allow_freeform": False}, "Green", SKIPPED),
        ({"input_type": "multi-select"}, "1, 2", 'The user chose: "Red", "Blue"'),
        ({"input_type": "text", "options": []}, "1", "The user wrote: 1"),
        ({"input_type": "text", "options": []}, "skip", SKIPPED),
    ],
)
async def test_d_43_a_question_is_answered_with_a_number_or_in_words(arguments, text, told):
    async with asked(asks(**arguments)) as it:
        await it.say(text)

        assert (it.results(), it.heard()) == ([told], text)


async def test_a_question_stands_in_the_answer_with_its_options():
    async with asked(asks()) as it:
        text = it.said[-1]["content"]

        assert text.rpartition(" until ")[0] == (
            "Which colour?\n- Red: Like fire.\n\n1. Red\n2. Blue\n\n"
            "Answer with a number, or in your own words; `skip` skips the question.\n\n"
            "Waiting for your answer"
        )


@proves("D-43")
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, {"type": "integer", "dial:widget": "buttons"}),
        (
            {"input_type": "multi-select"},
            {
                "type": "array",
                "uniqueItems": True,
                "items": {"type": "integer", "enum": [1, 2], "enumNames": ["Red", "Blue"]},
            },
        ),
    ],
)
async def test_a_question_is_a_form_in_dial(monkeypatch, arguments, field):
    from_core(monkeypatch)
    async with asked(asks(**arguments)) as it:
        form = it.said[-1]["custom_content"]["form_schema"]["properties"]["answer"]
        value: Any = [2, 1] if arguments else 2
        await it.say("Blue", form={"answer": value})

        assert field.items() <= form.items()
        chosen = '"Blue", "Red"' if arguments else '"Blue"'
        assert it.results() == [f"The user chose: {chosen}"]


async def test_a_question_without_options_has_no_form(monkeypatch):
    from_core(monkeypatch)
    async with asked(asks(input_type="text", options=[])) as it:
        assert "form_schema" not in it.said[-1]["custom_content"]


async def test_subagents_cannot_ask_here(settings):
    settings.ENABLE_PREVIEW_FEATURES = True
    features = {"timestamp": None, "subagents": {"enabled": True}}
    task = {"subagent_type": "general-purpose", "prompt": "Pay.", "tool_sets": ["shop"]}
    async with talk(("s", "internal_task", task)) as it:
        it.application.manifest = {**it.application.manifest, "features": features}
        await it.application.asave()
        forget_applications()
        it.then(*calling(pays()))
        it.then(says("Not paid."), ends())
        it.then(says("Done."), ends())
        answer = await it.say("Pay.")

        told = [m.text for asked in it.model.asked for m in asked.messages if m.role == "tool"]
        assert (answer["content"], it.paid, PendingResult().content in told) == ("Done.", [], True)


async def test_the_model_of_another_application_approves_nothing():
    async with asked() as it:
        it.headers = {"X-QUICKAPPS-CHAIN": "outer"}
        await it.say("1")
        it.then(*calling(pays()))
        it.then(says("Not paid."), ends())
        answer = await it.say("Pay.")

        assert (answer["content"], it.paid) == ("Not paid.", [])
        assert it.results() == [PendingResult().content]


# --- Both ways --------------------------------------------------------------------------------


@proves("R-11")
async def test_the_same_manifest_asks_on_the_page_and_through_dial(monkeypatch):
    monkeypatch.setattr(PageWorkspace, "files", Files(), raising=False)
    from_core(monkeypatch)
    async with asked() as it, scene(manifest=it.application.manifest) as on:
        card = signing.loads(it.state[PENDING], salt=SALT)["asked"]
        await it.say("1")
        on.model.put(*calling(pays()), None)
        tab = await on.visitor.tab(on.hub)
        await tab.ask("Pay.")
        frames = await tab.until("run.status", status="waiting")
        await settled(on.hub)
        [requested] = [one for one in frames if one["type"] == "interaction.requested"]
        frame = {name: requested[name] for name in ("run", "key", "kind")}
        await tab.send_json_to({"type": "answer", **frame, "answer": {"outcome": "approved"}})
        await tab.until("interaction.resolved")
        on.model.put(says("Done."), None)
        await sweeper(on.hub, on.visitor.open_workspace).sweep()
        await settled(on.hub)

        assert requested["asked"] == card
        assert it.paid == [{"amount": 5}] * 2
        told = [m.text for m in on.model.asked[-1].messages if m.role == "tool"]
        assert told[-1:] == it.results()
