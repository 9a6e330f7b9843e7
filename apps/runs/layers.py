"""The layers of the system prompt: what builds each of them, and how they become one text.

`settings.PROMPT_LAYERS` lists layers by dotted path, in the order in which the model reads them.
What changes with every request, such as the time, is no layer: it stands behind the conversation,
so that the service can keep the beginning of the request.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from apps.accounts.caller import Caller
from apps.agent.messages import Message
from apps.agent.sent_request import PromptSpan
from apps.catalog.resolved_application import CONFIGURATION, ResolvedApplication
from apps.errors import InitializationIssue
from apps.runs.requests import RunRequest
from apps.workspace.port import Workspace

logger = logging.getLogger(__name__)

SEPARATOR = "\n\n"


class PromptPart(msgspec.Struct, frozen=True, gc=False):
    """A piece of the system prompt; `source` names for people where it is written."""

    layer: str
    source: str
    text: str


class PromptContext(msgspec.Struct, frozen=True):
    """What a layer may use: one run of one caller.

    `instructions` are those of the open capabilities, each with the name of its capability.
    """

    application: ResolvedApplication
    request: RunRequest
    workspace: Workspace
    caller: Caller
    given: Sequence[Message] = ()
    instructions: Sequence[tuple[str, str]] = ()


Build = Callable[[PromptContext], Sequence[PromptPart] | Awaitable[Sequence[PromptPart]]]
"""The parts of a layer. One that has to wait returns an awaitable: all layers wait together."""


@dataclass(frozen=True, slots=True)
class PromptLayer:
    """Without a required layer no model is asked; an optional one that fails is left out and logged."""

    name: str
    build: Build
    is_required: bool = False


def prompt_layers() -> tuple[PromptLayer, ...]:
    """The configured layers. Raises `ImproperlyConfigured` for an entry that is none."""
    return layers_at(tuple(settings.PROMPT_LAYERS))


@cache
def layers_at(paths: tuple[str, ...]) -> tuple[PromptLayer, ...]:
    found = []
    for path in paths:
        layer = import_string(path)
        if not isinstance(layer, PromptLayer):
            raise ImproperlyConfigured(
                f"PROMPT_LAYERS names {path!r}, which is not a PromptLayer but "
                f"{type(layer).__name__}."
            )
        found.append(layer)
    return tuple(found)


async def compose(layers: Sequence[PromptLayer], context: PromptContext) -> tuple[PromptPart, ...]:
    """The parts of all layers in their order, without empty ones.

    Raises `InitializationIssue` for a required layer that cannot be built.
    """
    built: list[Any] = [begin(layer, context) for layer in layers]
    if waiting := [place for place, one in enumerate(built) if hasattr(one, "__await__")]:
        begun = (built[place] for place in waiting)
        ended = await asyncio.gather(*begun, return_exceptions=True)
        for place, found in zip(waiting, ended, strict=True):
            built[place] = found
    parts: list[PromptPart] = []
    for layer, found in zip(layers, built, strict=True):
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
    except Exception as error:  # noqa: BLE001 - as one of those that wait, told by `give_up`
        return error


def give_up(layer: PromptLayer, error: BaseException) -> None:
    """Raises `InitializationIssue` if the layer is required."""
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


def joined(parts: Iterable[PromptPart]) -> str:
    return SEPARATOR.join(part.text for part in parts)


def spans_of(parts: Iterable[PromptPart]) -> tuple[PromptSpan, ...]:
    return tuple(PromptSpan(part.layer, part.source, len(part.text)) for part in parts)


def text_parts(layer: str, source: str, text: str) -> Sequence[PromptPart]:
    """One part, or none for an empty text."""
    return (PromptPart(layer, source, text),) if text.strip() else ()
