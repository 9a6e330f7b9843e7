"""Knowledge that the operator gives an application."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import PREVIEW, Marks, Node


class UserDefinedContext(Node):
    type: Literal["user-defined"] = "user-defined"
    content: str


class FileContext(Node):
    type: Literal["file"] = "file"
    url: str = Field(description="files/<bucket>/<path>", json_schema_extra=Marks(file=True))
    description: str | None = None


class FolderContext(Node):
    """All files below a folder, listed anew for each request."""

    model_config = ConfigDict(json_schema_extra=PREVIEW)

    type: Literal["folder"] = "folder"
    mime: str = "application/vnd.dial.metadata+json"
    url: str = Field(description="files/<bucket>/<path>/", json_schema_extra=Marks(file=True))
    description: str | None = None
    max_depth: int = Field(default=10, ge=1, le=10)

    @field_validator("url")
    @classmethod
    def _is_a_folder(cls, url: str) -> str:
        if not url.endswith("/"):
            raise PydanticCustomError("folder_url", "the address of a folder ends with '/'; add it")
        return url


Context = Annotated[FileContext | FolderContext | UserDefinedContext, Field(discriminator="type")]
