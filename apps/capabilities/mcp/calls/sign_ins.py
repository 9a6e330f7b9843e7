"""Asks the user to sign in or to open a page when a server requires this, and retries the call."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

import mcp_types as types
from mcp import Client

from apps.capabilities.mcp.sessions.elicitation import MOST_AT_ONCE, ElicitationHandler, RunningCall
from apps.capabilities.mcp.sessions.elicitation_forms import NotAskable
from apps.capabilities.mcp.sessions.failures import ConnectionFailed
from apps.capabilities.mcp.toolsets.bindings import ToolsetBinding
from apps.capabilities.registry import Key, Opening
from apps.workspace.egress.request_context import RequestContext
from apps.workspace.port import SignIn

CHALLENGE = "dial.epam.com/auth-challenge"
SERVICE_SIGN_IN = "external-service/signin"
MOST_SCOPES = 10
"""One tool result can request sign-ins for up to this many scopes."""
SCOPE_CHARACTERS = 1_000
NOT_OPENED = "{} The user did not open the required page."

REQUIRED = Key[dict[str, None]]("wanted_sign_ins")
OUTCOMES = Key[Mapping[str, SignIn]]("sign_in_outcomes")

T = TypeVar("T")
Question = Callable[[Client], Awaitable[T]]


def require_sign_in(toolset_ids: Iterable[str], opening: Opening) -> None:
    opening.findings.get_or_make(REQUIRED, dict).update(dict.fromkeys(toolset_ids))


async def sign_in_once(opening: Opening) -> Mapping[str, SignIn]:
    """Ask the user to sign in to all required toolsets, once per run. Return the outcomes."""
    wanted = opening.findings[REQUIRED]
    ask = partial(opening.workspace.sign_in, list(wanted))
    return await opening.findings.get_or_ask(OUTCOMES, ask)


def sign_in_problem(outcome: SignIn, label: str) -> str:
    """Return the reason why a toolset is still unavailable after the user was asked to sign in."""
    match outcome:
        case "success":
            return f"Sign-in succeeded but toolset '{label}' initialization still failed"
        case "unavailable":
            return f"Toolset '{label}' requires sign-in, but no client channel is available"
        case "denied":
            return f"Sign-in was denied for toolset '{label}'"
        case "timeout":
            return f"Sign-in timed out for toolset '{label}'"
        case "error":
            return f"Sign-in failed for toolset '{label}'"


async def ask_server(
    binding: ToolsetBinding,
    opening: Opening,
    question: Question[T],
    make_context: Callable[[ToolsetBinding], RequestContext] = ToolsetBinding.request_context,
) -> T:
    """Send a request to a server. If the toolset requires a sign-in, ask the user, and retry.

    Raises `ConnectionFailed` if the request fails.
    """
    slot, toolset_id = binding.slot, binding.toolset.workspace_id
    began = slot.sign_ins.count

    async def sign_in() -> bool:
        return (await opening.workspace.sign_in([toolset_id])).get(toolset_id) == "success"

    try:
        return await slot.ask(make_context(binding), question)
    except ConnectionFailed as failure:
        if not failure.needs_sign_in or not toolset_id:
            raise
        if not await slot.sign_ins.since(began, toolset_id, sign_in):
            raise
    slot.forget_failures()
    return await slot.ask(make_context(binding), question)


async def ask_tool(
    binding: ToolsetBinding, opening: Opening, question: Question[types.CallToolResult]
) -> types.CallToolResult:
    """Call a tool. If the result requires a sign-in to a service behind the tool, ask the user, and
    retry.

    Raises `ConnectionFailed` if the call fails.
    """
    sign_ins = binding.slot.sign_ins
    began = sign_ins.count
    make_context = ToolsetBinding.call_context
    answer = await ask_server(binding, opening, question, make_context)
    scopes = challenged_scopes(answer)

    async def sign_in() -> bool:
        for scope in scopes:
            if await opening.workspace.sign_in_to_service(scope) != "success":
                return False
        return True

    if scopes and await sign_ins.since(began, scopes, sign_in):
        return await ask_server(binding, opening, question, make_context)
    return answer


def challenged_scopes(answer: types.CallToolResult) -> tuple[str, ...]:
    """Return the scopes of the services that require a sign-in, without duplicates."""
    found = (answer.meta or {}).get(CHALLENGE) if answer.is_error else None
    scopes = tuple(dict.fromkeys(scopes_in(found))) if isinstance(found, list) else ()
    return scopes[:MOST_SCOPES]


def scopes_in(challenges: Iterable[object]) -> Iterable[str]:
    for one in challenges:
        if isinstance(one, Mapping) and one.get("method") == SERVICE_SIGN_IN:
            scope = one.get("scope")
            if isinstance(scope, str) and 0 < len(scope) <= SCOPE_CHARACTERS:
                yield scope


async def call_after_pages(
    handler: ElicitationHandler, running: RunningCall, call: Callable[[], Awaitable[T]]
) -> T:
    """Call a tool. If the server requires that the user opens pages first, ask the user, and retry.

    Raises `ConnectionFailed` if the call fails, or if the user does not open the pages.
    """
    try:
        return await call()
    except ConnectionFailed as failure:
        is_askable = "elicitation" in running.ledger.can_ask
        if not is_askable or not 0 < len(failure.pages) <= MOST_AT_ONCE:
            raise
        try:
            if not await handler.show_pages(running, failure.pages):
                raise replace(failure, text=NOT_OPENED.format(failure.text)) from failure
        except NotAskable:
            raise failure from None
    return await call()
