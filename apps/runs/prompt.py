"""Builds the system prompt in layers, and defines the built-in layers.

`settings.PROMPT_LAYERS` lists the layers by dotted path, in the order in which the model reads
them. Text that changes with every request, such as the time, comes after the conversation instead,
so that services can cache the beginning of requests.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from apps.accounts.caller import Caller
from apps.accounts.teams import prompt_name
from apps.agent.messages import ModelMessage
from apps.agent.meter import PromptSpan
from apps.catalog.content.prompts import template_variables
from apps.catalog.resolved_application import CONFIGURATION, ResolvedApplication
from apps.errors import InitializationIssue, QuickAppError
from apps.manifest.contexts import UserDefinedContext
from apps.manifest.manifest import Manifest
from apps.manifest.prompts import (
    CustomSystemPrompt,
    DialSystemPrompt,
    PredefinedSystemPrompt,
    fill_text,
)
from apps.runs.requests import RunRequest
from apps.workspace.port import Workspace

logger = logging.getLogger(__name__)

SEPARATOR = "\n\n"
_variable = re.compile(r"\{([A-Za-z_]\w*)\}")
PLATFORM_PROMPT = "platform"
PROMPT_PATH = "orchestrator.system_prompt"
CAPABILITY_LAYERS = {"skills": "skills", "memory": "memory"}
"""Maps each capability that has its own prompt layer to that layer. All others use `TOOLS`."""
TOOLS = "tools"
PERSON_INTRODUCTION = (
    "The person you talk with has written the following about how you should answer. Follow it where "
    "it does not contradict anything above."
)
FOLDER_INTRODUCTION = (
    "The person keeps this conversation in a folder and has written the following for all "
    "conversations in it. Follow it where it does not contradict anything above."
)


class PromptPart(msgspec.Struct, frozen=True, gc=False):
    """Part of the system prompt. `source` is the display name of the part's origin."""

    layer: str
    source: str
    text: str


class PromptContext(msgspec.Struct, frozen=True):
    """The data from which a run's prompt layers are built."""

    application: ResolvedApplication
    request: RunRequest
    workspace: Workspace
    caller: Caller
    messages: Sequence[ModelMessage] = ()
    instructions: Sequence[tuple[str, str]] = ()
    """The instructions of open capabilities, each with the capability's name."""


Build = Callable[[PromptContext], Sequence[PromptPart] | Awaitable[Sequence[PromptPart]]]
"""A function that returns the parts of a layer, or an awaitable that returns them. The awaitables
of all layers run concurrently.
"""


@dataclass(frozen=True, slots=True)
class PromptLayer:
    """A layer of the system prompt. If a required layer fails, the model is not called. If any
    other layer fails, it is omitted.
    """

    name: str
    build: Build
    is_required: bool = False


def prompt_layers() -> tuple[PromptLayer, ...]:
    """Return the configured layers. Raises `ImproperlyConfigured` if a path does not refer to a
    layer.
    """
    return layers_at(tuple(settings.PROMPT_LAYERS))


@lru_cache(maxsize=4)
def layers_at(paths: tuple[str, ...]) -> tuple[PromptLayer, ...]:
    found = []
    for path in paths:
        layer = import_string(path)
        if not isinstance(layer, PromptLayer):
            raise ImproperlyConfigured(
                f"PROMPT_LAYERS contains {path!r}, which is not a PromptLayer but a "
                f"{type(layer).__name__}."
            )
        found.append(layer)
    return tuple(found)


async def compose(layers: Sequence[PromptLayer], context: PromptContext) -> tuple[PromptPart, ...]:
    """Return the nonempty parts of all layers in order. Raises `InitializationIssue` if a required
    layer fails.
    """
    built: list[Any] = [begin(layer, context) for layer in layers]
    if waiting := [at for at, one in enumerate(built) if one and hasattr(one, "__await__")]:
        begun = (built[place] for place in waiting)
        ended = await asyncio.gather(*begun, return_exceptions=True)
        for place, found in zip(waiting, ended, strict=True):
            built[place] = found
    parts: list[PromptPart] = []
    for layer, found in zip(layers, built, strict=True):
        if not found:  # Most layers do not wait.
            continue
        if isinstance(found, BaseException):
            give_up(layer, found)
        else:
            parts += [part for part in found if part.text.strip()]
    return tuple(parts)


