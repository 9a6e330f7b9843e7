"""Sends all requests to DIAL Core except completions, with limits on time, response size and
retries.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar, cast

from apps.accounts.caller import Caller
from apps.agent.backoff import Backoff
from apps.errors import EgressRefused, ServiceFailed
from apps.workspace.dial.core import Core, target
from apps.workspace.dial.failures import (
    MOST_ERROR_BYTES,
    PASSING,
    AnswerTooLarge,
    CoreBroken,
    CoreRefused,
    CoreUnreachable,
    connection_failure,
    details_of,
    timed_out,
)
from apps.workspace.dial.headers import credentials
from apps.workspace.dial.wire import CoreResponse, DialFile, decode_body, encoded_body, send_request
from apps.workspace.egress.clients import CONNECT_SECONDS
from apps.workspace.egress.headers import retry_after
from apps.workspace.egress.sdk_clients import HTTPError, InvalidURL
from apps.workspace.egress.transport import ResponseTooLarge, StreamedResponse

logger = logging.getLogger(__name__)

SECONDS = 30.0
"""The timeout for a call in seconds, including all attempts."""
BACKOFF = Backoff(attempts=3, initial_delay=0.2, max_delay=2.0)
"""The retries give one of several Cores behind a proxy enough time to restart, but no more, because
a user is waiting.
"""
MOST_BYTES = 16 * 1024 * 1024
NOTHING: Mapping[str, str] = MappingProxyType({})

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Calls:
    """Sends requests to DIAL Core on behalf of one caller. Every method raises `ServiceFailed` if
    the request fails.

    Paths begin with a slash and are encoded. `seconds` is the time limit for a call, including all
    attempts.
    """

    core: Core
    caller: Caller = field(repr=False)
    cache: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)
    locks: dict[Hashable, asyncio.Lock] = field(default_factory=dict, repr=False, compare=False)

    async def once(self, key: Hashable, fetch: Callable[[], Awaitable[T]]) -> T:
        """Fetch a value for this caller, and cache it under `key` for later calls.

        Concurrent callers with the same key share one fetch. Failures are not cached.
        """
        async with self.locks.setdefault(key, asyncio.Lock()):
            if key not in self.cache:
                self.cache[key] = await fetch()
            return cast(T, self.cache[key])

    async def get_json(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """Return the parsed JSON of the response, or None if it is empty."""
        return decode_body((await self.get(path, query)).body)

    async def get(
        self,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        most_bytes: int = MOST_BYTES,
        seconds: float = SECONDS,
    ) -> CoreResponse:
        """Send a GET request, and retry it after temporary failures."""
        call = partial(self.attempt, "GET", target(path, query), {}, b"", most_bytes, seconds)
        return await retry_call(call, seconds, is_safe=True)

    async def send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] = NOTHING,
        seconds: float = SECONDS,
        json: Any = None,
        file: DialFile | None = None,
    ) -> CoreResponse:
        """Send a request with JSON, a file, or no body. The request is retried only if no
        connection was established.
        """
        more, content = encoded_body(json, file)
        headers = {**headers, **more}
        call = partial(self.attempt, method, path, headers, content, MOST_BYTES, seconds)
        return await retry_call(call, seconds, is_safe=False)

    async def attempt(
        self,
        method: str,
        place: str,
        headers: Mapping[str, str],
        content: bytes,
        most_bytes: int,
        seconds: float,
    ) -> CoreResponse:
        limits = {"connect": min(CONNECT_SECONDS, seconds), "read": seconds, "write": seconds}
        own = {**headers, **credentials(self.caller)}
        try:
            answer = await send_request(self.core, method, place, own, limits, content)
            async with aclosing(answer.body):
                if not answer.is_success:
                    raise await self.refusal(f"{method} {place.partition('?')[0]}", answer)
                body = await answer.read(most_bytes)
                return CoreResponse(answer.status, answer.header_texts(), body)
        except ResponseTooLarge as error:
            raise AnswerTooLarge(f"DIAL Core: {error}", reason="answer") from error
        except (EgressRefused, HTTPError, InvalidURL) as error:
            raise connection_failure(error, seconds) from error

    async def refusal(self, call: str, answer: StreamedResponse) -> CoreRefused:
        said = details_of(await answer.body.read_refusal(MOST_ERROR_BYTES), self.caller)
        return CoreRefused(call, answer.status, said, retry_after(answer.header_texts()))


async def retry_call(
    call: Callable[[], Awaitable[CoreResponse]], seconds: float, *, is_safe: bool
) -> CoreResponse:
    """Call `call`, and retry it after temporary failures for up to `seconds`.

    Unless the call is safe (`is_safe`), it is retried only if no connection was established.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    attempt = 0
    while True:
        attempt += 1
        try:
            async with asyncio.timeout_at(end):
                return await call()
        except TimeoutError as error:
            raise timed_out(seconds) from error
        except ServiceFailed as failure:
            server_pause = getattr(failure, "retry_after", None)
            pause = BACKOFF.pause(attempt, server_pause, end - loop.time())
            if pause is None or not may_repeat(failure, is_safe=is_safe):
                raise
            logger.warning("Retrying the call to DIAL Core in %.2f seconds: %s", pause, failure)
        await asyncio.sleep(pause)


def may_repeat(failure: ServiceFailed, *, is_safe: bool) -> bool:
    if isinstance(failure, CoreUnreachable):
        return True
    return is_safe and (failure.status in PASSING or isinstance(failure, CoreBroken))
