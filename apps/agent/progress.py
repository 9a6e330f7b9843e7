"""Defines the state of a run in progress: its conversation, its answer so far, its counts and
usage, and the limits of its models' output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import msgspec

from apps.agent.events import (
    AttachmentAdded,
    Emit,
    ModelUsage,
    StageClosed,
    StageDelta,
    StageOpened,
    TextDelta,
    Usage,
)
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.meter import NO_METER, Meter
from apps.agent.tools import ToolResult
from apps.agent.turn_stages import DeferredStages, EarlyStages
from apps.errors import StepLimitReached

if TYPE_CHECKING:
    from apps.agent.context.fitter import ContextFitter

BETWEEN_TEXTS = "\n\n"
TITLE_CHARACTERS = 200
"""Image titles are truncated to this many characters."""

_control = re.compile(r"[\x00-\x20\x7f]+")
_markup = re.compile(r"([\\`*_\[\]<>!&])")
_address = re.compile(r"[\s\x00-\x1f<>()\[\]\\\"]")
MOST_CHARACTERS = 4_000_000
"""The maximum number of characters of text, reasoning and tool calls in one run, about a million
tokens. The longest known answers have 128,000 tokens, and a run calls its model about 15 times.
"""
MOST_DATA = 32 * 1024 * 1024
"""The maximum size of a run's files and state, in characters of JSON. It also limits the response
from a model that does not stream.
"""
UNLIMITED = -1
TIMINGS_STAGE = "execution-time"


@dataclass(slots=True)
class Allowance:
    """The output that a run's models may still produce. The limit prevents an endless answer from
    exhausting memory.

    Text, reasoning and tool calls share `most` characters, of which `left` remain. Attachments and
    state share `data` characters of JSON. A negative value means that the limit is exceeded.
    """

    most: int = field(default_factory=lambda: MOST_CHARACTERS)
    left: int = 0
    data: int = MOST_DATA

    def __post_init__(self) -> None:
        self.left = self.most

    @property
    def is_exceeded(self) -> bool:
        return self.left < 0 or self.data < 0

    @property
    def notice(self) -> str:
        if self.left < 0:
            return f"[The answer was cut here: the limit is {self.most:,} characters.]"
        return "[The answer was cut here: its files and state are too large.]"

    def fitting(self, text: str) -> str:
        """Return the beginning of a text, up to the limit. The text must already be subtracted from
        `left`.
        """
        return text[: max(len(text) + self.left, 0)]

    def take_data(self, value: Any) -> None:
        if value:
            self.data -= len(msgspec.json.encode(value))


@dataclass(slots=True)
class Rounds:
    """Counts the model calls of a run."""

    most: int = UNLIMITED
    """The maximum number of model calls."""
    used: int = 0
    """The number of model calls so far, including those of nested runs."""
    outer: Rounds | None = None
    """The counter of the outer run, or None."""

    def take(self) -> None:
        """Count one model call before it is made. Raises `StepLimitReached`."""
        if self.most != UNLIMITED and self.used >= self.most:
            raise StepLimitReached(self.most)
        around = self.outer
        while around is not None:
            # One call is reserved for the outer agent, so that it can use the results.
            if around.most != UNLIMITED and around.used >= around.most - 1:
                raise StepLimitReached(around.most)
            around = around.outer
        self.count(1)

    def count(self, calls: int) -> None:
        """Count model calls that have already been made."""
        here: Rounds | None = self
        while here is not None:
            here.used += calls
            here = here.outer


@dataclass(slots=True)
class RunAnswer:
    """The output of a run that users can see."""

    said: list[str] = field(default_factory=list)
    """The texts of the answer."""
    shown: set[str] = field(default_factory=set)
    """The URLs of the attachments and images that the answer already contains."""
    allowance: Allowance = field(default_factory=Allowance)
    """The remaining output of the run's models."""

    @property
    def lead(self) -> str:
        """Return the separator to insert before the answer's next text, or ""."""
        return BETWEEN_TEXTS if self.said else ""

    @property
    def text(self) -> str:
        """Return the text of the answer as users see it."""
        return BETWEEN_TEXTS.join(self.said)

    def say(self, text: str) -> None:
        """Append a text that has already been emitted."""
        if text:
            self.said.append(text)

    def append(self, text: str, emit: Emit) -> None:
        emit(TextDelta(self.lead + text))
        self.say(text)

    def attach(self, attachment: Attachment, emit: Emit) -> None:
        """Emit an attachment, unless the answer already has one with the same URL."""
        if attachment.url is not None:
            if attachment.url in self.shown:
                return
            self.shown.add(attachment.url)
        emit(AttachmentAdded(attachment))


class CallTiming(msgspec.Struct, frozen=True):
    name: str
    seconds: float
    is_tool: bool = False


