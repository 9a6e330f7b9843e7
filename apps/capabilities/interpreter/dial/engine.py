"""Runs code in DIAL's code interpreter. The service stores the session, and later calls refer to it
by ID.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.conf import settings

from apps.agent.messages import ModelMessage
from apps.capabilities.interpreter.dial.client import InterpreterClient
from apps.capabilities.interpreter.dial.responses import SessionFailed, execution_of
from apps.capabilities.interpreter.engines import (
    Engine,
    Execution,
    InterpreterSession,
    earlier_states,
)
from apps.capabilities.interpreter.requests import (
    FileProblems,
    InputFile,
    InterpreterFailed,
    Request,
    match_files,
    url_file_name,
)
from apps.capabilities.registry import Opening
from apps.environment_variables import current_setting
from apps.errors import FileRefused
from apps.workspace.loading.file_locations import locate_file

KEY = "py_interpreter_state"
LEGACY_KEY = "py_interpreter_session_id"
ADVICE = (
    "The interpreter is a Python 3.11 Jupyter kernel with pandas, plotly, matplotlib, seaborn "
    "and scipy. There is no network. Variables and files remain for later calls, until 15 "
    "minutes pass without a call. Files named in attachment_urls are in the working directory, "
    "under the last part of their URL. Figures that are displayed become attachments."
)


def dial_engine(url: str, seconds: float) -> Engine:
    def open_session(opening: Opening) -> InterpreterSession:
        # The interpreter in another DIAL installation cannot read the caller's files.
        own_key = (
            current_setting("PY_INTERPRETER_API_KEY") if settings.PY_INTERPRETER_LOCAL_RUN else ""
        )
        key = own_key or opening.caller.credentials.api_key
        return DialSession(opening, InterpreterClient(url, key, seconds), is_separate=bool(own_key))

    return Engine(ADVICE, open_session)


@dataclass(slots=True)
class DialSession:
    opening: Opening
    client: InterpreterClient
    is_separate: bool
    id: str = ""  # Set once the session is known to be alive.

    async def execute(self, request: Request, messages: Sequence[ModelMessage]) -> Execution:
        """Run the code of a call. Raises `InterpreterFailed` if it cannot be run, and
        `TimeoutError` if the service does not answer.
        """
        await self.ensure(request, messages)
        try:
            if request.urls:
                await self.prepare_files(request, messages)
            answer = await self.client.execute_code(self.id, request.code)
        except SessionFailed:
            self.forget()
            raise
        return execution_of(answer)

    async def ensure(self, request: Request, messages: Sequence[ModelMessage]) -> None:
        """Continue the session of this run or conversation, or open a new one."""
        if request.open_session:
            await self.close(self.id or find_session_id(self.opening, messages))
        elif self.id:
            return
        elif (known := find_session_id(self.opening, messages)) and await self.is_alive(known):
            self.remember(known)
            return
        self.remember(await self.client.open_session())

    async def close(self, session_id: str) -> None:
        self.forget()
        if session_id:
            await self.client.close_session(session_id)

    async def is_alive(self, session_id: str) -> bool:
        try:
            await self.client.get_session(session_id)
        except SessionFailed:
            return False
        return True

    def remember(self, session_id: str) -> None:
        self.id = session_id
        self.opening.conversation.saved[KEY] = {"session_id": session_id}

    def forget(self) -> None:
        self.id = ""
        self.opening.conversation.saved.pop(KEY, None)

    async def prepare_files(self, request: Request, messages: Sequence[ModelMessage]) -> None:
        present = {path.rpartition("/")[2] for path in await self.client.list_files(self.id)}
        wanted = [url for url in request.urls if url_file_name(url) not in present]
        problems = FileProblems()
        for file in match_files(wanted, messages, problems):
            if reason := await self.transfer(file):
                problems.add(file.name, reason)
        problems.check()

    async def transfer(self, file: InputFile) -> str:
        """Transfer a file to the session. Return the reason for a failure, or "". Raises
        `SessionFailed` if the session is gone.
        """
        try:
            source = await self.source_of(file)
            await self.client.transfer_input_file(self.id, source, file.name)
        except SessionFailed:
            raise
        except (FileRefused, InterpreterFailed) as error:
            return str(error)
        return ""

    async def source_of(self, file: InputFile) -> str:
        """Return the URL from which the interpreter reads the file. Raises `FileRefused` or
        `InterpreterFailed` if there is none.
        """
        if self.is_separate:
            return await self.copy(file)
        place = locate_file(file.url)
        if place.kind == "stored":
            await self.opening.loader.distrust(file.url)
            return place.address
        # DIAL transfers only its own files, so any other file is first stored for the caller.
        return (await self.opening.loader.promote(file.url)).path

    async def copy(self, file: InputFile) -> str:
        """Upload the file to the interpreter's storage, and return its path there."""
        found = await self.opening.loader.load(file.url)
        return await self.client.upload(quote(file.name, safe=""), found.content, found.type)


def find_session_id(opening: Opening, messages: Sequence[ModelMessage]) -> str:
    """Return the session ID from this request, from the newest answer that has one, or from the
    settings.
    """
    for state in earlier_states(opening, messages):
        if found := session_id_in(state):
            return found
    return str(settings.PY_INTERPRETER_DEFAULT_SESSION_ID)


def session_id_in(state: Mapping[str, Any]) -> str:
    own = state.get(KEY)
    found = own.get("session_id") if isinstance(own, Mapping) else None
    found = found or state.get(LEGACY_KEY) or state.get("session_id")
    return found if isinstance(found, str) else ""
