"""System prompts: written in the manifest, taken from a template, or kept in DIAL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from apps.manifest.nodes import Node


class CustomSystemPrompt(Node):
    type: Literal["custom"] = "custom"
    content: str = Field(description="The prompt; {name} stands for the variable of that name.")
    variables: dict[str, str]


class PredefinedSystemPrompt(Node):
    type: Literal["predefined"] = "predefined"
    template: str = Field(min_length=1, description="Name of a prompt that is installed here.")
    content: str | None = Field(default=None, description="Filled in from the template.")


class DialSystemPrompt(Node):
    type: Literal["dial"] = "dial"
    path: str = Field(description="Path of a DIAL prompt, with its bucket.")
    variables: dict[str, str] | None = None
    content: str | None = Field(default=None, description="Filled in from DIAL.")


SystemPrompt = Annotated[
    CustomSystemPrompt | PredefinedSystemPrompt | DialSystemPrompt, Field(discriminator="type")
]

ToolSystemPrompt = Annotated[CustomSystemPrompt | DialSystemPrompt, Field(discriminator="type")]


def fill(text: str, variables: Mapping[str, str]) -> str:
    """Replace `{name}` for the given names; other braces stay as they are, those of values too."""
    if not variables:
        return text
    names = "|".join(map(re.escape, variables))
    return re.sub(rf"\{{({names})\}}", lambda found: variables[found[1]], text)
