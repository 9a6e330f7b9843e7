"""Calls that wait until a person has approved them.

The card of such a call gets this JSON: `title`, the call in words; `name` of the tool; `arguments`
as the model wrote them; `editable`, the JSON Schemas of those that the person may change; `risk`;
`always`, the scopes in which the person may spare the question from then on; `four_eyes`, whether
somebody else has to answer; `private`, where only the person may read the arguments; and `because`,
a sentence, where it is asked because of what the conversation has read.

The answer is `{"outcome": "approved" | "denied" | "timeout"}`, with changed `arguments` or a
`reason`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from apps.accounts.buckets import personal, place_of
from apps.accounts.caller import Caller
from apps.agent.ledger import Consent, Interaction, InteractionKind
from apps.agent.tools import Invocation, Pending, ToolResult
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.approval_rules import ApprovalRules, Decision
from apps.capabilities.wrappers.arguments import Arguments
from apps.capabilities.wrappers.display import Display
from apps.capabilities.wrappers.prepared import PreparedTool, unannounced
from apps.capabilities.wrappers.texts import ERROR_CHARACTERS, shortened
from apps.errors import NotApproved
from apps.manifest.names import sanitize

Risk = Literal["read-only", "changes", "destructive"]

FORBIDDEN = (
    "Error: this call is not allowed here, whoever asks for it. Do not repeat it; go on without it "
    "and say what was left out."
)
TIMED_OUT = (
    "Error: nobody approved this call in time, so it was not made. Say so; do not repeat it unless "
    "you are asked to."
)
DENIED = "Error: the person did not approve this call, so it was not made. Do not repeat it."
NOBODY_ELSE = (
    "Error: this call has to be approved by somebody else than the person who asks, and nobody else "
    "can be asked here, so it was not made. Do not repeat it; say what was left out."
)
UNCHANGEABLE = "Error: the answer changes arguments that may not be changed, so nothing was done."

APPROVED: Mapping[InteractionKind, Interaction] = {
    "approval": Interaction(
        "", "approval", {}, answer={"outcome": "approved"}, answered_by="operator"
    )
}
"""The answers of a call that an operator makes, or has written down."""


def with_approval(
    tool: PreparedTool, rules: ApprovalRules, arguments: Arguments, display: Display, risk: Risk
) -> PreparedTool:
    """Make only calls that the rules or a person allow. The stage of a call opens after that.

    What the conversation has read counts as it is when the call begins.
    """
    is_guarded = risk != "read-only" and rules.after_untrusted == "confirm"

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        name, given = tool.spec.name, invocation.arguments
        written = tool.full_name
        decision = rules.judge(name, with_defaults(arguments, given), full_name=written)
        if decision == "deny":
            return refused(FORBIDDEN)
        answered = invocation.answers.get("approval")
        if answered is not None:
            return await decided(tool, rules, opening, invocation, answered)
        because = opening.taint.reason if is_guarded else ""
        consent = invocation.ledger.consent(name)
        if written and consent is None:
            # What the person decided about the name without a hash may be about another tool.
            plain = invocation.ledger.consent(sanitize(written))
            consent = "confirm" if plain == "confirm" else None
        if not because and not has_to_ask(rules, decision, consent):
            return await tool.work(opening, invocation)
        if rules.nearest("four_eyes") and not invocation.ledger.is_kept:
            return refused(NOBODY_ELSE)
        title = display.title(given, opening.caller.locale)
        asked = card(rules, arguments, title, name, given, risk, because)
        asked |= {"private": True} if tool.is_private else {}
        seconds, is_set = rules.nearest("seconds"), rules.sets("seconds")
        waiting = Interaction("", "approval", asked, seconds, is_time_set=is_set)
        return Pending(interactions=(waiting,))

    early = tool.announce if rules.mode != "confirm" and not is_guarded else unannounced
    return replace(tool, work=work, announce=early)


def has_to_ask(rules: ApprovalRules, decision: Decision, consent: Consent | None) -> bool:
    """Whether the rules or the person want a question, whatever the conversation has read."""
    if decision == "allow":
        return consent == "confirm" and rules.asks
    return consent != "always" or not rules.always or bool(rules.nearest("four_eyes"))


async def decided(
    tool: PreparedTool,
    rules: ApprovalRules,
    opening: Opening,
    invocation: Invocation,
    answered: Interaction,
) -> ToolResult:
    """The result of a call that somebody decided about."""
    answer = answered.answer or {}
    if answer.get("outcome") == "timeout":
        return refused(TIMED_OUT)
    if answer.get("outcome") != "approved":
        reason = str(answer.get("reason") or "").strip()
        told = f"{DENIED} They said: {shortened(reason, ERROR_CHARACTERS)}" if reason else DENIED
        return refused(told)
    if rules.nearest("four_eyes") and is_asker(opening.caller, answered.answered_by):
        return refused(DENIED)
    changed = answer.get("arguments") or {}
    if not isinstance(changed, Mapping) or changed.keys() - set(rules.nearest("editable")):
        return refused(UNCHANGEABLE)
    # The tool checks the arguments once more, and its rules hold for what the person wrote too.
    approved = {**invocation.arguments, **changed}
    if changed and rules.judge(tool.spec.name, approved, full_name=tool.full_name) == "deny":
        return refused(FORBIDDEN)
    return await tool.work(opening, replace(invocation, arguments=approved))


def is_asker(caller: Caller, answered_by: str) -> bool:
    """Return whether the person who asks has answered, in whichever team; also if nobody is known to have."""
    if not answered_by or personal(answered_by) == personal(caller.bucket):
        return True
    place = place_of(answered_by)
    return place is not None and place[0] == caller.principal


def refused(text: str) -> ToolResult:
    return ToolResult(text, failure=NotApproved(text))


def with_defaults(arguments: Arguments, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the tool will see them: a rule must not be dodged by leaving one out."""
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
    return {
        "title": title,
        "name": name,
        "arguments": dict(given),
        "editable": editable,
        "risk": risk,
        # It would not be spared while the conversation is as it is.
        "always": [] if because else list(rules.always),
        "four_eyes": bool(rules.nearest("four_eyes")),
        **({"because": because} if because else {}),
    }
