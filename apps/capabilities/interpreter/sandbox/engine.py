"""Runs a subset of Python in the built-in sandbox, a process without file or network access."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.agent.messages import ModelMessage
from apps.capabilities.interpreter.engines import (
    Engine,
    Execution,
    ProducedFile,
    earlier_states,
    file_type,
)
from apps.capabilities.interpreter.requests import FileProblems, Request, match_files
from apps.capabilities.interpreter.sandbox.advice import attachment_advice, language_advice
from apps.capabilities.interpreter.sandbox.execution import SandboxOutcome, execute_code
from apps.capabilities.interpreter.sandbox.state import KEY, StateUnusable, read_state, write_state
from apps.capabilities.interpreter.sandbox.workers import run_in_worker
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.value_texts import one_line
from apps.errors import FileRefused

MOST_PRODUCED = 10
"""One call returns up to this many files as attachments."""


def sandbox_engine() -> Engine:
    return Engine(f"{language_advice()} {attachment_advice()}", SandboxSession)


@dataclass(slots=True)
class SandboxSession:
    opening: Opening

    async def execute(self, request: Request, messages: Sequence[ModelMessage]) -> Execution:
        """Run the code with the state of earlier calls. Raises `InterpreterFailed` if a file cannot
        be prepared.
        """
        files = await self.load(request, messages)
        before, notes = self.restore(request, messages)
        outcome = await run_in_worker(
            lambda session: execute_code(session, request.code, files, before)
        )
        if outcome.is_state_lost:
            notes.append(
                "The state of earlier calls could not be loaded, so the interpreter started with an empty state."
            )
        notes += self.save(outcome)
        notes += outcome.notes
        produced, others = shown_files(outcome.files)
        return replace(outcome.execution, produced=produced, notes=(*notes, *others))

    async def load(self, request: Request, messages: Sequence[ModelMessage]) -> dict[str, bytes]:
        problems = FileProblems()
        files: dict[str, bytes] = {}
        for file in match_files(request.urls, messages, problems):
            try:
                files[file.name] = (await self.opening.loader.load(file.url)).content
            except FileRefused as error:
                problems.add(file.name, str(error))
        problems.check()
        return files

    def restore(
        self, request: Request, messages: Sequence[ModelMessage]
    ) -> tuple[bytes | None, list[str]]:
        """Return the stored state of the newest call (None if there is no usable state), and notes
        for the model.
        """
        if request.open_session:
            return None, []
        written = newest(self.opening, messages)
        try:
            return read_state(written, self.opening.caller), []
        except StateUnusable as reason:
            return None, [str(reason)]

    def save(self, outcome: SandboxOutcome) -> list[str]:
        """Store the state after the call, and return notes for the model. After an interrupted
        call, the previous state remains.
        """
        if outcome.is_state_lost:
            self.opening.conversation.saved[KEY] = {}  # The state must not be loaded again.
        if outcome.state is None:
            return []
        try:
            self.opening.conversation.saved[KEY] = write_state(outcome.state, self.opening.caller)
        except StateUnusable as reason:
            self.opening.conversation.saved[KEY] = {}
            return [str(reason)]
        return []


def newest(opening: Opening, messages: Sequence[ModelMessage]) -> Any:
    """Return the newest state in the conversation: {} if the newest call stored none, and None if
    there was no call.
    """
    states = earlier_states(opening, messages)
    return next((state[KEY] for state in states if KEY in state), None)


def shown_files(files: Mapping[str, bytes]) -> tuple[tuple[ProducedFile, ...], list[str]]:
    """Return the files to show as attachments, and notes for the model about the omitted files."""
    produced = [
        ProducedFile(one_line(name.rpartition("/")[2]), kind, content)
        for name, content in files.items()
        if (kind := file_type(name))
    ]
    notes = []
    others = [one_line(name) for name in files if not file_type(name)][:MOST_PRODUCED]
    if others:
        notes.append(f"Files of other kinds are not stored: {', '.join(others)}.")
    if len(produced) > MOST_PRODUCED:
        notes.append(f"Only the first {MOST_PRODUCED} files are stored.")
    return tuple(produced[:MOST_PRODUCED]), notes
