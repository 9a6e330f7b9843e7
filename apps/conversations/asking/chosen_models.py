"""Applies the model that a user has chosen for a conversation or for another answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext

from apps.agent.events import Emit, NoticeAdded
from apps.capabilities.preparation import prepare
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.ask import Ask
from apps.conversations.models import Conversation
from apps.errors import DeploymentNotFound, QuickAppError, Refused
from apps.insights.prices import PRICES
from apps.manifest.manifest import Manifest
from apps.workspace.port import Workspace

NOTICE = "other-model"
LONGEST_DETAIL = 200
"""The maximum number of characters of a model's description in a menu."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A user's choice of model."""

    deployment_id: str = ""
    """The chosen deployment, or "" for the application's own model."""
    withdrawn: str = ""
    """A stored choice that the application no longer offers, or ""."""


OWN = ModelChoice()


def choice_of(
    application: ResolvedApplication, ask: Ask, conversation: Conversation
) -> ModelChoice:
    """Return the model that the question selects or, if it selects none, its conversation's model.
    Raises `Refused` if the question may not select a model, or if the application does not offer
    the selected model.
    """
    if ask.deployment:
        check_question(ask)
        check_offered(application, ask.deployment)
        return ModelChoice(ask.deployment)
    kept = conversation.deployment or ""
    if not kept or kept in offered_models(application):
        return ModelChoice(kept)
    return ModelChoice(withdrawn=kept)


def check_question(ask: Ask) -> None:
    """Raise `Refused` unless the question may select a model: it must begin a conversation or
    request another answer.
    """
    if ask.conversation is not None and ask.again is None:
        raise Refused(
            "bad_frame",
            "deployment: send it only with a new conversation or with `again`; otherwise, set "
            "the deployment of the conversation.",
        )


def check_offered(application: ResolvedApplication, deployment_id: str) -> None:
    """Raise `Refused` if the application does not offer this model."""
    offered = offered_models(application)
    if deployment_id in offered:
        return
    if not offered:
        raise Refused("bad_frame", "deployment: omit it; the application's model is fixed.")
    raise Refused("bad_frame", f"deployment: use one of {', '.join(offered)}.")


def recorded_with(application: ResolvedApplication, choice: ModelChoice) -> ResolvedApplication:
    """Return the application with the chosen model in its manifest document. A process that resumes
    the run reads the model from the stored document.
    """
    if choice.deployment_id in ("", application.deployment_id):
        return application
    document = document_with(application.document, choice.deployment_id)
    return replace(application, document=document)


async def answering(
    application: ResolvedApplication, choice: ModelChoice, workspace: Workspace, emit: Emit
) -> ResolvedApplication:
    """Return the application with the chosen model. If that model is no longer available, emit a
    notice and return the application with its own model.
    """
    gone, wanted = choice.withdrawn, choice.deployment_id
    if wanted:
        try:
            await workspace.facts(wanted)
        except DeploymentNotFound:
            gone, wanted = wanted, ""
    if gone:
        emit(NoticeAdded(NOTICE, notice_of(gone, application)))
    return with_model(application, wanted)


def notice_of(gone: str, application: ResolvedApplication) -> str:
    title, own = PRICES.service(gone).title, PRICES.service(application.deployment_id).title
    return gettext(
        "You chose {title}, but it is no longer available. {own} is used instead."
    ).format(title=title, own=own)


async def titled_models(
    application: ResolvedApplication | None, workspace: Workspace
) -> Sequence[dict[str, str]]:
    """Return the `id`, `title` and description (`detail`) of each model that users can choose. The
    application's own model comes first. Return [] if there is no choice.
    """
    found = []
    for one in () if application is None else offered_models(application):
        try:
            info = await workspace.facts(one)
        except QuickAppError:  # The model was withdrawn, or its service is unavailable.
            continue
        title, detail = info.display_name or one, info.description[:LONGEST_DETAIL]
        found.append({"id": one, "title": title, "detail": detail})
    return found if len(found) > 1 else []


def offered_models(application: ResolvedApplication) -> tuple[str, ...]:
    """Return the IDs of the deployments that users can choose. The application's own deployment
    comes first. Return () if there is no choice.
    """
    own, others = application.deployment_id, application.manifest.orchestrator.choices
    found = tuple(dict.fromkeys((own, *others)))
    return found if len(found) > 1 else ()


def with_model(application: ResolvedApplication, deployment_id: str) -> ResolvedApplication:
    """Return the application with another model. The application's capabilities are prepared again,
    because some depend on the model.
    """
    if deployment_id in ("", application.deployment_id):
        return application
    manifest = manifest_with(application.manifest, deployment_id)
    issues = application.prepared.issues
    return replace(
        application,
        manifest=manifest,
        prepared=replace(prepare(manifest), issues=issues),
        document=document_with(application.document, deployment_id),
    )


def manifest_with(manifest: Manifest, deployment_id: str) -> Manifest:
    orchestrator = manifest.orchestrator
    other = orchestrator.deployment.model_copy(update={"deployment_id": deployment_id})
    changed = orchestrator.model_copy(update={"deployment": other})
    return manifest.model_copy(update={"orchestrator": changed})


def document_with(document: Mapping[str, Any], deployment_id: str) -> dict[str, Any]:
    """Return a copy of a manifest's document with another model."""
    orchestrator = document.get("orchestrator") or {}
    deployment = {**(orchestrator.get("deployment") or {}), "deployment_id": deployment_id}
    return {**document, "orchestrator": {**orchestrator, "deployment": deployment}}
