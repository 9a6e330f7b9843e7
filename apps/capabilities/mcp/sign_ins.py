"""Asking the person behind a call to sign in, and trying again when they did."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import TypeVar

import mcp_types as types
from mcp import Client

from apps.capabilities.mcp.bindings import ToolsetBinding
from apps.capabilities.mcp.connection_failures import ConnectionFailed
from apps.capabilities.registry import Key, Opening
from apps.workspace.egress.request_context import RequestContext
from apps.workspace.port import SignIn

CHALLENGE = "dial.epam.com/auth-challenge"
SERVICE_SIGN_IN = "external-service/signin"
MOST_SCOPES = 10
"""That one answer may ask a person for."""
SCOPE_CHARACTERS = 1_000

WANTED = Key[dict[str, None]]("wanted_sign_ins")
OUTCOMES = Key[Mapping[str, SignIn]]("sign_in_outcomes")

T = TypeVar("T")
Question = Callable[[Client], Awaitable[T]]


def want_sign_in(toolset_ids: Iterable[str], opening: Opening) -> None:
    opening.known.get_or_make(WANTED, dict).update(dict.fromkeys(toolset_ids))


async def sign_in_once(opening: Opening) -> Mapping[str, SignIn]:
    """Ask the person for all wanted sign-ins at once; later calls get the same outcomes."""
    wanted = opening.known[WANTED]
    ask = partial(opening.workspace.sign_in, list(wanted))
    return await opening.known.get_or_ask(OUTCOMES, ask)


def sign_in_problem(outcome: SignIn, label: str) -> str:
    """Why a toolset is missing that asked for a sign-in."""
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


async def ask(
    binding: ToolsetBinding,
    opening: Opening,
    question: Question[T],
    make_context: Callable[[ToolsetBinding], RequestContext] = ToolsetBinding.request_context,
) -> T:
    """Ask a question; if the toolset of the workspace wants a sign-in, ask again after it.

    Raises `ConnectionFailed`.
    """
    slot, toolset_id = binding.slot, binding.toolset.kept_as
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


async def call(
    binding: ToolsetBinding, opening: Opening, question: Question[types.CallToolResult]
) -> types.CallToolResult:
    """As `ask`; the answer may also be that a service behind the tool wants a sign-in.

    Raises `ConnectionFailed`.
    """
    sign_ins = binding.slot.sign_ins
    began = sign_ins.count
    make_context = ToolsetBinding.call_context
    answer = await ask(binding, opening, question, make_context)
    scopes = challenged(answer)

    async def sign_in() -> bool:
        for scope in scopes:
            if await opening.workspace.sign_in_to_service(scope) != "success":
                return False
        return True

    if scopes and await sign_ins.since(began, scopes, sign_in):
        return await ask(binding, opening, question, make_context)
    return answer


def challenged(answer: types.CallToolResult) -> tuple[str, ...]:
    """The scopes of the services that an answer wants a sign-in for, each once."""
    found = (answer.meta or {}).get(CHALLENGE) if answer.is_error else None
    scopes = tuple(dict.fromkeys(scopes_in(found))) if isinstance(found, list) else ()
    return scopes[:MOST_SCOPES]


def scopes_in(challenges: Iterable[object]) -> Iterable[str]:
    for one in challenges:
        if isinstance(one, Mapping) and one.get("method") == SERVICE_SIGN_IN:
            scope = one.get("scope")
            if isinstance(scope, str) and 0 < len(scope) <= SCOPE_CHARACTERS:
                yield scope
