"""System prompts: written in the manifest, taken from a template, or kept in DIAL."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from apps.manifest.nodes import Node


class CustomSystemPrompt(Node):
    """A prompt that is written here."""

    type: Literal["custom"] = "custom"
    """Says that the prompt is written here."""
    content: str
    """The prompt. `{name}` stands for the variable of that name; other braces stay as they are."""
    variables: dict[str, str]
    """What the names in braces stand for: `{"team": "Depot North"}`; `{}` for none."""


class PredefinedSystemPrompt(Node):
    """A prompt of the predefined content."""

    type: Literal["predefined"] = "predefined"
    """Says that the prompt is part of the predefined content."""
    template: str = Field(min_length=1)
    """Name of a predefined prompt, such as `gpt_prompt`. An application that names one that there is
    not cannot be used."""
    content: str | None = None
    """Filled in from the template; do not write it."""


class DialSystemPrompt(Node):
    """A prompt that is kept in DIAL Core."""

    type: Literal["dial"] = "dial"
    """Says that the prompt is kept in DIAL Core."""
    path: str
    """Path of the prompt with its bucket, `prompts/<bucket>/<path>`. It is read for each request with
    the rights of the caller."""
    variables: dict[str, str] | None = None
    """What names in braces in the prompt stand for, as in a `custom` prompt."""
    content: str | None = None
    """Filled in from DIAL; do not write it."""


SystemPrompt = Annotated[
    CustomSystemPrompt | PredefinedSystemPrompt | DialSystemPrompt, Field(discriminator="type")
]

ToolSystemPrompt = Annotated[CustomSystemPrompt | DialSystemPrompt, Field(discriminator="type")]


def fill(text: str, variables: Mapping[str, str]) -> str:
    """Replace `{name}` for the given names; other braces stay, also those in values."""
    if not variables:
        return text
    names = "|".join(map(re.escape, variables))
    return re.sub(rf"\{{({names})\}}", lambda found: variables[found[1]], text)
