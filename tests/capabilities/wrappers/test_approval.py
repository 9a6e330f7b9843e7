"""D-20…D-23: calls that wait until a user has approved them."""

import json
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from apps.agent.ledger import NO_LEDGER, WAITING, InteractionKind, InteractionRequest
from apps.agent.loop import AgentLoop
from apps.agent.loop_options import LoopTools
from apps.agent.messages import ModelMessage
from apps.agent.progress import Progress
from apps.agent.stages import silent
from apps.agent.tools import Invocation, PendingResult, ToolResult
from apps.capabilities.wrappers.approval import (
    DENIED,
    FORBIDDEN,
    TIMED_OUT,
    UNCHANGEABLE,
    Risk,
    approval_card,
    label,
    with_approval,
)
from apps.capabilities.wrappers.approval_rules import ApprovalRules
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.display import Display
from apps.capabilities.wrappers.internal import parameters, text_parameter
from apps.manifest.toolsets.approvals import Approval
from apps.manifest.toolsets.parameters import SimpleParameter
from tests.capabilities.manifests import opening_for
from tests.capabilities.wrappers.calls import answering
from tests.contract import proves
from tests.fakes import MemoryLedger, ScriptedModel, calling, saying
from tests.tables import each_row

AMOUNT = SimpleParameter(type="integer", description="How much.", default=500)
ARGUMENTS = read_arguments(parameters({"to": text_parameter("To whom."), "amount": AMOUNT}, "to"))
SMALL = {"arguments": [{"properties": {"amount": {"maximum": 100}}}]}


class Payments:
    """A tool that pays, under these rules, in a conversation that has `read` something untrusted.
    `made` has the arguments of the payments."""

    def __init__(self, risk: Risk = "changes", read: str = "", **rules: Any) -> None:
        self.made: list[Any] = []
        self.rules = ApprovalRules.of(Approval.model_validate({"mode": "confirm", **rules}))
        prepared = with_approval(answering(self.pay), self.rules, ARGUMENTS, Display("Pay"), risk)
        opening = opening_for()
        opening.taint.add(read)
        tool = prepared.bind(opening)
        self.tool = replace(tool, spec=replace(tool.spec, name="pay"))

    def pay(self, invocation: Invocation) -> ToolResult:
        self.made.append(invocation.arguments)
        return ToolResult("paid")

    async def call(
        self, answer: dict[str, Any] | None = None, by: str = "alice", **arguments: Any
    ) -> ToolResult:
        asked = InteractionRequest("t:1:0:a", "approval", {}, answer=answer, answered_by=by)
        answers: dict[InteractionKind, InteractionRequest] = (
            {} if answer is None else {"approval": asked}
        )
        return await self.tool.call(Invocation("a", arguments, answers=answers))


@proves("D-22")
async def test_a_call_waits_with_a_card_until_somebody_has_approved_it():
    payments = Payments(editable=["amount"], always=["conversation"], seconds=None)

    pending = await payments.call(to="Bob", amount=5)
    approved = await payments.call({"outcome": "approved"}, to="Bob", amount=5)

    assert isinstance(pending, PendingResult)
    card = {
        "title": "Pay",
        "name": "look_up",
        "arguments": {"to": "Bob", "amount": 5},
        "editable": {"amount": ARGUMENTS.schema["properties"]["amount"]},
        "risk": "changes",
        "always": ["conversation"],
        "four_eyes": False,
        "labels": {"to": "To", "amount": "Amount"},
    }
    assert pending.interactions == (
        InteractionRequest("", "approval", card, None, is_time_set=True),
    )
    assert json.loads(json.dumps(card)) == card
    assert approved == ToolResult("paid")
    assert payments.made == [{"to": "Bob", "amount": 5}]


@proves("T-07", "D-22")
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"outcome": "timeout"}, TIMED_OUT),
        ({"outcome": "denied"}, DENIED),
        ({"outcome": "denied", "reason": "Too much."}, f"{DENIED} Their reason: Too much."),
        ({"outcome": "approved", "arguments": {"to": "Eve"}}, UNCHANGEABLE),
        ({"outcome": "approved", "arguments": "all"}, UNCHANGEABLE),
        ({}, DENIED),
    ],
)
async def test_d_22_a_call_that_is_not_approved_is_not_made_and_the_model_is_told(answer, told):
    payments = Payments(editable=["amount"])

    result = await payments.call(answer or {"outcome": ""}, to="Bob", amount=5)

    assert (result.content, payments.made) == (told, [])
    assert str(result.failure) == told


