"""Defines the built-in layers of the system prompt, and builds the system message from the layers."""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from django.conf import settings

from apps.accounts.teams import prompt_name
from apps.agent.messages import ModelMessage
from apps.catalog.content.prompts import template_variables
from apps.catalog.resolved_application import CONFIGURATION
from apps.errors import InitializationIssue, QuickAppError
from apps.manifest.contexts import UserDefinedContext
from apps.manifest.manifest import Manifest
from apps.manifest.prompts import (
    CustomSystemPrompt,
    DialSystemPrompt,
    PredefinedSystemPrompt,
    fill_text,
)
from apps.runs.prompt_layers import PromptContext, PromptLayer, PromptPart, text_parts

logger = logging.getLogger(__name__)

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


def platform_parts(context: PromptContext) -> Sequence[PromptPart]:
    """Return the predefined prompt of the platform, or () if there is none. Raises
    `InitializationIssue` if it is invalid.
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
    """Return the predefined prompt of the team. Raises `InitializationIssue` if it is invalid."""
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
    """Return a prompt of the manifest with its variables replaced by their values."""
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


def with_system(messages: Sequence[ModelMessage], text: str) -> list[ModelMessage]:
    """Return the messages with `text` as their only system message, or without a system message if
    it is "".
    """
    rest = [message for message in messages if message.role != "system"]
    return [ModelMessage("system", text), *rest] if text else rest


def without_content_gaps(message: ModelMessage) -> ModelMessage:
    """Replace the content of an empty assistant message with a space, because models would reject
    empty content.
    """
    if message.role == "assistant" and not message.content and not message.tool_calls:
        return replace(message, content=" ")
    return message
