"""Offers the conversation starters and skills of applications as MCP prompts."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import mcp_types as types
import msgspec
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.bodies import shorten_text
from apps.errors import ApplicationBroken, ApplicationNotFound, NotAuthenticated
from apps.mcp_server.requests import AdmittedRequest, admitted
from apps.mcp_server.tools import application_page, tool_name

PAGE_SIZE = 25
"""The number of applications per page of prompts. It is small, because each application's manifest
must be read.
"""
TASK = types.PromptArgument(
    name="task", title="Task", description="What to do with the skill.", required=True
)
_gaps = re.compile(r"[^A-Za-z0-9]+")


class OfferedPrompt(msgspec.Struct, frozen=True):
    """An MCP prompt for a conversation starter or a skill."""

    name: str
    title: str
    description: str
    text: str = ""
    """The text of the starter, or "" for a skill, whose prompt takes a task as its argument."""

    def describe(self) -> types.Prompt:
        arguments = None if self.text else [TASK]
        return types.Prompt(
            name=self.name, title=self.title, description=self.description, arguments=arguments
        )


def prompts_of(application: ResolvedApplication, *, is_only: bool) -> Iterator[OfferedPrompt]:
    """Yield the prompts of an application. `is_only` is True if the URL names the application.
    Otherwise, the prompts' names begin with the application's name.
    """
    prefix = "" if is_only else f"{tool_name(application.slug)}."
    taken: set[str] = set()
    starters = application.manifest.offered_starters
    for starter in starters.starters if starters is not None else ():
        name = free_name(f"{prefix}{word(starter.title)}", taken)
        yield OfferedPrompt(name, starter.title, application.title, starter.text)
    for skill in application.predefined.skills:
        document = skill.document
        name = free_name(f"{prefix}{word(document.name)}", taken)
        yield OfferedPrompt(name, document.name, document.description)


def word(title: str) -> str:
    return _gaps.sub("_", title).strip("_")[:64] or "prompt"


def free_name(name: str, taken: set[str]) -> str:
    """Return `name`, with a number if it is in `taken`, and add the result to `taken`."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


async def list_prompts(
    context: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    request = admitted(context)
    if (only := request.application) is not None:
        found = [one.describe() for one in prompts_of(only, is_only=True)]
        return types.ListPromptsResult(prompts=found)
    page, cursor = await application_page(request, params, PAGE_SIZE)
    found = []
    for row in page:
        if (application := await find_quietly(request, row.slug)) is not None:
            found += [one.describe() for one in prompts_of(application, is_only=False)]
    return types.ListPromptsResult(prompts=found, next_cursor=cursor)


async def find_quietly(request: AdmittedRequest, slug: str) -> ResolvedApplication | None:
    """Return the application, or None if it is broken or the caller cannot use it."""
    try:
        return await request.admission.find(slug)
    except (ApplicationBroken, ApplicationNotFound, NotAuthenticated):
        return None


async def get_prompt(
    context: ServerRequestContext[Any, Any], params: types.GetPromptRequestParams
) -> types.GetPromptResult:
    """Return a prompt. Raises `MCPError` if it is unknown, or needs a task that is missing."""
    request = admitted(context)
    application, is_only = request.application, request.application is not None
    if application is None:
        application = await find_quietly(request, params.name.partition(".")[0])
    offered = () if application is None else prompts_of(application, is_only=is_only)
    prompt = next((one for one in offered if one.name == params.name), None)
    if prompt is None:
        raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: '{shorten_text(params.name)}'.")
    text = prompt.text or skill_text(prompt.title, params.arguments or {})
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=prompt.description, messages=[message])


def skill_text(name: str, arguments: Mapping[str, str]) -> str:
    """Return the text of a skill's prompt. Raises `MCPError` if the arguments contain no task."""
    task = arguments.get(TASK.name, "").strip()
    if not task:
        raise MCPError(types.INVALID_PARAMS, f"The argument '{TASK.name}' is missing. Send it.")
    return f"Use the skill '{name}' for this task:\n\n{task}"
