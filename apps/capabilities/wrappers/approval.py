"""Makes tool calls wait for the user's approval.

The page shows a card. Its JSON contains `title`, a description of the call; `name`, the tool's
name; `arguments` as the model wrote them; `editable`, the JSON Schemas of the arguments that the
user may change; `risk`; `always`, the scopes that *Don't ask again* offers; `four_eyes`, true if
another user has to answer; `private`, true if only the user may read the arguments; and `because`,
a sentence about the untrusted source that the conversation has read, if any. The answer is
`{"outcome": "approved" | "denied" | "timeout"}`, with changed `arguments` or a `reason`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from msgspec import structs

from apps.accounts.caller import Caller, owner_ids, personal_bucket
from apps.agent.ledger import Consent, InteractionKind, InteractionRequest
from apps.agent.tool_titles import in_words
from apps.agent.tools import Invocation, PendingResult, ToolResult
from apps.capabilities.registry import Opening, PreparedTool, announce_nothing
from apps.capabilities.wrappers.approval_rules import ApprovalRules, Decision
from apps.capabilities.wrappers.arguments import Arguments
from apps.capabilities.wrappers.display import Display
from apps.capabilities.wrappers.numbered_cards import NumberedCard
from apps.capabilities.wrappers.value_texts import (
    ERROR_CHARACTERS,
    VALUE_CHARACTERS,
    fence_code,
    one_line,
    shorten_text,
)
from apps.errors import NotApproved
from apps.manifest.names import sanitize

Risk = Literal["read-only", "changes", "destructive"]

FORBIDDEN = (
    "Error: this call is not allowed here. Do not repeat it. Continue without it, and mention "
    "what you left out."
)
TIMED_OUT = (
    "Error: nobody approved this call in time, so it was not made. Tell the user, and do not "
    "repeat it unless they ask you to."
)
DENIED = "Error: the user did not approve this call, so it was not made. Do not repeat it."
NOBODY_ELSE = (
    "Error: this call needs the approval of another user, which is impossible here, so it was "
    "not made. Do not repeat it, and mention what you left out."
)
UNCHANGEABLE = (
    "Error: the answer changes arguments that may not be changed, so the call was not made."
)

APPROVED: Mapping[InteractionKind, InteractionRequest] = {
    "approval": InteractionRequest(
        "", "approval", {}, answer={"outcome": "approved"}, answered_by="operator"
    )
}
"""The answer that approves a call without asking a user. It is used for calls that an operator made
or configured.
"""

APPROVE, DENY = 1, 2
RISKS = {"destructive": "It may destroy something.", "changes": "It changes something."}
WHY_CHARACTERS = 300
ADVICE = "Answer with a number. Any other answer denies the call."


def with_approval(
    tool: PreparedTool, rules: ApprovalRules, arguments: Arguments, display: Display, risk: Risk
) -> PreparedTool:
    """Return a tool whose calls run only if the rules or a user allow them.

    A call's stage opens after the approval. Each call first checks whether the conversation has
    read untrusted content.
    """
    is_guarded = risk != "read-only" and rules.after_untrusted == "confirm"

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        name, given = tool.spec.name, invocation.arguments
        written = tool.full_name
        decision = rules.judge(name, with_defaults(arguments, given), full_name=written)
        if decision == "deny":
            return refusal_result(FORBIDDEN)
        answered = invocation.answers.get("approval")
        if answered is not None:
            return await apply_decision(tool, rules, opening, invocation, answered)
        because = opening.taint.reason if is_guarded else ""
        consent = invocation.ledger.consent(name)
        if written and consent is None:
            # A decision about a name without its hash may refer to another tool.
            plain = invocation.ledger.consent(sanitize(written))
            consent = "confirm" if plain == "confirm" else None
        if not because and not has_to_ask(rules, decision, consent):
            return await tool.work(opening, invocation)
        if rules.nearest("four_eyes") and not invocation.ledger.is_kept:
            return refusal_result(NOBODY_ELSE)
        title = display.title(given, opening.caller.client.locale)
        asked = card(rules, arguments, title, name, given, risk, because)
        asked |= {"private": True} if tool.is_private else {}
        seconds, is_set = rules.nearest("seconds"), rules.sets("seconds")
        waiting = InteractionRequest("", "approval", asked, seconds, is_time_set=is_set)
        return PendingResult(interactions=(waiting,))

    early = tool.announce if rules.mode != "confirm" and not is_guarded else announce_nothing
    return replace(tool, work=work, announce=early)


def has_to_ask(rules: ApprovalRules, decision: Decision, consent: Consent | None) -> bool:
    """Return True if the rules or the user's earlier decision require approval.

    Untrusted content is not considered here.
    """
    if decision == "allow":
        return consent == "confirm" and rules.asks
    return consent != "always" or not rules.always or bool(rules.nearest("four_eyes"))


async def apply_decision(
    tool: PreparedTool,
    rules: ApprovalRules,
    opening: Opening,
    invocation: Invocation,
    answered: InteractionRequest,
) -> ToolResult:
    """Run or deny a call according to the user's decision, and return its result."""
    answer = answered.answer or {}
    if answer.get("outcome") == "timeout":
        return refusal_result(TIMED_OUT)
    if answer.get("outcome") != "approved":
        reason = str(answer.get("reason") or "").strip()
        told = (
            f"{DENIED} Their reason: {shorten_text(reason, ERROR_CHARACTERS)}" if reason else DENIED
        )
        return refusal_result(told)
    if rules.nearest("four_eyes") and is_asker(opening.caller, answered.answered_by):
        return refusal_result(DENIED)
    changed = answer.get("arguments") or {}
    if not isinstance(changed, Mapping) or changed.keys() - set(rules.nearest("editable")):
        return refusal_result(UNCHANGEABLE)
    # The tool checks the arguments again, so that its rules also apply to the user's changes.
    approved = {**invocation.arguments, **changed}
    if changed and rules.judge(tool.spec.name, approved, full_name=tool.full_name) == "deny":
        return refusal_result(FORBIDDEN)
    return await tool.work(opening, structs.replace(invocation, arguments=approved))


