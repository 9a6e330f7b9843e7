"""Defines system prompts: written in the manifest, predefined, or stored in DIAL."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from apps.manifest.nodes import Node


class CustomSystemPrompt(Node):
    """A prompt that is written in the manifest."""

    type: Literal["custom"] = "custom"
    """The prompt is written in the manifest."""
    content: str
    """The prompt. QuickApps replaces `{name}` with the value of the variable `name`. Other braces
    remain unchanged.
    """
    variables: dict[str, str]
    """Values for the prompt's variables. For example, `{"team": "Depot North"}` replaces `{team}`
    in the prompt. `{}`: none.
    """


class PredefinedSystemPrompt(Node):
    """A prompt from the predefined content."""

    type: Literal["predefined"] = "predefined"
    """The prompt is part of the predefined content."""
    template: str = Field(min_length=1)
    """The name of a predefined prompt, such as `gpt_prompt`. An application with an unknown prompt
    cannot be used.
    """
    content: str | None = None
    """QuickApps fills in this field from the template. Do not set it."""


class DialSystemPrompt(Node):
    """A prompt that is stored in DIAL Core."""

    type: Literal["dial"] = "dial"
    """The prompt is stored in DIAL Core."""
    path: str
    """The path of the prompt, including its bucket, `prompts/<bucket>/<path>`. Each request reads
    the prompt with the caller's permissions.
    """
    variables: dict[str, str] | None = None
    """Values for the prompt's variables, as in a `custom` prompt."""
    content: str | None = None
    """QuickApps fills in this field from DIAL. Do not set it."""


SystemPrompt = Annotated[
    CustomSystemPrompt | PredefinedSystemPrompt | DialSystemPrompt, Field(discriminator="type")
]

ToolSystemPrompt = Annotated[CustomSystemPrompt | DialSystemPrompt, Field(discriminator="type")]


def fill_text(text: str, variables: Mapping[str, str]) -> str:
    """Replace each `{name}` in the text with its value in `variables`. Other braces do not change."""
    if not variables:
        return text
    names = "|".join(map(re.escape, variables))
    return re.sub(rf"\{{({names})\}}", lambda found: variables[found[1]], text)
