"""The gateway's short answers: lists of applications, their starters, health, unknown addresses."""

from collections.abc import Sequence
from typing import Any

from django.db.models import F

from apps.accounts.authentication import authenticate
from apps.accounts.caller import Caller
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.catalog.registration import INPUT_TYPES, input_types
from apps.catalog.resolve import versioned_name
from apps.doors.admission import visit
from apps.doors.applications import checked, find, hidden
from apps.doors.quotes import shortened
from apps.gateway.base import GatewayConsumer, error_body
from apps.gateway.embeddings import offered
from apps.gateway.forms import button, buttons
from apps.live.health import troubles
from apps.manifest.manifest import ConversationStarters, Manifest, Starter
from apps.runs.failures import fault
from apps.workspace.local.models import Deployment

RETRY_SOON = ((b"retry-after", b"1"),)
DIRECTORY = "Chat completions are at /v1/chat/completions, and what there is to ask at /v1/models."
NO_BASE_URL = "The client's base_url has to end in /v1: completions are at /v1/chat/completions."
OWNER = "quickapps"
STARTER = "starter"
"""The property of the form under which the chosen button comes back."""


class ListConsumer(GatewayConsumer):
    """`GET /openai/models` and `/openai/deployments`: the caller's applications, by title."""

    async def answer(self) -> None:
        caller = await authenticate(self.scope)
        rows = usable(caller).defer("manifest").annotate(types=F(f"manifest__{INPUT_TYPES}"))
        entries = [listed(row, row.types) async for row in rows]
        entries += [listed_embedder(row) async for row in offered(caller)]
        await self.send_json(200, {"object": "list", "data": entries})


class EntryConsumer(GatewayConsumer):
    """`GET /openai/models/{slug}` and `/openai/deployments/{slug}`."""

    async def answer(self) -> None:
        caller = await authenticate(self.scope)
        # The id of a deployment may have dots, which the slug of an application has not.
        row = await offered(caller).filter(deployment_id=self.slug).afirst()
        if row is not None:
            await self.send_json(200, listed_embedder(row))
            return
        application = await self.application(caller)
        await self.send_json(200, listed(application, input_types(application.manifest)))

    async def application(self, caller: Caller) -> Application:
        """Raises `ApplicationNotFound`, `NotAuthenticated`."""
        slug, number = versioned_name(self.slug)
        application = await usable(caller).filter(slug=checked(slug, caller)).afirst()
        if application is None:
            raise hidden(self.slug, caller)
        if number is not None:
            await find(self.slug, caller)
            application.slug = self.slug
        return application


class ConfigurationConsumer(GatewayConsumer):
    """`GET …/configuration`: the form with the conversation starters."""

    async def answer(self) -> None:
        visitor = await visit(self.scope, self.while_connected)
        application = await visitor.find(self.slug)
        await self.send_json(200, configuration_form(starters_of(application.manifest)))


class HealthConsumer(GatewayConsumer):
    """`GET /healthz`: whether the process answers."""

    async def answer(self) -> None:
        await self.send_json(200, {"status": "ok"})


class ReadyConsumer(GatewayConsumer):
    """`GET /readyz`: whether the services that the process needs answer as well."""

    async def answer(self) -> None:
        found = await troubles()
        body = {"status": "unavailable", "failing": found} if found else {"status": "ok"}
        await self.send_json(503 if found else 200, body, RETRY_SOON if found else ())


class NotFoundConsumer(GatewayConsumer):
    """404 to every method, in JSON whatever Django's settings say. `advice` names the right address."""

    def __init__(self, advice: str = DIRECTORY) -> None:
        super().__init__()
        self.advice = advice

    async def handle(self) -> None:
        text = f"There is nothing at {shortened(self.scope['path'])!a}. {self.advice}"
        await self.send_json(404, error_body(fault(404, text, "unknown_url"), 404))


def listed(application: Application, types: Sequence[str] | None) -> dict[str, Any]:
    """An entry of the list for OpenAI's and DIAL's clients; times in seconds since 1970.

    `types` are those of attachments that the application takes, none for any.
    """
    return {
        **entry(application, application.slug, application.title),
        "features": {"configuration": True, "tools": True},
        **({"input_attachment_types": types} if types else {}),
    }


def listed_embedder(deployment: Deployment) -> dict[str, Any]:
    """As `listed`, with DIAL's capabilities and limits of a model."""
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


def starters_of(manifest: Manifest) -> ConversationStarters | None:
    """The conversation starters, also of older manifests, where they are plain texts."""
    if manifest.conversation_starters is not None or not manifest.starters:
        return manifest.conversation_starters
    return ConversationStarters(
        starters=tuple(Starter(title=text, text=text) for text in manifest.starters)
    )


def configuration_form(starters: ConversationStarters | None) -> dict[str, Any]:
    """The JSON schema of the form that a chat shows before the first question."""
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
