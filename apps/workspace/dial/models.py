"""Completions of Core's models and applications."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import cast

from apps import tracing
from apps.accounts.caller import Caller
from apps.errors import ModelFailed
from apps.workspace.dial.core import Core
from apps.workspace.dial.failures import MOST_ERROR_BYTES, details_of, read_error
from apps.workspace.dial.wire import TooLarge, read_whole, send
from apps.workspace.egress.sdk_clients import Body, HTTPError, Response
from apps.workspace.egress.transport import Answer
from apps.workspace.openai.clients import ERROR_SECONDS, limits
from apps.workspace.openai.failures import failure_of_answer


@dataclass(frozen=True, slots=True)
class Completions:
    """One deployment's completions, for one caller; `name` is its id, encoded."""

    core: Core
    name: str
    headers: dict[str, str] = field(repr=False)
    caller: Caller = field(repr=False)

    async def ask(self, content: bytes, idle_seconds: float) -> Answer:
        """Raises `ModelFailed`, `HTTPError`, `InvalidURL`, `EgressRefused`."""
        path = f"/openai/deployments/{self.name}/chat/completions"
        response = await send(
            "POST",
            self.core.address(path, {"api-version": self.core.api_version}),
            {
                **self.headers,
                **tracing.headers(),
                "Accept": "text/event-stream",
                "Content-Type": "application/json",
            },
            limits(idle_seconds),
            content=content,
        )
        if response.is_success:
            body = cast(Body, response.stream)
            return Answer(response.status_code, response.headers.raw, body)
        raise await self.refusal(response)

    async def refusal(self, response: Response) -> ModelFailed:
        try:
            async with asyncio.timeout(ERROR_SECONDS):
                body = await read_whole(response, MOST_ERROR_BYTES)
        except (HTTPError, TooLarge, TimeoutError):
            body = b""  # the status says enough
        finally:
            await response.aclose()
        return failure_of_answer(
            response.status_code,
            response.headers,
            read_error(body),
            details_of(body, self.caller),
        )
