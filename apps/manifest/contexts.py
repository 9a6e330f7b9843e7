"""Knowledge that the operator gives an application."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import PREVIEW, Marks, Node


class UserDefinedContext(Node):
    """A text that stands in the prompt."""

    type: Literal["user-defined"] = "user-defined"
    """Says that this is a text."""
    content: str
    """What the model is to know. It is part of every prompt, so keep it short."""


class FileContext(Node):
    """A file that the model is told of."""

    type: Literal["file"] = "file"
    """Says that this is a file."""
    url: str = Field(json_schema_extra=Marks(file=True))
    """Path of the file, `files/<bucket>/<path>`; those that operators share begin with
    `files/public/`. It is read with the rights of the caller."""
    description: str | None = None
    """What is in the file, so that the model knows when to read it."""


class FolderContext(Node):
    """All files below a folder, listed anew for each request."""

    model_config = ConfigDict(json_schema_extra=PREVIEW)

    type: Literal["folder"] = "folder"
    """Says that this is a folder."""
    mime: str = "application/vnd.dial.metadata+json"
    """The MIME type under which the model is told of the folder. Leave it out."""
    url: str = Field(json_schema_extra=Marks(file=True))
    """Path of the folder, `files/<bucket>/<path>/`; it ends with a slash."""
    description: str | None = None
    """What is in the folder, so that the model knows when to look into it."""
    max_depth: int = Field(default=10, ge=1, le=10)
    """How many levels are listed: 1 is the folder alone, each other one a level of folders in
    it."""

    @field_validator("url")
    @classmethod
    def _is_a_folder(cls, url: str) -> str:
        if not url.endswith("/"):
            raise PydanticCustomError("folder_url", "the address of a folder ends with '/'; add it")
        return url


Context = Annotated[FileContext | FolderContext | UserDefinedContext, Field(discriminator="type")]
