"""Skill documents that an application adds to the installed ones."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from apps.manifest.nodes import PREVIEW, Marks, Node


class PromptSkill(Node):
    """A skill that is a prompt of DIAL Core."""

    type: Literal["dial-prompt"] = "dial-prompt"
    """Says that the skill is a prompt of DIAL Core."""
    url: str = Field(json_schema_extra=Marks(resource=True))
    """Path of the prompt, `prompts/<bucket>/<path>`; its text is a skill document. One that cannot be
    read is left out, and the answer says so."""


class FolderSkill(Node):
    """A skill that is a folder of DIAL Core, with files beside its document."""

    model_config = ConfigDict(json_schema_extra=PREVIEW)

    type: Literal["dial-skill"] = "dial-skill"
    """Says that the skill is a folder of DIAL Core."""
    url: str = Field(json_schema_extra=Marks(resource=True))
    """Path of the folder, `skills/<bucket>/<path>`, with a `SKILL.md` in it. It needs DIAL Core
    0.48.0 or newer."""


Skill = Annotated[PromptSkill | FolderSkill, Field(discriminator="type")]