def begin(
    layer: PromptLayer, context: PromptContext
) -> Sequence[PromptPart] | Awaitable[Sequence[PromptPart]] | Exception:
    try:
        return layer.build(context)
    except Exception as error:  # noqa: BLE001 - reported by `give_up`
        return error


def give_up(layer: PromptLayer, error: BaseException) -> None:
    """Log that a layer failed. Raises `InitializationIssue` if the model cannot be called without
    the layer.
    """
    if not isinstance(error, Exception):
        raise error
    if layer.is_required and isinstance(error, InitializationIssue):
        raise error
    logger.error("The layer %r of the system prompt failed", layer.name, exc_info=error)
    if layer.is_required:
        raise InitializationIssue(
            f"The layer '{layer.name}' of the system prompt failed unexpectedly; see the server's "
            "log.",
            section=CONFIGURATION,
        ) from error


def join_parts(parts: Iterable[PromptPart]) -> str:
    return SEPARATOR.join(part.text for part in parts)


def spans_of(parts: Iterable[PromptPart]) -> tuple[PromptSpan, ...]:
    return tuple(PromptSpan(part.layer, part.source, len(part.text)) for part in parts)


def text_parts(layer: str, source: str, text: str) -> Sequence[PromptPart]:
    """Return the text as the only part of a layer, or () if it is blank."""
    return (PromptPart(layer, source, text),) if text.strip() else ()


# --- Layers ------------------------------------------------------------------------------------


def platform_parts(context: PromptContext) -> Sequence[PromptPart]:
    """Return the platform's predefined prompt, or () if there is none. Raises `InitializationIssue`
    if it is invalid.
    """
    name, application = PLATFORM_PROMPT, context.application
    if problem := application.broken_prompts.get(name):
        raise InitializationIssue(
            f"The predefined prompt '{name}' of the platform: {problem}",
            section=CONFIGURATION,
        )
    if not (text := application.layer_prompts.get(name, "")):
        return ()
    text = fill_text(text, template_variables(context.caller.client.locale))
    return text_parts("platform", f"predefined prompt '{name}'", text)


def application_parts(
    context: PromptContext,
) -> Sequence[PromptPart] | Awaitable[Sequence[PromptPart]]:
    """Return the operator's prompt and the inline contexts of the manifest. With
    `ALLOW_OVERRIDE_SYSTEM_MESSAGE`, the client's prompt replaces the operator's.
    """
    may_replace = settings.ALLOW_OVERRIDE_SYSTEM_MESSAGE
    instead = context.request.instructions if may_replace else ""
    sent = override(context.messages, allowed=may_replace) or instead
    manifest = context.application.manifest
    prompt = manifest.orchestrator.system_prompt
    contexts = inline_contexts(manifest)
    if sent:
        return with_contexts("system message of the client", sent, contexts)
    if isinstance(prompt, DialSystemPrompt):
        return stored_parts(prompt, context, contexts)
    return with_contexts(
        PROMPT_PATH, written_prompt(prompt, context.caller.client.locale), contexts
    )


async def stored_parts(
    prompt: DialSystemPrompt, context: PromptContext, contexts: Sequence[str]
) -> Sequence[PromptPart]:
    """Read a prompt from DIAL Core, and return it with the inline contexts. Raises
    `InitializationIssue` if the prompt cannot be read or is invalid.
    """
    try:
        text = fill_variables(await context.workspace.prompt(prompt.path), prompt.variables or {})
    except QuickAppError as error:
        raise InitializationIssue(f"{PROMPT_PATH}: {error}", section=CONFIGURATION) from error
    return with_contexts(PROMPT_PATH, text, contexts)


def with_contexts(source: str, prompt: str, contexts: Sequence[str]) -> Sequence[PromptPart]:
    layer = "application"
    return (
        PromptPart(layer, source, prompt),
        *(PromptPart(layer, "contexts", c) for c in contexts),
    )


