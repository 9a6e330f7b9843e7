"""Serves the gateway's endpoints with short responses: models, conversation starters, health checks
and unknown URLs.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import F

from apps.accounts.authentication import authenticate
from apps.accounts.caller import Caller
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.catalog.registration import INPUT_TYPES, input_types
from apps.catalog.resolve import versioned_name
from apps.doors.admission import check_slug, find_application, hidden_error, visit
from apps.doors.bodies import shorten_text
from apps.gateway.base import GatewayConsumer
from apps.gateway.deltas import button, buttons
from apps.gateway.embeddings import offered_deployments
from apps.live.process.health import DISPENSABLE, troubles
from apps.manifest.manifest import ConversationStarters
from apps.runs.failures import fault
from apps.workspace.local.models import Deployment

RETRY_SOON = ((b"retry-after", b"1"),)
DIRECTORY = (
    "Chat completions are at /v1/chat/completions, and the list of applications is at /v1/models."
)
NO_BASE_URL = "The client's base_url has to end in /v1: completions are at /v1/chat/completions."
OWNER = "quickapps"
STARTER = "starter"
"""The form field that contains the conversation starter that the user chose."""


class ListConsumer(GatewayConsumer):
    """Serves `GET /openai/models` and `/openai/deployments`. The response lists the applications
    and embedding models that the caller can use.
    """

    async def answer(self) -> None:
        caller = await authenticate(self.scope)
        rows = usable(caller).defer("manifest").annotate(types=F(f"manifest__{INPUT_TYPES}"))
        entries = [list_application(row, row.types) async for row in rows]
        entries += [listed_embedder(row) async for row in offered_deployments(caller)]
        await self.send_json(200, {"object": "list", "data": entries})


class EntryConsumer(GatewayConsumer):
    """Serves `GET /openai/models/{slug}` and `/openai/deployments/{slug}`. The response describes
    one application or embedding model.
    """

    async def answer(self) -> None:
        caller = await authenticate(self.scope)
        # Unlike an application's slug, a deployment's ID can contain dots.
        row = await offered_deployments(caller).filter(deployment_id=self.slug).afirst()
        if row is not None:
            await self.send_json(200, listed_embedder(row))
            return
        application = await self.application(caller)
        await self.send_json(200, list_application(application, input_types(application.manifest)))

    async def application(self, caller: Caller) -> Application:
        """Return the application in the URL. Raises `ApplicationNotFound` if the caller cannot use
        it, or `NotAuthenticated` if the caller has no key.
        """
        slug, number = versioned_name(self.slug)
        application = await usable(caller).filter(slug=check_slug(slug, caller)).afirst()
        if application is None:
            raise hidden_error(self.slug, caller)
        if number is not None:
            await find_application(self.slug, caller)
            application.slug = self.slug
        return application


class ConfigurationConsumer(GatewayConsumer):
    """Serves `GET …/configuration`. The response describes a form with the application's
    conversation starters.
    """

    async def answer(self) -> None:
        visitor = await visit(self.scope, self.while_connected)
        application = await visitor.find(self.slug)
        await self.send_json(200, configuration_form(application.manifest.offered_starters))


class HealthConsumer(GatewayConsumer):
    """Serves `GET /healthz`, which succeeds as long as the process responds."""

    async def answer(self) -> None:
        await self.send_json(200, {"status": "ok"})


class ReadyConsumer(GatewayConsumer):
    """Serves `GET /readyz`, which succeeds while the database and other required services are
    available.
    """

    async def answer(self) -> None:
        found = await troubles()
        if found.keys() <= DISPENSABLE:
            await self.send_json(200, {"status": "ok"} | ({"degraded": found} if found else {}))
        else:
            await self.send_json(503, {"status": "unavailable", "failing": found}, RETRY_SOON)


class NotFoundConsumer(GatewayConsumer):
    """Responds to any request with status 404 and JSON. `advice` names the URL to use instead."""

    def __init__(self, advice: str = DIRECTORY) -> None:
        super().__init__()
        self.advice = advice

    async def handle(self) -> None:
        text = f"Unknown path: {shorten_text(self.scope['path'])!a}. {self.advice}"
        await self.send_failure(fault(404, text, "unknown_url"))


def list_application(application: Application, types: Sequence[str] | None) -> dict[str, Any]:
    """Return an application's entry in the list of models, in the format of OpenAI and DIAL.
    `types` are the content types of attachments that it accepts; None or [] means any type.
    """
    return {
        **entry(application, application.slug, application.title),
        "features": {"configuration": True, "tools": True},
        **({"input_attachment_types": types} if types else {}),
    }


def listed_embedder(deployment: Deployment) -> dict[str, Any]:
    """Return an embedding model's entry in the list of models, with capabilities and limits in
    DIAL's format.
    """
    window = deployment.context_window
    return {
        **entry(deployment, deployment.deployment_id, deployment.display_name),
        "features": {},
        "capabilities": {"completion": False, "chat_completion": False, "embeddings": True},
        **({"limits": {"max_total_tokens": window}} if window else {}),
    }


def entry(row: Application | Deployment, name: str, title: str) -> dict[str, Any]:
    return {
        "id": name,
        "object": "model",
        "model": name,
        "owned_by": OWNER,
        "owner": OWNER,
        "display_name": title,
        "description": row.description,
        "status": "succeeded",
        "created": int(row.created_at.timestamp()),
        "created_at": int(row.created_at.timestamp()),
        "updated_at": int(row.updated_at.timestamp()),
    }


def configuration_form(starters: ConversationStarters | None) -> dict[str, Any]:
    """Return the JSON Schema of the form with the conversation starters. Clients show the form
    before the first question. It is empty if `starters` is None.
    """
    if starters is None:
        return {"type": "object", "properties": {}}
    made = (
        button(number, starter.title, starter.text, submit=starters.auto_submit)
        for number, starter in enumerate(starters.starters, start=1)
    )
    return {
        "type": "object",
        "dial:chatMessageInputDisabled": starters.chat_message_input_disabled,
        "properties": {STARTER: buttons(starters.intro_text, made)},
    }
