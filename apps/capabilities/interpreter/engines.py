"""What both interpreters have in common, and the kinds of output that are shown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from apps.agent.messages import Message
from apps.capabilities.interpreter.requests import Request
from apps.capabilities.registry import Opening
from apps.errors import ToolTimedOut

Status = Literal["SUCCESS", "FAILURE"]

PLOTLY = "application/vnd.plotly.v1+json"
TEXTS = frozenset({"text/plain", "text/markdown"})
"""Shown to the model as they are."""

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
"""Of the files that code writes; the first that fits decides."""

ENDING_OF = {kind: ending for ending, kind in reversed(ENDINGS.items())} | {"text/xml": ".xml"}


@dataclass(frozen=True, slots=True)
class Produced:
    """A displayed value or a file that the code made; `name` is "" for a value."""

    name: str
    type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Execution:
    """`notes` tell the model what it could not know from the output."""

    status: Status
    result: str = ""
    stdout: str = ""
    stderr: str = ""
    display: Mapping[str, Any] = field(default_factory=dict)
    produced: tuple[Produced, ...] = ()
    notes: tuple[str, ...] = ()


class ExecutionTimedOut(ToolTimedOut):
    def __init__(self, tool: str, seconds: float) -> None:
        super().__init__(tool, seconds)
        self.args = (f"Unable to execute code. Executions is taking too long time! {self.args[0]}",)


class InterpreterSession(Protocol):
    """One interpreter for the length of a run; calls come one after another."""

    async def execute(self, request: Request, messages: Sequence[Message]) -> Execution:
        """Raises `InterpreterFailed`, and `TimeoutError` of a service that does not answer."""
        ...


@dataclass(frozen=True, slots=True)
class Engine:
    """`advice` is what the model must know of it; it continues the tool's description.

    `open` is cheap: nothing is started before the first call.
    """

    advice: str
    open: Callable[[Opening], InterpreterSession]


def earlier_states(opening: Opening, messages: Sequence[Message]) -> Iterator[Mapping[str, Any]]:
    """Of this request, of the last one, and of earlier answers: the newest first."""
    yield opening.saved
    yield opening.state
    yield from (message.state for message in reversed(messages) if message.role == "assistant")


def type_of(name: str) -> str:
    """ "" for kinds that are not shown."""
    lowered = name.lower()
    return next((kind for ending, kind in ENDINGS.items() if lowered.endswith(ending)), "")


def is_shown(media_type: str) -> bool:
    return media_type in ENDING_OF and media_type not in TEXTS