async def test_changed_arguments_are_used_but_cannot_leave_the_rules():
    payments = Payments(
        editable=["amount"], deny={"arguments": [{"properties": {"amount": {"minimum": 1000}}}]}
    )

    less = await payments.call(
        {"outcome": "approved", "arguments": {"amount": 3}}, to="Bob", amount=5
    )
    more = await payments.call(
        {"outcome": "approved", "arguments": {"amount": 1000}}, to="Bob", amount=5
    )

    assert (less.content, more.content) == ("paid", FORBIDDEN)
    assert payments.made == [{"to": "Bob", "amount": 3}]


async def test_an_argument_that_is_left_out_is_judged_by_its_default():
    payments = Payments(allow=SMALL)

    assert isinstance(await payments.call(to="Bob"), PendingResult)
    assert await payments.call(to="Bob", amount=100) == ToolResult("paid")


@pytest.mark.parametrize(
    ("by", "made"), [("alice", 1), ("user-70", 1), ("user-7", 0), ("user-7-team-3", 0), ("", 0)]
)
async def test_four_eyes_want_the_answer_of_somebody_else(by, made):
    payments = Payments(four_eyes=True)  # requested for user-7

    await payments.call({"outcome": "approved"}, by, to="Bob")

    assert len(payments.made) == made


@proves("D-23")
@pytest.mark.parametrize(
    ("rules", "consent", "waits"),
    [
        ({}, "always", True),
        ({"always": ["application"]}, "always", False),
        ({"always": ["application"], "four_eyes": True}, "always", True),
        ({"mode": "auto"}, None, False),
        ({"mode": "auto"}, "confirm", True),
        ({"mode": "auto", "allow": SMALL}, "confirm", True),
    ],
)
async def test_d_23_people_may_be_stricter_and_spare_questions_only_where_it_is_offered(
    rules, consent, waits
):
    payments, ledger = Payments(**rules), MemoryLedger()
    if consent is not None:
        ledger.consents["look_up"] = consent

    result = await payments.tool.call(Invocation("a", {"to": "Bob", "amount": 7}, ledger=ledger))

    assert isinstance(result, PendingResult) is waits


@pytest.mark.parametrize(("consent", "waits"), [("confirm", True), ("always", False)])
async def test_a_person_stays_stricter_with_a_tool_whose_name_got_a_hash(consent, waits):
    prepared = replace(answering(lambda invocation: ToolResult("paid")), full_name="desk_a.b")
    rules = ApprovalRules.of(Approval.model_validate({"mode": "auto"}))
    tool = with_approval(prepared, rules, ARGUMENTS, Display("Pay"), "changes").bind(opening_for())
    ledger = MemoryLedger()
    ledger.consents["desk_a_b"] = consent

    result = await tool.call(Invocation("a", {"to": "Bob"}, ledger=ledger))

    assert isinstance(result, PendingResult) is waits


@proves("D-22")
async def test_each_call_of_a_batch_is_judged_by_its_own_arguments():
    payments = Payments(allow=SMALL, deny={"patterns": ["Eve"]})
    ledger, progress = MemoryLedger(), Progress()
    calls = (
        ("a", "pay", {"to": "Bob", "amount": 1}),
        ("b", "pay", {"to": "Bob", "amount": 900}),
        ("c", "pay", {"to": "Eve", "amount": 1}),
    )
    model = ScriptedModel(list(calling(*calls)), list(saying("Done.")))
    tools = {"pay": payments.tool}
    question = [ModelMessage("user", "Pay!")]

    first = AgentLoop(model, "gpt", LoopTools(tools), ledger=ledger)
    assert await first.run(question, silent, Progress()) == WAITING
    assert [key for key, _ in ledger.interactions] == ["t:1:1:b"]
    assert payments.made == [{"to": "Bob", "amount": 1}]

    ledger.answer("t:1:1:b", "approval", outcome="approved")
    again = AgentLoop(model, "gpt", LoopTools(tools), ledger=ledger, is_resumed=True)
    assert await again.run(question, silent, progress) == "stop"

    results = [message.content for message in progress.conversation.added if message.role == "tool"]
    assert results == ["paid", "paid", FORBIDDEN]
    assert payments.made == [{"to": "Bob", "amount": 1}, {"to": "Bob", "amount": 900}]


async def test_where_nobody_can_be_asked_the_model_is_told():
    payments, progress = Payments(), Progress()
    model = ScriptedModel(list(calling(("a", "pay", {"to": "Bob"}))), list(saying("Done.")))

    loop = AgentLoop(model, "gpt", LoopTools({"pay": payments.tool}), ledger=NO_LEDGER)
    assert await loop.run([ModelMessage("user", "Pay!")], silent, progress) == "stop"

    assert progress.conversation.added[1].content == PendingResult().content
    assert payments.made == []


PAGE = "web page example.org"
GUARDED = {"mode": "auto", "after_untrusted": "confirm"}
ANY = {"patterns": ["."]}


