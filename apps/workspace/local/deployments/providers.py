"""Creates the chat models, image models and embedders of deployments."""

from collections.abc import Callable, Mapping

from django.conf import settings

from apps.agent.model import Model, WritingModel
from apps.demo.model import DemoModel
from apps.errors import DeploymentNotFound, gettext_noop
from apps.workspace.anthropic.model import make_anthropic_model
from apps.workspace.embeddings.built_in import BuiltInEmbedder
from apps.workspace.embeddings.port import Embedder
from apps.workspace.embeddings.service import USUAL_WINDOW, ServiceEmbedder
from apps.workspace.fitted_model import fit_model
from apps.workspace.local.deployments.deployment import Deployment
from apps.workspace.local.deployments.lookup import (
    FoundDeployment,
    deployment_key,
    find_deployment,
    speaks_dial,
)
from apps.workspace.openai.embeddings import OpenAIEmbeddings, make_embeddings_service
from apps.workspace.openai.images import make_image_service
from apps.workspace.openai.model import make_openai_model
from apps.workspace.picture_model import ImageModel, PictureKeeper, PictureService, Placeholders
from apps.workspace.responses.model import make_responses_model
from apps.workspace.stored_files import Files


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
        dial=speaks_dial(deployment.info.features),
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
seconds; None means the timeout of tools.
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
        deployment.base_url, deployment_key(deployment), dial=speaks_dial(deployment.info.features)
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
