"""Chat completions of Core's models and applications."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field

from apps import tracing
from apps.accounts.caller import Caller
from apps.errors import ModelFailed
from apps.workspace.dial.core import Core, target
from apps.workspace.dial.failures import MOST_ERROR_BYTES, details_of, read_error
from apps.workspace.dial.wire import TooLarge, read_whole, send
from apps.workspace.egress.sdk_clients import HTTPError
from apps.workspace.egress.transport import StreamedResponse
from apps.workspace.openai.clients import ERROR_SECONDS, call_limits
from apps.workspace.openai.failures import failure_of_answer


@dataclass(frozen=True, slots=True)
class DialCompletions:
    """A deployment as one caller asks it; `name` is its encoded id."""

    core: Core
    name: str
    headers: dict[str, str] = field(repr=False)
    caller: Caller = field(repr=False)

    async def ask(self, content: bytes, idle_seconds: float) -> StreamedResponse:
        """Raises `ModelFailed`, `HTTPError`, `InvalidURL`, `EgressRefused`."""
        path = f"/openai/deployments/{self.name}/chat/completions"
        answer = await send(
            self.core,
            "POST",
            target(path, {"api-version": self.core.api_version}),
            {
                **self.headers,
                **tracing.headers(),
                "Accept": "text/event-stream",
                "Content-Type": "application/json",
            },
            call_limits(idle_seconds),
            content,
        )
        if answer.is_success:
            return answer
        raise await self.refusal(answer)

    async def refusal(self, answer: StreamedResponse) -> ModelFailed:
        try:
            async with asyncio.timeout(ERROR_SECONDS), aclosing(answer.body):
                body = await read_whole(answer, MOST_ERROR_BYTES)
        except (HTTPError, TooLarge, TimeoutError):
            body = b""  # the status says enough
        return failure_of_answer(
            answer.status, answer.header_texts(), read_error(body), details_of(body, self.caller)
        )
