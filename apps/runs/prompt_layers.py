"""Builds the system prompt in layers.

`settings.PROMPT_LAYERS` lists the layers by dotted path, in the order in which the model reads
them. Text that changes with every request, such as the time, comes after the conversation instead,
so that services can cache the beginning of requests.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from apps.accounts.caller import Caller
from apps.agent.messages import ModelMessage
from apps.agent.meter import PromptSpan
from apps.catalog.resolved_application import CONFIGURATION, ResolvedApplication
from apps.errors import InitializationIssue
from apps.runs.requests import RunRequest
from apps.workspace.port import Workspace

logger = logging.getLogger(__name__)

SEPARATOR = "\n\n"


class PromptPart(msgspec.Struct, frozen=True, gc=False):
    """A part of the system prompt. `source` is the display name of the part's origin."""

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
"""A function that returns the parts of a layer, or an awaitable of them. The awaitables of all
layers run concurrently.
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
