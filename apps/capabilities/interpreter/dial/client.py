"""Calls the operations of DIAL's code interpreter."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.conf import settings
from pydantic import ValidationError

from apps.agent.surrogates import decode_json
from apps.capabilities.interpreter.dial.responses import (
    EMPTY,
    UNAUTHORIZED,
    UNREACHABLE,
    UNREADABLE,
    BucketResponse,
    ExecutionResponse,
    FileResponse,
    FilesResponse,
    Response,
    SessionFailed,
    SessionResponse,
    failure_of,
)
from apps.capabilities.interpreter.requests import InterpreterFailed
from apps.capabilities.wrappers.value_texts import ERROR_CHARACTERS, shorten_text
from apps.errors import EgressRefused
from apps.workspace.egress.bodies import BodyUnreadable, ResponseBodyTooLarge, read_body
from apps.workspace.egress.clients import (
    CONNECT_SECONDS,
    AsyncClient,
    ConnectError,
    ConnectTimeout,
    HTTPError,
    InvalidURL,
    TimeoutException,
    find_client,
)
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.tls_failures import tls_problem

PREFIX = "/v1/ops/code_interpreter"
MOST_BYTES = 64 * 1024 * 1024
"""The size limit for a response, in bytes. Responses contain images as base64."""
FIRST_PAUSE_SECONDS = 0.1
"""The pause in seconds before the first retry. It doubles before each further retry."""
PASSING = frozenset({502, 503, 504})
"""The HTTP statuses with which a proxy reports that the service is temporarily unavailable."""


R = TypeVar("R", bound=Response)


@dataclass(frozen=True, slots=True)
class InterpreterClient:
    """Calls DIAL's code interpreter. Raises `InterpreterFailed` if the service fails, and
    `TimeoutError` if it does not respond in time.
    """

    url: str
    key: str = field(repr=False)
    seconds: float = 300.0

    async def open_session(self) -> str:
        """Open a session, and return its ID. Raises `ValueError` if the service returns none."""
        answer = read(SessionResponse, await self.operate("open_session", None))
        if not answer.session_id:
            raise ValueError("The interpreter returned a session without an id.")
        return answer.session_id

    async def get_session(self, session_id: str) -> None:
        """Raise `SessionFailed` if the session is not alive."""
        await self.operate("get_session", session_id)

    async def close_session(self, session_id: str) -> None:
        with suppress(SessionFailed):  # The session is already closed.
            await self.operate("close_session", session_id)

    async def execute_code(self, session_id: str, code: str) -> ExecutionResponse:
        body = await self.operate("execute_code", session_id, repeatable=False, code=code)
        return read(ExecutionResponse, body)

    async def list_files(self, session_id: str) -> list[str]:
        answer = read(FilesResponse, await self.operate("list_files", session_id))
        return [file.path for file in answer.files]

    async def transfer_input_file(self, session_id: str, source_url: str, target: str) -> None:
        body = await self.operate(
            "transfer_input_file", session_id, sourceUrl=source_url, targetPath=target
        )
        read(FileResponse, body)

    async def upload(self, name: str, content: bytes, content_type: str) -> str:
        """Upload a file to the interpreter's DIAL installation, and return its path there."""
        bucket = read(BucketResponse, await self.ask("GET", "/v1/bucket"))
        path = f"files/{bucket.bucket}/{name}"
        files = {"file": (name, content, content_type)}
        read(Response, await self.ask("PUT", f"/v1/{path}", files=files))
        return path

    async def operate(
        self, operation: str, session_id: str | None, *, repeatable: bool = True, **fields: str
    ) -> bytes:
        body = {"sessionId": session_id, **fields}
        return await self.ask("POST", f"{PREFIX}/{operation}", repeatable=repeatable, json=body)

    async def ask(
        self, method: str, path: str, *, repeatable: bool = True, **content: Any
    ) -> bytes:
        """Send a request, and return the body of the response. Retry the request if it is
        `repeatable` or was not sent.
        """
        if not self.key:
            raise InterpreterFailed(UNAUTHORIZED)
        reply = None
        for attempt in range(settings.PY_INTERPRETER_CLIENT_MAX_RETRIES):
            reply = await self.attempt(method, path, content, repeatable=repeatable)
            if reply is not None:
                break
            await asyncio.sleep(FIRST_PAUSE_SECONDS * 2**attempt)
        try:
            status, body = reply or await self.exchange(method, path, content)
        except HTTPError as error:
            raise InterpreterFailed(UNREACHABLE) from error
        if not 200 <= status < 300:
            details = body.decode("utf-8", "replace").strip()
            raise failure_of(status, shorten_text(details, ERROR_CHARACTERS))
        return body

    async def attempt(
        self, method: str, path: str, content: Mapping[str, Any], *, repeatable: bool
    ) -> tuple[int, bytes] | None:
        """Send the request once. Return the response's status and body, or None if a retry may
        succeed.
        """
        try:
            status, body = await self.exchange(method, path, content)
        except ConnectError as error:
            if problem := tls_problem(error):
                raise InterpreterFailed(f"Python Code Interpreter: {problem}") from error
            return None  # The request was not sent.
        except HTTPError as error:
            if not repeatable:
                raise InterpreterFailed(UNREACHABLE) from error
            return None
        return None if repeatable and status in PASSING else (status, body)

    async def exchange(
        self, method: str, path: str, content: Mapping[str, Any]
    ) -> tuple[int, bytes]:
        """Send a request, and return the response's status and body. Raises `HTTPError` if the
        connection fails, and `TimeoutError` if the response is late.
        """
        seconds = self.seconds
        try:
            async with client_of(self.url).stream(
                method,
                f"{self.url.rstrip('/')}{path}",
                headers={"Api-Key": self.key},
                timeout=(min(CONNECT_SECONDS, seconds), seconds, seconds, seconds),
                **content,
            ) as response:
                return response.status_code, await read_body(response, MOST_BYTES)
        except (EgressRefused, ResponseBodyTooLarge, BodyUnreadable) as error:
            raise InterpreterFailed(f"Python Code Interpreter: {error}") from error
        except InvalidURL as error:
            raise InterpreterFailed(UNREACHABLE) from error
        except ConnectTimeout as error:
            raise ConnectError(str(error)) from error
        except TimeoutException as error:
            raise TimeoutError from error


def client_of(url: str) -> AsyncClient:
    """Return an HTTP client for the interpreter. A private host other than DIAL Core must be on the
    allowlist.
    """
    return find_client(Trust.DIAL if url.rstrip("/") == settings.DIAL_URL else Trust.OPERATOR)


def read(shape: type[R], body: bytes) -> R:
    """Parse the body of a response. Raises `InterpreterFailed` if the body does not have this
    `shape`.
    """
    if not body.strip():
        raise InterpreterFailed(EMPTY)
    try:
        found: R = decode_json(shape.model_validate_json, body)
    except ValidationError as error:
        raise InterpreterFailed(UNREADABLE) from error
    return found
