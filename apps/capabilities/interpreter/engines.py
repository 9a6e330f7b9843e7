"""Defines the interface of the interpreter engines, and the output types shown as attachments."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from apps.agent.messages import ModelMessage
from apps.capabilities.interpreter.requests import Request
from apps.capabilities.registry import Opening
from apps.errors import ToolTimedOut

Status = Literal["SUCCESS", "FAILURE"]

PLOTLY = "application/vnd.plotly.v1+json"
TEXTS = frozenset({"text/plain", "text/markdown"})
"""Output with these media types is shown to the model as text."""

ENDINGS = {
    ".plotly.json": PLOTLY,
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".json": "application/json",
    ".csv": "text/csv",
    ".xml": "application/xml",
    ".txt": "text/plain",
    ".md": "text/markdown",
}
"""Maps file extensions to the media types of files that code creates. The first match wins."""

ENDING_OF = {kind: ending for ending, kind in reversed(ENDINGS.items())} | {"text/xml": ".xml"}


@dataclass(frozen=True, slots=True)
class ProducedFile:
    """A value that the code displayed, or a file that it created."""

    name: str
    """The file name, or "" for a displayed value."""
    type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Execution:
    """The result of running code."""

    status: Status
    result: str = ""
    stdout: str = ""
    stderr: str = ""
    display: Mapping[str, Any] = field(default_factory=dict)
    produced: tuple[ProducedFile, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes for the model about effects that the output does not show."""


class ExecutionTimedOut(ToolTimedOut):
    def __init__(self, tool: str, seconds: float) -> None:
        super().__init__(tool, seconds)
        self.args = (f"Unable to execute code. The execution takes too long. {self.args[0]}",)


class InterpreterSession(Protocol):
    """Runs the code of one run's calls, one call at a time."""

    async def execute(self, request: Request, messages: Sequence[ModelMessage]) -> Execution:
        """Run the code of a call. Raises `InterpreterFailed` if it cannot be run, and
        `TimeoutError` if a service does not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Engine:
    advice: str
    """The text that is appended to the tool's description."""
    open: Callable[[Opening], InterpreterSession]
    """A function that opens a session. It must be fast: no process or session starts before the
    first call.
    """


def earlier_states(
    opening: Opening, messages: Sequence[ModelMessage]
) -> Iterator[Mapping[str, Any]]:
    """Yield the stored states, newest first: the state of this request, of the previous request,
    and of each earlier answer.
    """
    yield opening.conversation.saved
    yield opening.conversation.state
    yield from (message.state for message in reversed(messages) if message.role == "assistant")


def file_type(name: str) -> str:
    """Return the media type for a file name, or "" if such files are not shown."""
    lowered = name.lower()
    return next((kind for ending, kind in ENDINGS.items() if lowered.endswith(ending)), "")


def is_shown(media_type: str) -> bool:
    return media_type in ENDING_OF and media_type not in TEXTS
