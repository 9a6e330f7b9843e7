"""Builds the first model request of a run without sending it.

Hooks are not called, because they can have side effects. Otherwise, a run with the same question,
application and user sends the same request.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from apps.accounts.caller import Caller
from apps.agent.answers.model_fallbacks import first_of
from apps.agent.events import Event, StageDelta
from apps.agent.ledger import NO_LEDGER
from apps.agent.messages import ModelMessage
from apps.agent.meter import PromptSpan
from apps.agent.model import WritingModel
from apps.agent.progress import Progress, RunConversation, RunCounts
from apps.agent.stages import silent
from apps.agent.turn_stages import DeferredStages
from apps.capabilities.registry import ContinuedConversation, Opening
from apps.catalog.resolved_application import ResolvedApplication
from apps.manifest.markdown.chat_place import ChatPlace
from apps.runs.capabilities import ISSUES_STAGE, open_capabilities
from apps.runs.history import expand
from apps.runs.preparation import prepare_run
from apps.runs.prompt import spans_of
from apps.runs.requests import RunRequest
from apps.runs.workspaces import open_workspace
from apps.workspace.loading.shared_loads import Loading
from apps.workspace.port import Workspace

HOOKS = "hooks"


@dataclass(frozen=True, slots=True)
class IssuesFound:
    """A step that reports the issues with the application, in Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class LayerComposed:
    layer: str
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class RequestAssembled:
    """The model request as JSON, and the layers of its prompt. The request is None if the model is
    an application.
    """

    deployment: str
    body: bytes | None
    prompt: tuple[PromptSpan, ...]


AssemblyStep = IssuesFound | LayerComposed | RequestAssembled
OpenWorkspace = Callable[[Caller, ResolvedApplication], Workspace]


async def assemble(
    application: ResolvedApplication,
    question: str,
    place: ChatPlace | None,
    caller: Caller,
    report: Callable[[AssemblyStep], object],
    open_workspace: OpenWorkspace = open_workspace,
) -> None:
    """Assemble the request, and call `report` with each step in order. The last one is
    `RequestAssembled`, unless the prompt cannot be built. Raises `QuickAppError` if a run would
    fail.
    """

    def emit(event: Event) -> None:
        if isinstance(event, StageDelta) and event.stage_id == ISSUES_STAGE:
            report(IssuesFound(event.text))

    application = without_hooks(application)
    request = RunRequest((ModelMessage("user", question),), place=place)
    conversation = expand(request.messages)
    opening = Opening(
        open_workspace(caller, application).inside(application.slug),
        caller,
        emit,
        loading=Loading(application.loading_rules),
        conversation=ContinuedConversation(conversation),
        predefined=application.predefined,
    )
    async with open_capabilities(application, opening, place) as opened:
        preparation = await prepare_run(application, request, conversation, opening, opened)
        chosen = await preparation.parameters_and_prompt()
        if chosen is None:
            return
        parameters, parts = chosen
        for part in parts:
            report(LayerComposed(part.layer, part.source, part.text))
        model = first_of(await opening.workspace.model(application.deployment_id))
        loop = preparation.loop(model, parameters, NO_LEDGER, spans_of(parts))
        progress = Progress(
            RunConversation(await preparation.messages(parts)), counts=RunCounts(iterations=1)
        )
        with DeferredStages() as deferred:
            asked = await loop.request(loop.turn(silent, progress, deferred))
        body = model.write(asked) if isinstance(model, WritingModel) else None
        report(RequestAssembled(application.deployment_id, body, tuple(asked.prompt)))


def without_hooks(application: ResolvedApplication) -> ResolvedApplication:
    openers = tuple(one for one in application.prepared.openers if one[0] != HOOKS)
    return replace(application, prepared=replace(application.prepared, openers=openers))
