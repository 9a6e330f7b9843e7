"""An application as a model that other runs ask; the events of its run are the model's deltas."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from channels.db import database_sync_to_async
from django.core.validators import slug_re
from django.utils.translation import gettext_noop

from apps.accounts.caller import Caller
from apps.agent.events import Emit, Event, Finished
from apps.agent.ledger import WAITING
from apps.agent.messages import Message
from apps.agent.model import ModelRequest, NestedRun
from apps.agent.progress import Progress
from apps.agent.streams import stream
from apps.catalog import access
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import (
    ApplicationNotFound,
    BudgetSpent,
    CallsItself,
    DeploymentNotFound,
    ModelFailed,
)
from apps.runs.failures import WITH_LIMITS, failure, kind_of
from apps.runs.requests import RunRequest
from apps.runs.run import RunEnd, run
from apps.workspace.local.workspace import FoundApplication, LocalWorkspace
from apps.workspace.port import DeploymentInfo

DEEPEST = 5
"""Applications below each other, the outermost included: nobody waits for more."""


async def find_application(name: str, workspace: LocalWorkspace) -> FoundApplication:
    """An application that the caller may use, as a deployment of the workspace.

    Raises `DeploymentNotFound`, `CallsItself`, `ApplicationBroken`.
    """
    # An application that the caller may not use is unknown to them, even if it is broken.
    if not slug_re.match(name):
        raise DeploymentNotFound(name)
    try:
        application = await access.find(name, workspace.caller)
    except ApplicationNotFound:
        raise DeploymentNotFound(name) from None
    check_chain((*workspace.chain, application.slug))
    return FoundApplication(info_of(application), ApplicationModel(application, workspace))


async def list_applications(caller: Caller) -> list[str]:
    """The names of the applications that the caller may use."""
    slugs = access.usable(caller).values_list("slug", flat=True)
    return list(await database_sync_to_async(list)(slugs))


def check_chain(chain: tuple[str, ...]) -> None:
    """Raises `CallsItself`."""
    if chain[-1] in chain[:-1]:
        raise CallsItself(chain, gettext_noop("An application cannot be called inside of itself"))
    if len(chain) > DEEPEST:
        raise CallsItself(
            chain,
            f"At most {DEEPEST} applications can call each other in a row",
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
        """Closing the generator cancels the run. Raises `ModelFailed` with a text for people, and
        `BudgetSpent`."""
        caller = self.workspace.caller
        asked = to_run_request(request)
        end: list[RunEnd] = []

        async def work(emit: Emit) -> None:
            end.append(
                await run(
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
                yield [Finished(WAITING)]
        except BudgetSpent:
            raise  # no other model may answer in the place of one that may not be asked
        except Exception as error:
            raise as_model_failure(error) from error


def to_run_request(request: ModelRequest) -> RunRequest:
    """The request of the asking run, whose tools become the client's.

    The other parameters are left out: an application decides itself how its model is called.
    """
    return RunRequest(
        messages=tuple(map(with_own_state, request.messages)),
        external={spec.name: spec for spec in request.tools},
        tool_choice=request.parameters.get("tool_choice"),
        response_format=request.parameters.get("response_format"),
    )


def with_own_state(message: Message) -> Message:
    """The message with the application's state where its own run reads it."""
    own = {**message.state, **message.model_state}
    return replace(message, state=own, model_state={}) if message.model_state else message


def as_model_failure(error: Exception) -> ModelFailed:
    # A code and a kind that only repeat the status are left to the outermost run.
    found = failure(error, WITH_LIMITS)
    return ModelFailed(
        found.message,
        status=found.status,
        reason="stream",
        code="" if found.code == str(found.status) else found.code,
        kind="" if found.kind == kind_of(found.status) else found.kind,
        display=found.text,
        retry_after=found.retry_after,
    )
