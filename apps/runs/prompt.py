"""The system message: the operator's prompt, the inline contexts, additions of capabilities."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from apps.agent.messages import Message
from apps.catalog.content.prompts import template_variables
from apps.manifest.contexts import UserDefinedContext
from apps.manifest.manifest import Manifest
from apps.manifest.prompts import (
    CustomSystemPrompt,
    DialSystemPrompt,
    PredefinedSystemPrompt,
    fill,
)
from apps.workspace.port import Workspace

logger = logging.getLogger(__name__)

_variable = re.compile(r"\{([A-Za-z_]\w*)\}")


async def configured_prompt(manifest: Manifest, workspace: Workspace, locale: str = "en") -> str:
    """The operator's prompt with its variables filled in. Raises `Unsupported`."""
    prompt = manifest.orchestrator.system_prompt
    match prompt:
        case CustomSystemPrompt():
            return filled(prompt.content, prompt.variables)
        case DialSystemPrompt():
            return filled(await workspace.prompt(prompt.path), prompt.variables or {})
        case PredefinedSystemPrompt():
            return fill(prompt.content or "", template_variables(locale))


def filled(text: str, variables: Mapping[str, str]) -> str:
    """The text with its variables; undefined ones stay, and are logged."""
    if "{" not in text:
        return text
    undefined = sorted(set(_variable.findall(text)) - variables.keys())
    if undefined:
        logger.warning("The system prompt has undefined variables: %s", ", ".join(undefined))
    return fill(text, variables)


def inline_contexts(manifest: Manifest) -> list[str]:
    return [c.content for c in manifest.contexts if isinstance(c, UserDefinedContext)]


def override(messages: Sequence[Message], *, allowed: bool) -> str:
    """The client's own system text if it may replace the operator's, else ""."""
    text = messages[0].text.strip() if messages and messages[0].role == "system" else ""
    if text and not allowed:
        logger.warning("A system message of the client was dropped.")
        return ""
    return text


def with_system(messages: Sequence[Message], parts: Iterable[str]) -> list[Message]:
    """Put the joined parts in front; no system message if all are empty."""
    rest = [message for message in messages if message.role != "system"]
    text = "\n\n".join(part for part in parts if part.strip())
    return [Message("system", text), *rest] if text else rest


def without_content_gaps(message: Message) -> Message:
    """The message, with a space for text if it is an assistant's empty one: models refuse those."""
    if message.role == "assistant" and not message.content and not message.tool_calls:
        return replace(message, content=" ")
    return message
