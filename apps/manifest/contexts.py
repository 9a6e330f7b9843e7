"""Defines the knowledge that an operator gives an application: texts, files and folders."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import PREVIEW, Marks, Node


class UserDefinedContext(Node):
    """Text that is added to the prompt."""

    type: Literal["user-defined"] = "user-defined"
    """The context is text."""
    content: str
    """Knowledge for the model. Every prompt contains it, so keep it short."""


class FileContext(Node):
    """A file that the model can read. The prompt contains the file's name and description."""

    type: Literal["file"] = "file"
    """The context is a file."""
    url: str = Field(json_schema_extra=Marks(file=True))
    """The path of the file, `files/<bucket>/<path>`. The paths of operators' shared files begin
    with `files/public/`. The application reads the file with the caller's permissions.
    """
    description: str | None = None
    """A description of the file, so that the model knows when to read it."""


class FolderContext(Node):
    """The files in a folder and its subfolders. The folder is listed again for each request."""

    model_config = ConfigDict(json_schema_extra=PREVIEW)

    type: Literal["folder"] = "folder"
    """The context is a folder."""
    mime: str = "application/vnd.dial.metadata+json"
    """The MIME type that describes the folder to the model. Do not set this field."""
    url: str = Field(json_schema_extra=Marks(file=True))
    """The path of the folder, `files/<bucket>/<path>/`, with a slash at the end."""
    description: str | None = None
    """A description of the folder, so that the model knows when to search it."""
    max_depth: int = Field(default=10, ge=1, le=10)
    """The number of folder levels to list. 1 lists only the folder itself. Each additional level
    adds the next level of subfolders.
    """

    @field_validator("url")
    @classmethod
    def _is_a_folder(cls, url: str) -> str:
        if not url.endswith("/"):
            raise PydanticCustomError("folder_url", "the URL of a folder must end with '/'")
        return url


Context = Annotated[FileContext | FolderContext | UserDefinedContext, Field(discriminator="type")]
