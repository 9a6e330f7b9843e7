"""The model that a person chose for a conversation, or for one more answer to a question."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext

from apps.agent.events import Emit, Noticed
from apps.catalog.other_model import document_with, offered_models, with_model
from apps.catalog.resolved_application import ResolvedApplication
from apps.chat.frames import Ask
from apps.chat.models import Conversation
from apps.errors import DeploymentNotFound, QuickAppError, Refused
from apps.insights.price_list import PRICES
from apps.workspace.port import Workspace

NOTICE = "other-model"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """`deployment_id` answers, "" for the application's own. `withdrawn` was chosen before, and is not
    offered any more; "" for none.
    """

    deployment_id: str = ""
    withdrawn: str = ""


OWN = ModelChoice()


def choice_of(
    application: ResolvedApplication, ask: Ask, conversation: Conversation
) -> ModelChoice:
    """Raises `Refused` for a model that is not offered."""
    if ask.deployment:
        check_question(ask)
        check_offered(application, ask.deployment)
        return ModelChoice(ask.deployment)
    kept = conversation.deployment or ""
    if not kept or kept in offered_models(application):
        return ModelChoice(kept)
    return ModelChoice(withdrawn=kept)


def check_question(ask: Ask) -> None:
    """Raises `Refused` for a question for which no model can be chosen."""
    if ask.conversation is not None and ask.again is None:
        raise Refused(
            "bad_frame",
            "deployment: name it with a new conversation or with `again`; else choose it for the "
            "conversation.",
        )


def check_offered(application: ResolvedApplication, deployment_id: str) -> None:
    """Raises `Refused`."""
    offered = offered_models(application)
    if deployment_id in offered:
        return
    possible = f"one of {', '.join(offered)}" if offered else "nothing: its model is fixed"
    raise Refused("bad_frame", f"deployment: this application offers {possible}.")


def recorded_with(application: ResolvedApplication, choice: ModelChoice) -> ResolvedApplication:
    """As a run keeps it: whoever takes the run up reads the chosen model in the manifest."""
    if choice.deployment_id in ("", application.deployment_id):
        return application
    document = document_with(application.document, choice.deployment_id)
    return replace(application, document=document)


async def answering(
    application: ResolvedApplication, choice: ModelChoice, workspace: Workspace, emit: Emit
) -> ResolvedApplication:
    """The application with the model that answers; of one that is gone the person is told."""
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
        "{title}, which you chose, is not offered here any more. {own} answers instead."
    ).format(title=title, own=own)


async def titled_models(
    application: ResolvedApplication | None, workspace: Workspace
) -> Sequence[dict[str, str]]:
    """What people can choose: `id` and `title`, the application's own first; [] for no choice."""
    found = []
    for one in () if application is None else offered_models(application):
        try:
            info = await workspace.facts(one)
        except QuickAppError:  # it was withdrawn, or its service cannot be asked
            continue
        found.append({"id": one, "title": info.display_name or one})
    return found if len(found) > 1 else []