@pytest.mark.parametrize("answered", [None, "approved", "denied"])
@each_row(
    ("rules", "consent", "read", "risk", "decision"),
    [
        # Nothing untrusted was read, so the setting has no effect.
        (GUARDED, None, "", "changes", "allow"),
        ({**GUARDED, "mode": "confirm"}, None, "", "changes", "confirm"),
        ({**GUARDED, "mode": "confirm", "allow": ANY}, None, "", "changes", "allow"),
        ({**GUARDED, "deny": ANY}, None, "", "changes", "deny"),
        # The setting is off by default.
        ({"mode": "auto"}, None, PAGE, "destructive", "allow"),
        ({"mode": "auto", "after_untrusted": "auto"}, None, PAGE, "destructive", "allow"),
        ({"mode": "auto", "after_untrusted": None}, None, PAGE, "destructive", "allow"),
        # Calls that may change something wait, even if they are allowed.
        (GUARDED, None, PAGE, "changes", "confirm"),
        (GUARDED, None, PAGE, "destructive", "confirm"),
        ({**GUARDED, "allow": ANY}, None, PAGE, "changes", "confirm"),
        ({**GUARDED, "mode": "confirm", "always": ["application"]}, "always", PAGE, "changes",
         "confirm"),
        (GUARDED, "confirm", PAGE, "changes", "confirm"),
        # Read-only calls do not wait, and denied calls stay denied.
        (GUARDED, None, PAGE, "read-only", "allow"),
        ({**GUARDED, "deny": ANY}, None, PAGE, "changes", "deny"),
        ({**GUARDED, "deny": ANY}, None, PAGE, "read-only", "deny"),
    ],
)  # fmt: skip
async def test_after_untrusted_content_what_may_change_anything_waits(
    rules, consent, read, risk, decision, answered
):
    payments, ledger = Payments(risk, read, **rules), MemoryLedger()
    if consent is not None:
        ledger.consents["look_up"] = consent
    answer = InteractionRequest(
        "", "approval", {}, answer={"outcome": answered}, answered_by="alice"
    )
    invocation = Invocation("a", {"to": "Bob", "amount": 7}, ledger=ledger)
    if answered is not None:
        invocation = structs.replace(invocation, answers={"approval": answer})

    result = await payments.tool.call(invocation)

    if decision == "deny":
        assert result.content == FORBIDDEN
    elif answered == "denied":
        assert result.content == DENIED
    else:
        assert isinstance(result, PendingResult) is (decision == "confirm" and answered is None)
    makes = decision != "deny" and answered != "denied" and not isinstance(result, PendingResult)
    assert len(payments.made) == makes


@pytest.mark.parametrize(
    ("schema", "expected"),
    [({"title": "Home town"}, "Home town"), ({"title": " "}, "Birth place"), (None, "Birth place")],
)
def test_an_argument_is_named_by_its_title_or_in_words(schema, expected):
    assert label("birth_place", schema) == expected


async def test_the_card_says_why_it_asks_and_offers_no_other_time():
    payments = Payments("destructive", PAGE, **GUARDED, always=["conversation"])

    pending = await payments.call(to="Bob", amount=5)

    assert isinstance(pending, PendingResult)
    [interaction] = pending.interactions
    assert json.loads(json.dumps(interaction.asked)) == {
        "title": "Pay",
        "name": "look_up",
        "arguments": {"to": "Bob", "amount": 5},
        "editable": {},
        "risk": "destructive",
        "always": [],
        "four_eyes": False,
        "labels": {"to": "To", "amount": "Amount"},
        "because": f"This conversation has read untrusted content: {PAGE}.",
    }


@pytest.mark.parametrize(
    ("tool", "toolset", "application", "expected"),
    [
        (None, None, None, "auto"),
        (None, None, "confirm", "confirm"),
        (None, "auto", "confirm", "auto"),
        ("confirm", "auto", None, "confirm"),
    ],
)
def test_the_nearest_level_says_whether_untrusted_content_matters(
    tool, toolset, application, expected
):
    levels = [Approval(after_untrusted=level) for level in (tool, toolset, application)]

    assert ApprovalRules.of(*levels).after_untrusted == expected


def test_r_11_the_text_says_why_it_is_asked_where_nothing_of_it_is_markup():
    asked = {
        "title": "Shop · pay",
        "name": "shop_pay",
        "arguments": {"amount": 5},
        "risk": "destructive",
        "because": "This conversation has read untrusted content:\nfile [x](https://x).",
    }

    assert approval_card(asked).text == (
        "**Do you approve this call?** It may destroy something.\n\n"
        '```\nShop · pay\nshop_pay {\n "amount": 5\n}\n'
        "This conversation has read untrusted content: file [x](https://x).\n```"
    )
