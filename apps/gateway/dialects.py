"""Two dialects at one door. How the caller was admitted decides, never a header.

Whom DIAL Core sends gets what DIAL promises; everybody else gets what OpenAI's API does. Both read
a body into a question, which becomes a run as soon as its application is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from django.conf import settings

from apps.catalog.resolve import ResolvedApplication
from apps.errors import QuickAppError
from apps.gateway import openai_requests, schemas, shape
from apps.gateway.openai_messages import read_conversation
from apps.gateway.openai_requests import OpenAIRequest, wishes
from apps.gateway.schemas import ChatRequest, invalid
from apps.manifest.orchestrator import ClientPermissions
from apps.runs.requests import RunRequest
from apps.workspace.port import Workspace

NOTHING_IGNORED: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Demand:
    """A run that is asked for, and the names of the parameters that have no effect on it."""

    request: RunRequest
    ignored: frozenset[str] = NOTHING_IGNORED


@dataclass(frozen=True, slots=True)
class Question:
    """A body that was read. `demand` raises `BadRequest`."""

    asked: ChatRequest
    demand: Callable[[ResolvedApplication], Demand]


def limits() -> dict[str, int]:
    return {
        "max_depth": settings.GATEWAY_MAX_DEPTH,
        "max_messages": settings.GATEWAY_MAX_MESSAGES,
    }


# --- DIAL Core's ------------------------------------------------------------------------------


def read_for_core(body: bytes) -> Question:
    """Raises `BadRequest`."""
    asked = schemas.read(body, **limits())
    return Question(asked, partial(demand_of_core, asked))


def demand_of_core(asked: ChatRequest, application: ResolvedApplication) -> Demand:
    external = schemas.to_specs(asked)
    shape.check(asked.messages, external)
    messages = tuple(schemas.to_message(message, external) for message in asked.messages)
    return Demand(RunRequest(messages, external, asked.tool_choice, asked.response_format))


# --- OpenAI's ---------------------------------------------------------------------------------


def read_openai(body: bytes) -> Question:
    """Raises `BadRequest`."""
    asked, unknown = openai_requests.read(body, **limits())
    return Question(asked, partial(demand_of_openai, asked, unknown))


def demand_of_openai(
    asked: OpenAIRequest, unknown: frozenset[str], application: ResolvedApplication
) -> Demand:
    external = openai_requests.to_specs(asked)
    conversation = read_conversation(asked.messages, external)
    permissions = application.manifest.orchestrator.client
    if conversation.instructions:
        check_system_messages(asked, permissions)
    wished = wishes(
        asked,
        application.slug,
        fixed=application.parameters.keys(),
        permitted=permissions.parameters,
    )
    request = RunRequest(
        conversation.messages,
        external,
        asked.tool_choice,
        asked.response_format,
        parameters=wished.forwarded,
        instructions=conversation.instructions,
        textual_results=conversation.textual_results,
        requires_client_tool=openai_requests.requires_client_tool(asked, external),
    )
    return Demand(request, wished.ignored | unknown)


def check_system_messages(asked: OpenAIRequest, permissions: ClientPermissions) -> None:
    """Raises `BadRequest` where the manifest forbids them."""
    if permissions.system_messages:
        return
    index = next(i for i, message in enumerate(asked.messages) if message.role in shape.SYSTEM)
    raise invalid(
        f"messages.{index}.role",
        f"This application forbids '{asked.messages[index].role}' messages of its clients "
        "(orchestrator.client.system_messages). Leave it out.",
    )


async def with_unsupported(
    demand: Demand, application: ResolvedApplication, workspace: Workspace
) -> Demand:
    """Add the parameters that the model is known not to support to the ignored ones.

    Raises `BadRequest` for `logprobs`. The run reports a deployment that cannot be found.
    """
    wished = demand.request.parameters
    if not wished:
        return demand
    try:
        info = await workspace.deployment(application.manifest.orchestrator.deployment.id)
    except QuickAppError:
        return demand
    if info.supported_parameters is None:
        return demand
    if wished.get("logprobs") and "logprobs" not in info.supported_parameters:
        raise invalid("logprobs", "The model of this application tells none. Leave it out.")
    return replace(demand, ignored=demand.ignored | (wished.keys() - info.supported_parameters))
