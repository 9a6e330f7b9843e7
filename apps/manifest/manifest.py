"""What an operator may write: the whole of an application in one document."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from apps.manifest.contexts import Context
from apps.manifest.features import Features
from apps.manifest.hooks import Hook
from apps.manifest.nodes import Marks, Node
from apps.manifest.orchestrator import Orchestrator
from apps.manifest.skills import Skill
from apps.manifest.starters import ConversationStarters
from apps.manifest.toolsets import ToolSet


class ToolDefaults(Node):
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] | None = None


class Manifest(Node):
    orchestrator: Orchestrator
    contexts: tuple[Context, ...]
    tool_sets: tuple[ToolSet, ...]
    starters: tuple[str, ...] | None = Field(
        default=None,
        json_schema_extra=Marks(deprecated=True, advice="Write `conversation_starters`."),
    )
    conversation_starters: ConversationStarters | None = None
    skills: tuple[Skill, ...] | None = None
    hooks: tuple[Hook, ...] | None = Field(default=None, json_schema_extra=Marks(preview=True))
    features: Features | None = Field(default_factory=Features)
    tool_defaults: ToolDefaults = Field(default_factory=ToolDefaults)
