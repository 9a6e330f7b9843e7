"""Opens the workspace of a run, in which other applications can be used as models.

If a run calls an application as its model, a nested run starts. Its events become the model's
deltas.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from channels.db import database_sync_to_async
from django.conf import settings
from django.core.validators import slug_re
from django.utils.translation import gettext_noop

from apps.accounts.caller import Caller
from apps.agent.events import Emit, Event, RunFinished
from apps.agent.ledger import WAITING
from apps.agent.messages import ModelMessage
from apps.agent.model import Model, ModelRequest, NestedRun
from apps.agent.progress import Progress
from apps.agent.streams import stream
from apps.catalog import access, resolve
from apps.catalog.application_uploads import readable_files
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import (
    ApplicationNotFound,
    BudgetSpent,
    CallsItself,
    DeploymentNotFound,
    ModelFailed,
)
from apps.runs.failures import WITH_LIMITS, failure
from apps.runs.requests import RunRequest
from apps.runs.run import RunEnd, run_application
from apps.workspace.dial.core import configured_core
from apps.workspace.dial.workspace import DialWorkspace, FindInfo
from apps.workspace.embeddings.port import Embedder
from apps.workspace.local.deployments.fallbacks import make_chain
from apps.workspace.local.deployments.found_deployments import find_deployment, make_embedder
from apps.workspace.local.workspace import FoundApplication, LocalWorkspace
from apps.workspace.port import DeploymentInfo, Workspace

DEEPEST = 5
"""The maximum number of applications in a chain of calls. Longer chains would take too long for
users.
"""


async def find_application(name: str, workspace: LocalWorkspace) -> FoundApplication:
    """Return an application that the caller can use, as a deployment in the workspace.

    Raises `DeploymentNotFound` if there is none, `CallsItself` if the chain of calls is too long or
    already contains the application, or `ApplicationBroken` if its manifest is invalid.
    """
    # A caller without access must not learn that the application exists, even if it is broken.
    if not slug_re.match(name):
        raise DeploymentNotFound(name)
    try:
        application = await resolve.find(name, workspace.caller)
    except ApplicationNotFound:
        raise DeploymentNotFound(name) from None
    check_chain((*workspace.chain, application.slug))
    return FoundApplication(info_of(application), ApplicationModel(application, workspace))


async def list_applications(caller: Caller) -> list[str]:
    """Return the slugs of the applications that the caller can use."""
    slugs = access.usable(caller).values_list("slug", flat=True)
    return list(await database_sync_to_async(list)(slugs))


def check_chain(chain: tuple[str, ...]) -> None:
    """Raise `CallsItself` if the last application already occurs in the chain, or the chain is too
    long.
    """
    if chain[-1] in chain[:-1]:
        raise CallsItself(chain, gettext_noop("An application can’t call itself"))
    if len(chain) > DEEPEST:
        raise CallsItself(
            chain,
            f"Too many applications call each other; the limit is {DEEPEST}",
        )


def info_of(application: ResolvedApplication) -> DeploymentInfo:
    return DeploymentInfo(
        id=application.slug,
        display_name=application.title,
        description=application.description,
        features={"tools": True},
        is_application=True,
        is_recorded=True,
        supported_parameters=frozenset(),
    )


@dataclass(frozen=True, slots=True)
class ApplicationModel(NestedRun):
    application: ResolvedApplication
    workspace: LocalWorkspace

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Event], None]:
        """Stream the application's answer. Closing the generator cancels the run. Raises
        `ModelFailed` with a text for users if the run fails, and `BudgetSpent` if a budget is
        exhausted.
        """
        caller = self.workspace.caller
        asked = to_run_request(request)
        end: list[RunEnd] = []

        async def work(emit: Emit) -> None:
            end.append(
                await run_application(
                    self.application,
                    asked,
                    self.workspace,
                    caller,
                    emit,
                    request.ledger,
                    Progress(meter=request.meter),
                    request.taint,
                )
            )

        try:
            async with aclosing(stream(work)) as batches:
                async for batch in batches:
                    yield batch
            if any(one.reason == WAITING for one in end):
                yield [RunFinished(WAITING)]
        except BudgetSpent:
            raise  # A fallback must not replace a model that the caller may not use.
        except Exception as error:
            raise as_model_failure(error) from error


def to_run_request(request: ModelRequest) -> RunRequest:
    """Convert a model request from the calling run to a request to the application. The calling
    run's tools become client tools. Other parameters are omitted, because each application sets its
    own.
    """
    return RunRequest(
        messages=tuple(map(with_own_state, request.messages)),
        external={spec.name: spec for spec in request.tools},
        tool_choice=request.parameters.get("tool_choice"),
        response_format=request.parameters.get("response_format"),
    )


def with_own_state(message: ModelMessage) -> ModelMessage:
    """Move the application's state in the message to `state`, where the application's run expects
    it.
    """
    own = {**message.state, **message.model_state}
    return replace(message, state=own, model_state={}) if message.model_state else message


def as_model_failure(error: Exception) -> ModelFailed:
    # A code that only repeats the status is dropped, because the outermost run adds it again.
    found = failure(error, WITH_LIMITS)
    return ModelFailed(
        found.message,
        status=found.status,
        reason="stream",
        code="" if found.code == str(found.status) else found.code,
        kind=found.upstream_type,
        display=found.text,
        retry_after=found.retry_after,
    )


def open_workspace(caller: Caller, application: ResolvedApplication | None = None) -> Workspace:
    """Return a DIAL Core workspace for callers from Core, and a local workspace for all others.

    `application` is the application that will run, or None. Only applications of this installation
    can use its deployments.
    """
    core = configured_core() if caller.kind == "dial" else None
    if core is None:
        return LocalWorkspace(caller, find_application, list_applications, readable_files)
    if application is not None and application.is_ours:
        return InstalledFirst(caller, core)
    return DialWorkspace(caller, core)


class InstalledFirst(DialWorkspace):
    """The workspace for applications that DIAL Core calls and whose manifests were written by
    operators. Only these applications may use the installation's deployments, which the operators'
    API keys pay for. These deployments take precedence over Core's deployments.
    """

    async def described(self, deployment_id: str, find: FindInfo) -> DeploymentInfo:
        try:
            return (await find_deployment(deployment_id)).info
        except DeploymentNotFound:
            return await super().described(deployment_id, find)

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        """Return the deployment as a model. Raises `DeploymentNotFound` if the caller cannot use
        the deployment, and `CallsItself` if it is in the chain of callers.
        """
        try:
            found = await find_deployment(deployment_id)
        except DeploymentNotFound:
            return await super().model(deployment_id, headers=headers, idle_seconds=idle_seconds)
        return await make_chain(found, files=self.files, idle_seconds=idle_seconds)

    async def embedder(self, deployment_id: str | None) -> Embedder:
        wanted = deployment_id or settings.EMBEDDINGS_DEPLOYMENT
        try:
            found = await find_deployment(wanted)
        except DeploymentNotFound:
            return await super().embedder(wanted)
        return make_embedder(found)
