"""Defines the results of the interpreter server's tools."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from apps.capabilities.interpreter.sandbox.execution import SandboxOutcome
from apps.capabilities.interpreter.server.sessions import Session, file_uri, media_type


class ListedFile(BaseModel):
    """A file of the session. `uri` is a resource of the server; `size` is in bytes."""

    uri: str
    mime_type: str
    name: str
    size: int


class SessionInfo(BaseModel):
    session_id: str
    instructions: str


class ExecutionResult(BaseModel):
    """The result of running code. `output` is the printed text, `result` the value of the last
    expression, `error` the last line of `traceback`. `files` are the created and changed files.
    """

    success: bool
    output: list[str]
    result: str | None
    error: str | None
    traceback: list[str]
    files: list[ListedFile]
    session_info: SessionInfo


class SessionFiles(BaseModel):
    session_id: str
    files: list[ListedFile]


class ClearedSession(BaseModel):
    session_id: str
    cleared: bool


def execution_result(session: Session, outcome: SandboxOutcome, *, is_new: bool) -> ExecutionResult:
    execution = outcome.execution
    has_failed = execution.status == "FAILURE"
    said = (execution.stdout, "" if has_failed else execution.stderr)
    trace = execution.stderr.splitlines() if has_failed else []
    return ExecutionResult(
        success=not has_failed,
        output=[text for text in said if text],
        result=execution.result or None,
        error=next((line for line in reversed(trace) if line.strip()), None),
        traceback=trace,
        files=list_session_files(session, outcome.files),
        session_info=SessionInfo(
            session_id=session.id, instructions=instructions(session, outcome.notes, is_new=is_new)
        ),
    )


def instructions(session: Session, notes: Sequence[str], *, is_new: bool) -> str:
    started = f"A new session was started. Use session_id {session.id!r} to continue it."
    return " ".join([started, *notes] if is_new else notes)


def list_session_files(session: Session, files: Mapping[str, bytes]) -> list[ListedFile]:
    return [
        ListedFile(
            uri=file_uri(session.id, name),
            mime_type=media_type(name),
            name=name,
            size=len(content),
        )
        for name, content in files.items()
    ]
