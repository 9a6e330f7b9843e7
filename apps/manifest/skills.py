"""Skill documents that an application adds to the installed ones."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from apps.manifest.nodes import PREVIEW, Marks, Node


class PromptSkill(Node):
    type: Literal["dial-prompt"] = "dial-prompt"
    url: str = Field(description="prompts/<bucket>/<path>", json_schema_extra=Marks(resource=True))


class FolderSkill(Node):
    model_config = ConfigDict(json_schema_extra=PREVIEW)

    type: Literal["dial-skill"] = "dial-skill"
    url: str = Field(description="skills/<bucket>/<path>", json_schema_extra=Marks(resource=True))


Skill = Annotated[PromptSkill | FolderSkill, Field(discriminator="type")]
