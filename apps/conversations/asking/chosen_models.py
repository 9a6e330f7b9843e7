"""Applies the model that a user chose for a conversation or for a repeated answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext

from apps.agent.events import Emit, Noticed
from apps.capabilities.registry import prepare
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.ask import Ask
from apps.conversations.models import Conversation
from apps.errors import DeploymentNotFound, QuickAppError, Refused
from apps.insights.prices import PRICES
from apps.manifest.manifest import Manifest
from apps.workspace.port import Workspace

NOTICE = "other-model"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A user's choice of model. `deployment_id` is "" for the application's own model. `withdrawn`
    is an earlier choice that the application no longer offers, or "".
    """

    deployment_id: str = ""
    withdrawn: str = ""


OWN = ModelChoice()


def choice_of(
    application: ResolvedApplication, ask: Ask, conversation: Conversation
) -> ModelChoice:
    """Return the model chosen for the question or, if there is none, for its conversation. Raises
    `Refused` if the application does not offer the question's model, or if `check_question` fails.
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
    """Raise `Refused` if a question may not choose a model. Only new conversations and repeated
    answers can choose one.
    """
    if ask.conversation is not None and ask.again is None:
        raise Refused(
            "bad_frame",
            "deployment: send it only with a new conversation or with `again`; otherwise set "
            "it for the conversation.",
        )


def check_offered(application: ResolvedApplication, deployment_id: str) -> None:
    """Raise `Refused` if the application does not offer this model."""
    offered = offered_models(application)
    if deployment_id in offered:
        return
    if not offered:
        raise Refused("bad_frame", "deployment: omit it; the model of this application is fixed.")
    raise Refused("bad_frame", f"deployment: use one of {', '.join(offered)}.")


def recorded_with(application: ResolvedApplication, choice: ModelChoice) -> ResolvedApplication:
    """Return the application with the chosen model in its manifest, to be stored with a run. A
    process that resumes the run then uses the same model.
    """
    if choice.deployment_id in ("", application.deployment_id):
        return application
    document = document_with(application.document, choice.deployment_id)
    return replace(application, document=document)


async def answering(
    application: ResolvedApplication, choice: ModelChoice, workspace: Workspace, emit: Emit
) -> ResolvedApplication:
    """Return the application with the chosen model. If this model is no longer available, emit a
    notice and use the application's own model.
    """
    gone, wanted = choice.withdrawn, choice.deployment_id
    if wanted:
        try:
            await workspace.facts(wanted)
        except DeploymentNotFound:
            gone, wanted = wanted, ""
    if gone:
        emit(Noticed(NOTICE, notice_of(gone, application)))
    return with_model(application, wanted)


def notice_of(gone: str, application: ResolvedApplication) -> str:
    title, own = PRICES.service(gone).title, PRICES.service(application.deployment_id).title
    return gettext(
        "You chose {title}, but it is no longer available. {own} answers instead."
    ).format(title=title, own=own)


async def titled_models(
    application: ResolvedApplication | None, workspace: Workspace
) -> Sequence[dict[str, str]]:
    """Return the `id` and `title` of each model that users can choose, the application's own model
    first. Return [] if `application` is None or offers no choice.
    """
    found = []
    for one in () if application is None else offered_models(application):
        try:
            info = await workspace.facts(one)
        except QuickAppError:  # The model was withdrawn, or its service is unavailable.
            continue
        found.append({"id": one, "title": info.display_name or one})
    return found if len(found) > 1 else []


def offered_models(application: ResolvedApplication) -> tuple[str, ...]:
    """Return the IDs of the deployments that users can choose, the application's own deployment
    first. Return () if the application offers no choice.
    """
    own, others = application.deployment_id, application.manifest.orchestrator.choices
    found = tuple(dict.fromkeys((own, *others)))
    return found if len(found) > 1 else ()


def with_model(application: ResolvedApplication, deployment_id: str) -> ResolvedApplication:
    """Return the application with another model and newly prepared capabilities. Some capabilities
    depend on what the model supports.
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
    """Return a manifest's JSON with another model. Also rename the old key `name` to
    `deployment_id`.
    """
    orchestrator = document.get("orchestrator") or {}
    deployment = {**(orchestrator.get("deployment") or {}), "deployment_id": deployment_id}
    return {**document, "orchestrator": {**orchestrator, "deployment": deployment}}