def is_asker(caller: Caller, answered_by: str) -> bool:
    """Return True if the caller answered their own approval request, or if the answering user is
    unknown.
    """
    if not answered_by or personal_bucket(answered_by) == personal_bucket(caller.bucket):
        return True
    place = owner_ids(answered_by)
    return place is not None and place[0] == caller.principal


def refusal_result(text: str) -> ToolResult:
    return ToolResult(text, failure=NotApproved(text))


def with_defaults(arguments: Arguments, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with defaults, so that omitting an argument does not circumvent a rule
    about it.
    """
    return {**arguments.defaults, **{k: v for k, v in given.items() if v is not None}}


def card(
    rules: ApprovalRules,
    arguments: Arguments,
    title: str,
    name: str,
    given: Mapping[str, Any],
    risk: Risk,
    because: str = "",
) -> dict[str, Any]:
    properties = arguments.schema.get("properties", {})
    editable = {key: properties[key] for key in rules.nearest("editable") if key in properties}
    labels = {key: label(key, properties.get(key)) for key in {**given, **editable}}
    return {
        "title": title,
        "name": name,
        "arguments": dict(given),
        "editable": editable,
        "risk": risk,
        # If the conversation has read untrusted sources, this choice has no effect.
        "always": [] if because else list(rules.always),
        "four_eyes": bool(rules.nearest("four_eyes")),
        **({"labels": labels} if labels else {}),
        **({"because": because} if because else {}),
    }


def label(key: str, schema: Any) -> str:
    """Return an argument's name for users: the title in its schema, or its key in words."""
    title = schema.get("title") if isinstance(schema, Mapping) else None
    return title if isinstance(title, str) and title.strip() else in_words(key)


def approval_card(asked: Mapping[str, Any]) -> NumberedCard:
    """Return an approval card as text, for users who answer with a message."""
    arguments = shorten_text(
        json.dumps(asked["arguments"], ensure_ascii=False, indent=1), VALUE_CHARACTERS
    )
    # The call is in a code block, because parts of it come from the model and untrusted content.
    because = one_line(asked.get("because", ""), WHY_CHARACTERS)
    call = fence_code(
        f"{one_line(asked['title'])}\n{asked['name']} {arguments}\n{because}".rstrip()
    )
    risk = RISKS.get(asked["risk"], "")
    text = f"**Do you approve this call?** {risk}".rstrip()
    return NumberedCard(f"{text}\n\n{call}", ("Approve", "Deny"), ADVICE)


def approval_answer(asked: Mapping[str, Any], text: str, value: Any = None) -> dict[str, Any]:
    """Convert a message to an answer. Any text other than a choice denies the call, and becomes the
    `reason`.
    """
    chosen = approval_card(asked).chosen(text, value)
    if chosen == (APPROVE,):
        return {"outcome": "approved"}
    return {"outcome": "denied"} if chosen == (DENY,) else {"outcome": "denied", "reason": text}