def team_parts(
    context: PromptContext,
) -> Sequence[PromptPart] | Awaitable[Sequence[PromptPart]]:
    team = context.caller.team
    return () if team is None else prompt_of_team(team, context)


async def prompt_of_team(team: int, context: PromptContext) -> Sequence[PromptPart]:
    """Return the team's predefined prompt. Raises `InitializationIssue` if it is invalid."""
    name, application = await prompt_name(team), context.application
    if problem := application.broken_prompts.get(name):
        raise InitializationIssue(f"The predefined prompt '{name}' of the team: {problem}")
    text = application.layer_prompts.get(name, "")
    filled_in = fill_text(text, template_variables(context.caller.client.locale))
    return text_parts("team", f"predefined prompt '{name}'", filled_in)


def place_parts(context: PromptContext) -> Sequence[PromptPart]:
    place = context.request.place
    return () if place is None else text_parts("place", f"place '{place.slug}'", place.prompt)


def capability_parts(context: PromptContext) -> Sequence[PromptPart]:
    return [
        PromptPart(CAPABILITY_LAYERS.get(name, TOOLS), f"capability '{name}'", text)
        for name, text in context.instructions
    ]


def person_parts(
    context: PromptContext,
) -> Sequence[PromptPart] | Awaitable[Sequence[PromptPart]]:
    read = context.request.chat.own_instructions
    return () if read is None else written_by_person(read)


async def written_by_person(read: Callable[[], Awaitable[str]]) -> Sequence[PromptPart]:
    """Return the user's custom instructions. Their layer comes after the layers for all users, so
    that services can cache the common beginning.
    """
    text = (await read()).strip()
    if not text:
        return ()
    return text_parts(
        "person", "own instructions of the person", f"{PERSON_INTRODUCTION}\n\n{text}"
    )


def folder_parts(context: PromptContext) -> Sequence[PromptPart]:
    text = context.request.chat.folder_instructions
    if not text:
        return ()
    return text_parts("folder", "instructions of the folder", f"{FOLDER_INTRODUCTION}\n\n{text}")


def client_parts(context: PromptContext) -> Sequence[PromptPart]:
    """Return the client's instructions, or () if they have replaced the operator's prompt."""
    added = "" if settings.ALLOW_OVERRIDE_SYSTEM_MESSAGE else context.request.instructions
    return text_parts("client", "system message of the client", added)


PLATFORM = PromptLayer("platform", platform_parts, is_required=True)
APPLICATION = PromptLayer("application", application_parts, is_required=True)
TEAM = PromptLayer("team", team_parts)
PLACE = PromptLayer("place", place_parts)
CAPABILITIES = PromptLayer("capabilities", capability_parts)
PERSON = PromptLayer("person", person_parts)
FOLDER = PromptLayer("folder", folder_parts)
CLIENT = PromptLayer("client", client_parts)


def written_prompt(prompt: CustomSystemPrompt | PredefinedSystemPrompt, locale: str = "en") -> str:
    """Return a prompt from the manifest with its variables replaced by their values."""
    if isinstance(prompt, CustomSystemPrompt):
        return fill_variables(prompt.content, prompt.variables)
    return fill_text(prompt.content or "", template_variables(locale))


def fill_variables(text: str, variables: Mapping[str, str]) -> str:
    """Replace the `{variables}` in the text with their values. Undefined variables remain and are
    logged.
    """
    if "{" not in text:
        return text
    undefined = sorted(set(_variable.findall(text)) - variables.keys())
    if undefined:
        logger.warning("The system prompt has undefined variables: %s", ", ".join(undefined))
    return fill_text(text, variables)


def inline_contexts(manifest: Manifest) -> list[str]:
    return [c.content for c in manifest.contexts if isinstance(c, UserDefinedContext)]


def override(messages: Sequence[ModelMessage], *, allowed: bool) -> str:
    """Return the client's system message if it may replace the operator's prompt, otherwise ""."""
    text = messages[0].text.strip() if messages and messages[0].role == "system" else ""
    if text and not allowed:
        logger.warning("Dropped the client's system message: the application does not allow it.")
        return ""
    return text
