"""Finds deployments in our own database, and creates their models, embedders and MCP endpoints. The
process caches deployments briefly.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from channels.db import database_sync_to_async
from django.conf import settings

from apps import environment_variables, process_state
from apps.agent.model import Model, WritingModel
from apps.demo.model import DemoModel
from apps.environment_variables import WrongVariable
from apps.errors import DeploymentNotFound, Unsupported, gettext_noop
from apps.process_state import AgedCache
from apps.workspace.anthropic.model import make_anthropic_model
from apps.workspace.embeddings.built_in import BuiltInEmbedder
from apps.workspace.embeddings.port import Embedder
from apps.workspace.embeddings.service import USUAL_WINDOW, ServiceEmbedder
from apps.workspace.fitted_model import fit_model
from apps.workspace.local.deployments.deployment import KEY_VARIABLE, Deployment
from apps.workspace.local.deployments.descriptions import describe_row
from apps.workspace.openai.embeddings import OpenAIEmbeddings, make_embeddings_service
from apps.workspace.openai.images import make_image_service
from apps.workspace.openai.model import make_openai_model
from apps.workspace.picture_model import ImageModel, PictureKeeper, PictureService, Placeholders
from apps.workspace.port import DeploymentInfo, McpEndpoint
from apps.workspace.responses.model import make_responses_model
from apps.workspace.stored_files import Files

logger = logging.getLogger(__name__)

DIAL_DEPLOYMENTS = "/openai/deployments/"
RowVersion = tuple[int, int]
"""The primary key and the version of a deployment's row. The primary key distinguishes the row from
a later row with the same name.
"""


@dataclass(frozen=True, slots=True)
class FoundDeployment:
    version: RowVersion
    info: DeploymentInfo
    provider: str
    base_url: str
    model_name: str
    api_key: str = field(default="", repr=False)
    api_key_env: str = ""
    takes_personal_keys: bool = False
    speaks_dial: bool = False

    def with_key(self, key: str) -> Self:
        """Return a copy of the deployment that is called with this key."""
        return replace(self, api_key=key, api_key_env="")


_deployments = AgedCache[str, FoundDeployment]()


async def find_deployment(deployment_id: str) -> FoundDeployment:
    """Return an enabled deployment. The result may be outdated by up to `MAX_AGE_SECONDS`.

    Raises `DeploymentNotFound` if there is no such deployment.
    """
    found = await _deployments.renewed(
        deployment_id,
        process_state.MAX_AGE_SECONDS,
        lambda known: database_sync_to_async(look_up_deployment)(deployment_id, known),
    )
    if found is None:
        raise DeploymentNotFound(deployment_id)
    return found


def look_up_deployment(deployment_id: str, known: FoundDeployment | None) -> FoundDeployment | None:
    """Read a deployment from the database. Return `known` itself if it has not changed, or None if
    there is no such deployment.
    """
    enabled = Deployment.objects.filter(deployment_id=deployment_id, is_enabled=True)
    if known is not None and enabled.values_list("pk", "version").first() == known.version:
        return known
    row = enabled.first()
    return read_row(row) if row is not None else None


def enabled_deployment_ids() -> list[str]:
    enabled = Deployment.objects.filter(is_enabled=True)
    return list(enabled.values_list("deployment_id", flat=True))


def read_row(row: Deployment) -> FoundDeployment:
    return FoundDeployment(
        version=(row.pk, row.version),
        info=describe_row(row),
        provider=row.provider,
        base_url=row.address,
        model_name=row.model_name or row.deployment_id,
        api_key=str(row.api_key),
        api_key_env=row.api_key_env,
        takes_personal_keys=row.takes_personal_keys,
        speaks_dial=row.speaks_dial,
    )


def deployment_key(deployment: FoundDeployment) -> str:
    """Return the key of a deployment: the stored key, otherwise the key from the environment
    variable `api_key_env` or from the file that its variant with `_FILE` names. Return "" if there
    is none.
    """
    name = deployment.api_key_env
    if deployment.api_key or not name:
        return deployment.api_key
    try:
        key = environment_variables.read_variable(name) if KEY_VARIABLE.fullmatch(name) else ""
    except WrongVariable as error:
        logger.warning("Deployment %s: %s", deployment.info.id, error)
        return ""
    if not key:
        logger.warning(
            "Deployment %s: the environment variable %s contains no key.", deployment.info.id, name
        )
    return key or ""


class NotOfThatKind(DeploymentNotFound):
    """Raised if a deployment exists, but is not of the requested `kind`."""

    def __init__(self, deployment_id: str, kind: str) -> None:
        text = gettext_noop(
            "The deployment {name} configured in this application is not of the kind {kind}. "
            "Please contact your administrator."
        )
        super().__init__(deployment_id, text, name=repr(deployment_id), kind=kind)
        self.kind = kind


def openai_model(deployment: FoundDeployment, idle_seconds: float | None) -> WritingModel:
    return make_openai_model(
        base_url=deployment.base_url,
        api_key=deployment_key(deployment),
        model=deployment.model_name,
        dial=deployment.speaks_dial,
        starts_thinking=deployment.info.features.get("starts_thinking") is True,
        idle_seconds=idle_seconds,
    )


def anthropic_model(deployment: FoundDeployment, idle_seconds: float | None) -> WritingModel:
    return make_anthropic_model(
        base_url=deployment.base_url,
        api_key=deployment_key(deployment),
        model=deployment.model_name,
        features=deployment.info.features,
        idle_seconds=idle_seconds,
    )


def responses_model(deployment: FoundDeployment, idle_seconds: float | None) -> WritingModel:
    return make_responses_model(
        base_url=deployment.base_url,
        api_key=deployment_key(deployment),
        model=deployment.model_name,
        idle_seconds=idle_seconds,
    )


def demo_model(deployment: FoundDeployment, idle_seconds: float | None) -> WritingModel:
    return DemoModel()


CHAT_MODELS: Mapping[str, Callable[[FoundDeployment, float | None], WritingModel]] = {
    Deployment.Provider.OPENAI: openai_model,
    Deployment.Provider.ANTHROPIC: anthropic_model,
    Deployment.Provider.RESPONSES: responses_model,
    Deployment.Provider.DEMO: demo_model,
}
"""Maps each provider to a function that creates a model. The second argument is the read timeout in
seconds; None means the tool timeout.
"""


def make_chat_model(deployment: FoundDeployment, idle_seconds: float | None = None) -> WritingModel:
    """Return the chat model of a deployment. Raises `DeploymentNotFound` if its provider has no
    chat models.
    """
    make = CHAT_MODELS.get(deployment.provider)
    info = deployment.info
    if make is None:
        raise NotOfThatKind(info.id, "chat")
    return fit_model(make(deployment, idle_seconds), info.id, info.can, text_tools=info.text_tools)


def make_model(
    deployment: FoundDeployment, files: Files, idle_seconds: float | None = None
) -> Model:
    """Return the chat or image model of a deployment. Raises `DeploymentNotFound` for a deployment
    of another kind.
    """
    if deployment.info.kind == "image":
        service = find_pictures(deployment, idle_seconds)
        return ImageModel(service, files, deployment.info.defaults)
    if deployment.info.kind != "chat":
        raise NotOfThatKind(deployment.info.id, "chat")
    model = make_chat_model(deployment, idle_seconds)
    draws = deployment.provider == Deployment.Provider.RESPONSES
    return PictureKeeper(model, files) if draws else model


def find_pictures(deployment: FoundDeployment, idle_seconds: float | None) -> PictureService:
    if deployment.provider == Deployment.Provider.DEMO:
        return Placeholders()
    return make_image_service(
        base_url=deployment.base_url,
        api_key=deployment_key(deployment),
        model=deployment.model_name,
        idle_seconds=idle_seconds,
    )


def make_embedder(deployment: FoundDeployment) -> Embedder:
    """Return the embedder of a deployment. Raises `DeploymentNotFound` for a deployment of another
    kind.
    """
    if deployment.info.kind != "embedding":
        raise NotOfThatKind(deployment.info.id, "embedding")
    if deployment.provider == Deployment.Provider.MINILM:
        return BuiltInEmbedder()
    service = make_embeddings_service(
        deployment.base_url, deployment_key(deployment), dial=deployment.speaks_dial
    )
    window = deployment.info.context_window or USUAL_WINDOW
    return ServiceEmbedder(
        OpenAIEmbeddings(service), deployment.model_name, window, deployment.info.defaults
    )


async def find_embedder(deployment_id: str | None) -> Embedder:
    """Return the embedder of a deployment, or the installation's default embedder if the ID is
    None. Raises `DeploymentNotFound` if there is no such deployment.
    """
    wanted = deployment_id or settings.EMBEDDINGS_DEPLOYMENT
    return make_embedder(await find_deployment(wanted)) if wanted else BuiltInEmbedder()


def make_mcp_endpoint(deployment: FoundDeployment) -> McpEndpoint:
    """Return the MCP endpoint that DIAL provides for a toolset or an application. Raises
    `Unsupported` for any other deployment.
    """
    if not deployment.speaks_dial:
        raise Unsupported(
            f"The deployment {deployment.info.id!r} is not in DIAL Core, so it has no MCP "
            "server. Use a toolset of type 'mcp' with the server's URL."
        )
    address = deployment.base_url.partition("?")[0]
    root, found, name = address.rstrip("/").partition(DIAL_DEPLOYMENTS)
    key = deployment_key(deployment)
    return McpEndpoint(
        f"{root}/v1/toolset/{name if found else deployment.model_name}/mcp",
        {"Api-Key": key} if key else {},
        display_name=deployment.info.display_name,
        description=deployment.info.description,
    )
