"""The small answers of the gateway: what there is to use, what it starts with, is it well."""

from __future__ import annotations

from apps.accounts.authentication import authenticate
from apps.catalog.access import usable
from apps.gateway.admission import visit
from apps.gateway.door import GatewayConsumer, checked, hidden
from apps.gateway.health import troubles
from apps.gateway.listing import configuration_form, listed, starters_of

RETRY_SOON = ((b"retry-after", b"1"),)


class ListConsumer(GatewayConsumer):
    """`GET /openai/models` and `/openai/deployments`: what the caller may use, by title."""

    async def answer(self) -> None:
        caller = await authenticate(self.scope)
        entries = [listed(application) async for application in usable(caller)]
        await self.send_json(200, {"object": "list", "data": entries})


class EntryConsumer(GatewayConsumer):
    """`GET /openai/models/{slug}` and `/openai/deployments/{slug}`."""

    async def answer(self) -> None:
        caller = await authenticate(self.scope)
        slug = checked(self.slug, caller)
        application = await usable(caller).filter(slug=slug).afirst()
        if application is None:
            raise hidden(slug, caller)
        await self.send_json(200, listed(application))


class ConfigurationConsumer(GatewayConsumer):
    """`GET …/configuration`: the form with the starters."""

    async def answer(self) -> None:
        visitor = await visit(self.scope, self.attended)
        application = await visitor.find(self.slug)
        await self.send_json(200, configuration_form(starters_of(application.manifest)))


class HealthConsumer(GatewayConsumer):
    """`GET /healthz`: the process answers."""

    async def answer(self) -> None:
        await self.send_json(200, {"status": "ok"})


class ReadyConsumer(GatewayConsumer):
    """`GET /readyz`: what the process needs answers as well."""

    async def answer(self) -> None:
        found = await troubles()
        body = {"status": "unavailable", "failing": found} if found else {"status": "ok"}
        await self.send_json(503 if found else 200, body, RETRY_SOON if found else ())
