"""What all consumers of the gateway have in common: JSON, DIAL's errors, who may use what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec
from django.core.validators import slug_re

from apps.accounts.caller import Caller
from apps.catalog import access
from apps.catalog.resolve import ResolvedApplication
from apps.errors import ApplicationNotFound, NotAuthenticated, QuickAppError
from apps.gateway.errors import answer_of
from apps.gateway.texts import shortened
from apps.streaming.consumer import Header, HttpConsumer

JSON = ((b"content-type", b"application/json"), (b"cache-control", b"no-store"))


class GatewayConsumer(HttpConsumer):
    """Answers with JSON, also when something goes wrong. A door writes `answer`."""

    methods: ClassVar[tuple[str, ...]] = ("GET", "HEAD")

    async def handle(self) -> None:
        try:
            if self.scope["method"] not in self.methods:
                await self.refuse_method()
                return
            await self.answer()
        except Exception as error:  # noqa: BLE001 - the wire ends here; answer_of logs it
            await self.tell(error)

    async def answer(self) -> None:
        raise NotImplementedError

    async def tell(self, error: Exception) -> None:
        status, body, headers = answer_of(error)
        await self.send_json(status, body, headers)

    async def send_json(self, status: int, body: Any, headers: Iterable[Header] = ()) -> None:
        await self.respond(status, msgspec.json.encode(body), (*JSON, *headers))

    async def refuse_method(self) -> None:
        allowed = ", ".join(self.methods)
        message = f"The method {self.scope['method']} is not allowed here; use {allowed}."
        body = {"error": {"message": message, "type": "invalid_request_error", "code": "405"}}
        headers = (*JSON, (b"allow", allowed.encode()))
        await self.respond(405, msgspec.json.encode(body), headers)

    @property
    def slug(self) -> str:
        """The application that the address names, or ""."""
        return str(self.scope["url_route"]["kwargs"].get("slug", ""))


def hidden(slug: str, caller: Caller) -> QuickAppError:
    """What is told of an application that does not exist, or that the caller may not use.

    Nobody learns which of the two it is; a visitor learns that a key might help.
    """
    if caller.kind == "visitor":
        return NotAuthenticated()
    return ApplicationNotFound(shortened(slug))


async def find(slug: str, caller: Caller) -> ResolvedApplication:
    """The application, if the caller may use it. Raises `hidden`, `ApplicationBroken`."""
    try:
        return await access.find(checked(slug, caller), caller)
    except ApplicationNotFound:
        raise hidden(slug, caller) from None


def checked(slug: str, caller: Caller) -> str:
    """The slug, if it can be one at all. Raises `hidden`."""
    if not slug_re.match(slug):
        raise hidden(slug, caller)
    return slug
