"""Serves the sandbox over MCP: three tools, and the files of sessions as resources."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp_types import InputRequiredResult, ToolAnnotations
from pydantic import AnyUrl, Field

from apps.capabilities.interpreter.requests import MOST_CODE_CHARACTERS
from apps.capabilities.interpreter.sandbox.advice import language_advice, session_advice
from apps.capabilities.interpreter.server.execution_results import (
    ClearedSession,
    ExecutionResult,
    SessionFiles,
    execution_result,
    list_session_files,
)
from apps.capabilities.interpreter.server.sessions import (
    ID_CHARACTERS,
    NEW,
    SWEEP_SECONDS,
    SessionExpired,
    Sessions,
    media_type,
)

Code = Annotated[
    str,
    Field(
        max_length=MOST_CODE_CHARACTERS,
        description="Python code. End with an expression or print what you need to know.",
    ),
]
SessionId = Annotated[
    str,
    Field(
        max_length=ID_CHARACTERS,
        description="The ID of the session, as returned by a previous call.",
    ),
]
SessionToUse = Annotated[
    str,
    Field(
        max_length=ID_CHARACTERS,
        description="The ID of the session to continue. If it is empty or 0, a new session starts.",
    ),
]


class InterpreterServer(MCPServer[None]):
    """The sandbox's MCP server. It sets the media type of each file, because a resource template in
    the SDK has only one type.
    """

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[None, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        found = await super().read_resource(uri, context)
        if isinstance(found, InputRequiredResult):
            return found
        return [replace(one, mime_type=media_type(str(uri))) for one in found]


@dataclass(frozen=True, slots=True)
class SessionTools:
    """The tools and the resource of the server. All raise `SessionExpired` if the session does not
    exist.
    """

    sessions: Sessions

    async def execute_code(self, code: Code, session_id: SessionToUse = "") -> ExecutionResult:
        session = self.sessions.find_or_start(session_id)
        outcome = await self.sessions.execute(session, code)
        return execution_result(session, outcome, is_new=session_id in NEW)

    async def list_session_files(self, session_id: SessionId) -> SessionFiles:
        session = self.sessions.find(session_id)
        return SessionFiles(session_id=session.id, files=list_session_files(session, session.files))

    async def clear_session(self, session_id: SessionId) -> ClearedSession:
        self.sessions.clear(session_id)
        return ClearedSession(session_id=session_id, cleared=True)

    async def session_file(self, session_id: str, file: str) -> bytes:
        """Return the content of a session's file. Raises `ResourceNotFoundError` if it does not
        exist.
        """
        try:
            return self.sessions.find(session_id).files[file]
        except SessionExpired as error:
            raise ResourceNotFoundError(str(error)) from error
        except KeyError:
            raise ResourceNotFoundError(f"The session has no file {file[:100]!r}.") from None


def interpreter_server(sessions: Sessions) -> InterpreterServer:
    lifespan = partial(sweeping, sessions)
    server = InterpreterServer("py-interpreter", log_level="CRITICAL", lifespan=lifespan)
    tools = SessionTools(sessions)
    server.add_tool(
        tools.execute_code,
        description="Runs Python code and returns what it printed, the value of its last "
        f"expression and the files that it created. {language_advice()} {session_advice()}",
    )
    server.add_tool(
        tools.list_session_files,
        description="Lists the files of a session.",
        annotations=ToolAnnotations(read_only_hint=True),
    )
    server.add_tool(
        tools.clear_session, description="Ends a session and deletes its variables and files."
    )
    # The template rejects paths that leave a session.
    server.resource("kernel://{session_id}/{+file}", description="A file of a session.")(
        tools.session_file
    )
    return server


@asynccontextmanager
async def sweeping(sessions: Sessions, server: MCPServer[None]) -> AsyncIterator[None]:
    """Delete idle sessions periodically while the server is running."""
    task = asyncio.create_task(sweep_for_ever(sessions))
    try:
        yield
    finally:
        task.cancel()


async def sweep_for_ever(sessions: Sessions) -> None:
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        sessions.sweep()
