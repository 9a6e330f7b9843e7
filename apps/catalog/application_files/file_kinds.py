"""Defines the kinds of files that can be imported into the database, and the fields of each kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from django.db import models
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from apps.catalog.models import Application
from apps.manifest.aliases import with_own_names
from apps.workspace.local.models import Deployment
from apps.workspace.model_capabilities import FLAGS


class FileShape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class DeploymentFile(FileShape):
    """The fields of a deployment's JSON file, except the flags for the model's capabilities."""

    deployment_id: str = ""
    display_name: str
    description: str = ""
    kind: Literal["chat", "embedding", "image"] = "chat"
    provider: Literal["openai", "anthropic", "openai_responses", "demo", "minilm"]
    base_url: str = ""
    model: str = ""
    api_key_env: str = ""
    features: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    input_attachment_types: list[str] = []
    text_tools: bool = True
    context_window: int | None = None
    fallbacks: list[str] = []
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None


class ApplicationFile(FileShape):
    slug: str = ""
    title: str
    description: str = ""
    icon: str = ""
    public: bool = False
    shared: bool = True
    manifest: Annotated[dict[str, Any], AfterValidator(with_own_names)]


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of importable file."""

    name: str
    shape: type[FileShape]
    model: type[models.Model]
    key: str
    """The name of the field that identifies a row, in the file and in the database."""
    columns: Mapping[str, str]
    """Maps a field to its database column if their names differ."""

    def written(self, column: str) -> str:
        """Return the name that files use for a database column."""
        return next((name for name, known in self.columns.items() if known == column), column)


FLAG: Any = (bool | None, None)
DEPLOYMENT = create_model("DeploymentFile", __base__=DeploymentFile, **dict.fromkeys(FLAGS, FLAG))
APPLICATION = FileKind(
    "application",
    ApplicationFile,
    Application,
    "slug",
    {"public": "is_public", "shared": "is_shared"},
)
KINDS = (
    # Deployments come first, because applications refer to them.
    FileKind("deployment", DEPLOYMENT, Deployment, "deployment_id", {"model": "model_name"}),
    APPLICATION,
)
