"""DIAL's code interpreter over HTTP: one function for each of its operations."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from apps.agent.surrogates import decoded
from apps.capabilities.interpreter.dial.failures import (
    EMPTY,
    UNAUTHORIZED,
    UNREACHABLE,
    UNREADABLE,
    SessionFailed,
    failure_of,
)
from apps.capabilities.interpreter.engines import InterpreterFailed
from apps.capabilities.wrappers.texts import ERROR_CHARACTERS, shortened
from apps.errors import EgressRefused
from apps.workspace.egress.bodies import BodyTooLarge, BodyUnreadable, read_body
from apps.workspace.egress.clients import (
    CONNECT_SECONDS,
    AsyncClient,
    ConnectError,
    ConnectTimeout,
    HTTPError,
    InvalidURL,
    TimeoutException,
    core_client,
    operator_client,
)

PREFIX = "/v1/ops/code_interpreter"
MOST_BYTES = 64 * 1024 * 1024
"""Of one answer: images come in it as base64."""
FIRST_PAUSE_SECONDS = 0.1
"""Before the first repetition; doubled before each further one."""
PASSING = frozenset({502, 503, 504})
"""Statuses of a proxy whose service is not there at the moment."""


class Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class SessionAnswer(Answer):
    session_id: str | None = Field(default=None, alias="sessionId")


class ExecutionAnswer(Answer):
    status: str
    result: str | dict[str, JsonValue] | None = None
    stdout: str | None = None
    stderr: str | None = None
    display: list[dict[str, JsonValue]] | None = None


class FileAnswer(Answer):
    path: str


class FilesAnswer(Answer):
    files: list[FileAnswer] = []


class BucketAnswer(Answer):
    bucket: str


class Anything(Answer): ...


A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, slots=True)
class Client:
    """Every operation raises `InterpreterFailed`, and `TimeoutError`."""

    url: str
    key: str = field(repr=False)
    seconds: float = 300.0

    async def open_session(self) -> str:
        """The id of a new session. Raises `ValueError` when the service names none."""
        answer = await self.operate("open_session", {"sessionId": None}, SessionAnswer)
        if not answer.session_id:
            raise ValueError("The interpreter opened a session without an id.")
        return answer.session_id

    async def get_session(self, session_id: str) -> None:
        """Raises `SessionFailed` when it is not alive."""
        await self.operate("get_session", {"sessionId": session_id}, Anything, may_be_empty=True)

    async def close_session(self, session_id: str) -> None:
        """Closing what is closed already is no failure."""
        body = {"sessionId": session_id}
        try:
            await self.operate("close_session", body, Anything, may_be_empty=True)
        except SessionFailed:
            return

    async def execute_code(self, session_id: str, code: str) -> ExecutionAnswer:
        body = {"sessionId": session_id, "code": code}
        return await self.operate("execute_code", body, ExecutionAnswer, repeatable=False)

    async def list_files(self, session_id: str) -> list[str]:
        answer = await self.operate("list_files", {"sessionId": session_id}, FilesAnswer)
        return [file.path for file in answer.files]

    async def transfer_input_file(self, session_id: str, source_url: str, target: str) -> None:
        body = {"sessionId": session_id, "sourceUrl": source_url, "targetPath": target}
        await self.operate("transfer_input_file", body, FileAnswer)

    async def upload(self, name: str, content: bytes, content_type: str) -> str:
        """Put a file into the storage beside the interpreter; its URL there."""
        bucket = await self.ask("GET", "/v1/bucket", BucketAnswer)
        path = f"files/{bucket.bucket}/{name}"
        files = {"file": (name, content, content_type)}
        await self.ask("PUT", f"/v1/{path}", Anything, files=files)
        return path

    async def operate(
        self,
        operation: str,
        body: Mapping[str, Any],
        shape: type[A],
        *,
        may_be_empty: bool = False,
        repeatable: bool = True,
    ) -> A:
        return await self.ask(
            "POST",
            f"{PREFIX}/{operation}",
            shape,
            may_be_empty=may_be_empty,
            repeatable=repeatable,
            json=body,
        )

    async def ask(
        self,
        method: str,
        path: str,
        shape: type[A],
        *,
        may_be_empty: bool = False,
        repeatable: bool = True,
        **content: Any,
    ) -> A:
        """Ask until there is an answer; what may have been done is not asked for again."""
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
        return read_answer(status, body, shape, may_be_empty=may_be_empty)

    async def attempt(
        self, method: str, path: str, content: Mapping[str, Any], *, repeatable: bool
    ) -> tuple[int, bytes] | None:
        """None when it is worth another attempt."""
        try:
            status, body = await self.exchange(method, path, content)
        except ConnectError:
            return None  # nothing was sent
        except HTTPError as error:
            if not repeatable:
                raise InterpreterFailed(UNREACHABLE) from error
            return None
        return None if repeatable and status in PASSING else (status, body)

    async def exchange(
        self, method: str, path: str, content: Mapping[str, Any]
    ) -> tuple[int, bytes]:
        """Raises `HTTPError` for a connection that failed, `TimeoutError` for a slow answer."""
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
        except EgressRefused as error:
            raise InterpreterFailed(f"Python Code Interpreter: {error}") from error
        except (BodyTooLarge, BodyUnreadable) as error:
            raise InterpreterFailed(f"Python Code Interpreter: {error}") from error
        except InvalidURL as error:
            raise InterpreterFailed(UNREACHABLE) from error
        except ConnectTimeout as error:
            raise ConnectError(str(error)) from error
        except TimeoutException as error:
            raise TimeoutError from error


def client_of(url: str) -> AsyncClient:
    """DIAL Core may be on a private network; any other place there has to be on the allowlist."""
    return core_client() if url.rstrip("/") == settings.DIAL_URL else operator_client()


def read_answer(status: int, body: bytes, shape: type[A], *, may_be_empty: bool) -> A:
    if not 200 <= status < 300:
        details = body.decode("utf-8", "replace").strip()
        raise failure_of(status, shortened(details, ERROR_CHARACTERS))
    if may_be_empty:
        body = b"{}"  # nothing in it is of use
    if not body.strip():
        raise InterpreterFailed(EMPTY)
    try:
        found: A = decoded(shape.model_validate_json, body)
    except ValidationError as error:
        raise InterpreterFailed(UNREADABLE) from error
    return found
