"""Python that comes with us: a subset of the language, in a process without files or network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.agent.messages import Message
from apps.capabilities.interpreter.engines import (
    Engine,
    Execution,
    Produced,
    earlier_states,
    type_of,
)
from apps.capabilities.interpreter.requests import FileProblems, Request, match_files
from apps.capabilities.interpreter.sandbox.advice import attachment_advice, language_advice
from apps.capabilities.interpreter.sandbox.execution import SandboxOutcome, execute
from apps.capabilities.interpreter.sandbox.state import KEY, StateUnusable, read_state, write_state
from apps.capabilities.interpreter.sandbox.workers import run_in_worker
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.texts import one_line
from apps.errors import FileRefused

MOST_PRODUCED = 10
"""Attachments of one call; more would bury the answer."""


def sandbox_engine() -> Engine:
    return Engine(f"{language_advice()} {attachment_advice()}", SandboxSession)


@dataclass(slots=True)
class SandboxSession:
    opening: Opening

    async def execute(self, request: Request, messages: Sequence[Message]) -> Execution:
        """Raises `InterpreterFailed`."""
        files = await self.load(request, messages)
        before, notes = self.restore(request, messages)
        outcome = await run_in_worker(lambda session: execute(session, request.code, files, before))
        if outcome.is_state_lost:
            notes.append(
                "What earlier calls left behind could not be loaded; the interpreter started anew."
            )
        notes += self.save(outcome)
        notes += outcome.notes
        produced, others = shown_files(outcome.files)
        return replace(outcome.execution, produced=produced, notes=(*notes, *others))

    async def load(self, request: Request, messages: Sequence[Message]) -> dict[str, bytes]:
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
        self, request: Request, messages: Sequence[Message]
    ) -> tuple[bytes | None, list[str]]:
        """The state after the newest call, and notes for the model."""
        if request.open_session:
            return None, []
        written = newest(self.opening, messages)
        try:
            return read_state(written, self.opening.caller), []
        except StateUnusable as reason:
            return None, [str(reason)]

    def save(self, outcome: SandboxOutcome) -> list[str]:
        """Notes for the model. A call that was cut off leaves the state of the call before."""
        if outcome.is_state_lost:
            self.opening.saved[KEY] = {}  # what cannot be loaded is not tried again
        if outcome.state is None:
            return []
        try:
            self.opening.saved[KEY] = write_state(outcome.state, self.opening.caller)
        except StateUnusable as reason:
            self.opening.saved[KEY] = {}
            return [str(reason)]
        return []


def newest(opening: Opening, messages: Sequence[Message]) -> Any:
    """`{}` means that nothing was kept, None that there was no call."""
    states = earlier_states(opening, messages)
    return next((state[KEY] for state in states if KEY in state), None)


def shown_files(files: Mapping[str, bytes]) -> tuple[tuple[Produced, ...], list[str]]:
    """The files that become attachments, and notes about the others."""
    produced = [
        Produced(one_line(name.rpartition("/")[2]), kind, content)
        for name, content in files.items()
        if (kind := type_of(name))
    ]
    notes = []
    others = [one_line(name) for name in files if not type_of(name)][:MOST_PRODUCED]
    if others:
        notes.append(f"Files of other kinds are not kept: {', '.join(others)}.")
    if len(produced) > MOST_PRODUCED:
        notes.append(f"Only the first {MOST_PRODUCED} files are kept.")
    return tuple(produced[:MOST_PRODUCED]), notes