@dataclass(slots=True)
class RunConversation:
    """The conversation that a run continues, and the messages that the run has added."""

    base: Sequence[ModelMessage] = ()
    """The messages before the run. If the run recovers from a failure, they are rewritten."""
    added: list[ModelMessage] = field(default_factory=list)
    has_recovered: bool = False
    waiting: ModelMessage | None = None
    """The message with the tool calls that the client's next request executes. The first of these
    calls is waiting for the user's answer. `waiting` is None if the run is stored.
    """

    @property
    def messages(self) -> tuple[ModelMessage, ...]:
        return (*self.base, *self.added)

    def recover(self, rewritten: Sequence[ModelMessage]) -> None:
        self.has_recovered = True
        self.base = rewritten
        self.added.clear()


@dataclass(slots=True)
class RunCounts:
    """The counts of a run's model calls and tool calls."""

    iterations: int = 0
    tool_calls: int = 0
    failed_turns: int = 0
    """The number of consecutive turns so far in which every call failed."""
    rounds: Rounds = field(default_factory=Rounds)
    """The model calls that count toward the iteration limit, including those of sub-agents."""


@dataclass(slots=True)
class Progress:
    """The results of a run so far. They remain available if the run fails, so that its state can be
    saved.
    """

    conversation: RunConversation = field(default_factory=RunConversation)
    answer: RunAnswer = field(default_factory=RunAnswer)
    counts: RunCounts = field(default_factory=RunCounts)
    usage: list[ModelUsage] = field(default_factory=list)
    timings: list[CallTiming] = field(default_factory=list)
    """The durations of all calls, in the order in which the calls ended."""
    meter: Meter = NO_METER
    fitter: ContextFitter | None = None
    """Fits the conversation into the context window. It is None until the model is known."""


class Turn(msgspec.Struct, frozen=True):
    """One model call, with the tool calls that it requests."""

    conversation: Sequence[ModelMessage]
    emit: Emit
    progress: Progress
    early: EarlyStages
    deferred: DeferredStages
    """The stages that stay open until the model's next answer is complete."""


def show_files(result: ToolResult, answer: RunAnswer, emit: Emit) -> None:
    """Add the files of a tool's result to the answer, as attachments or as images in its text."""
    show_pictures(result.pictures, answer, emit)
    for attachment in result.propagated:
        answer.attach(attachment, emit)


def show_pictures(pictures: Iterable[Attachment], answer: RunAnswer, emit: Emit) -> None:
    """Append the images to the answer's text, except those that it already contains."""
    new = [one for one in pictures if one.url is not None and one.url not in answer.shown]
    if new:
        answer.shown.update(one.url for one in new if one.url is not None)
        answer.append(BETWEEN_TEXTS.join(map(as_markdown, new)), emit)


def as_markdown(picture: Attachment) -> str:
    """Return the Markdown for an image. Its title and URL are escaped, because they come from a
    service.
    """
    words = _control.sub(" ", picture.title).strip()[:TITLE_CHARACTERS]
    title = _markup.sub(r"\\\1", words)
    address = _address.sub(lambda found: f"%{ord(found[0]):02X}", picture.url or "")
    return f"![{title}]({address})"


def show_timings(timings: Sequence[CallTiming], seconds: float, emit: Emit) -> None:
    """Show the durations of all calls in a stage. `seconds` is the duration of the whole run. It is
    less than the sum of the calls' durations if tools ran concurrently.
    """
    rows = [("Step", "Seconds"), ("---", "---:")]
    rows += [
        (f"Tool `{one.name}`" if one.is_tool else f"Model {one.name}", f"{one.seconds:.3f}")
        for one in timings
    ]
    rows += [("**Total**", f"**{seconds:.3f}**")]
    emit(StageOpened(TIMINGS_STAGE, "Execution time"))
    emit(StageDelta(TIMINGS_STAGE, "".join(f"| {left} | {right} |\n" for left, right in rows)))
    emit(StageClosed(TIMINGS_STAGE, 0.0))


def total(spent: Iterable[ModelUsage]) -> Usage:
    """Return the total usage, with one `ModelUsage` per model, in the order of first use."""
    by_model: dict[str, ModelUsage] = {}
    for item in spent:
        recorded = by_model.get(item.model)
        by_model[item.model] = item if recorded is None else add_usage(recorded, item)
    per_model = tuple(by_model.values())
    whole = reduce(add_usage, per_model, ModelUsage("", 0, 0))
    return Usage(whole.input, whole.output, per_model, whole.cached, whole.created, whole.reasoning)


def add_usage(one: ModelUsage, other: ModelUsage) -> ModelUsage:
    return ModelUsage(
        one.model,
        one.input + other.input,
        one.output + other.output,
        sum_counts(one.cached, other.cached),
        sum_counts(one.created, other.created),
        sum_counts(one.reasoning, other.reasoning),
    )


def sum_counts(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
