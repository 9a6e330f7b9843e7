"""Fits the conversation of a run into the window of its model, before each call of the model.

What is stored and shown stays whole: a cut is a matter of what is sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from apps.agent.context_cut import (
    FILE_NOTE,
    GOAL,
    NO_CUT,
    RESULT_NOTE,
    Budget,
    Cut,
    Parts,
    RecordedFit,
    applied,
    emptied_calls,
    notice_of,
    parts_of,
    planned,
    sizes_of,
)
from apps.agent.context_window import Window
from apps.agent.durations import FOR_EVER, Durations, sent_within
from apps.agent.estimate import (
    MOST_CORRECTION,
    ContextUse,
    Estimator,
    correction_of,
    most_tokens,
    text_tokens,
    use_of,
)
from apps.agent.events import Emit, ModelUsage, Noticed
from apps.agent.ledger import NO_LEDGER, Ledger, Step
from apps.agent.messages import Message
from apps.agent.summaries import Summaries, Summary, SummaryWriter, most_summary_tokens
from apps.agent.tools import ToolSpec
from apps.errors import ContextTooLong, ModelFailed

if TYPE_CHECKING:
    from apps.agent.progress import Progress, Turn

FITTED = "fitted"
"""The key of the step with what the newest request of a run leaves out."""

KeepResult = Callable[[str, str], Awaitable[str]]
"""Keeps the text of a tool, of which it takes the name, as a file; its path, "" for none."""


@dataclass(slots=True)
class ContextFitter:
    """For one run of the deployment `name`.

    Without a `writer` there are no summaries; without `summaries` they are for this run alone.
    `keep_result` puts results of this run into files, where the model can read them.
    `correction` is how much the service counts for each estimated token.
    """

    name: str
    window: Window = field(default_factory=Window)
    durations: Durations = FOR_EVER
    writer: SummaryWriter | None = None
    keep_result: KeepResult | None = None
    summaries: Summaries | None = None
    correction: float = 1.0
    ledger: Ledger = NO_LEDGER
    estimator: Estimator = field(default_factory=Estimator)
    cut: Cut = NO_CUT
    known: Cut = NO_CUT
    """The cut that the person knows of: a summary stands in the conversation."""
    ceiling: float | None = None
    """Estimated tokens that were too many for the service."""
    sent: Sequence[Message] = ()
    tools: int = 0
    """Of the newest request: its messages, and the estimate of its tools."""
    counted: tuple[int, Sequence[Message], int] | None = None
    """What the service counted, and for which `sent` and `tools`; None once that is compared."""
    seen: int = 0
    """How many messages the conversation of the newest request had."""
    spent: int = 0
    """How many usages the run had before the newest request."""
    has_looked: bool = False
    has_written: bool = False
    has_told: bool = False

    def __post_init__(self) -> None:
        step = self.ledger.step(FITTED)
        if step is not None:
            recorded = msgspec.convert(step.result, RecordedFit)
            self.cut = self.known = recorded.cut
            self.ceiling, self.has_looked = recorded.ceiling, True

    async def fit(
        self, turn: Turn, specs: Iterable[ToolSpec], static: Sequence[Mapping[str, Any]]
    ) -> Sequence[Message]:
        """The messages of the next request. Raises `ContextTooLong`."""
        progress = turn.progress
        self.take_report(progress)
        tools = sum(spec.tokens for spec in specs) + sum(text_tokens(str(one)) for one in static)
        messages = sent_within(turn.conversation, self.durations)
        fitted, usage = await self.fitted(messages, tools)
        progress.usage += usage
        if self.cut != self.known and not self.has_told:
            self.tell(turn.emit)
        self.sent, self.tools = fitted, tools
        self.seen, self.spent = len(turn.conversation), len(progress.usage)
        return fitted

    @property
    def use(self) -> ContextUse:
        """Of the newest request, as estimated."""
        return use_of(self.sent, self.estimator, self.tools)

    def take_report(self, progress: Progress) -> None:
        """Note what the service counted for the newest request."""
        reported = progress.usage[self.spent :][:1] if self.sent else ()
        if reported and reported[0].model == self.name:
            self.counted = reported[0].input, self.sent, self.tools

    def counted_after(self, progress: Progress) -> int | None:
        """Return the tokens of the newest request and its answer, None if the service counted none."""
        reported = progress.usage[self.spent :][:1] if self.sent else ()
        if not reported or reported[0].model != self.name or not reported[0].input:
            return None
        return reported[0].input + reported[0].output

    def learn(self) -> None:
        """Compare what was counted with the estimate, for which each message has to be read."""
        if self.counted is not None:
            (reported, sent, tools), self.counted = self.counted, None
            if estimated := use_of(sent, self.estimator, tools).total:
                self.correction = correction_of(reported, estimated)

    @property
    def budget(self) -> Budget | None:
        """None where it is not known how much the model reads."""
        limit, ceiling = self.window.limit, self.ceiling
        if limit is None:
            return None if ceiling is None else Budget(ceiling, ceiling, ceiling)
        self.learn()
        most, limit_now = self.window.most / self.correction, limit / self.correction
        if ceiling is not None:
            most, limit_now = min(most, ceiling), min(limit_now, ceiling)
        return Budget(most, min(GOAL * most, most), limit_now)

    async def fitted(
        self, messages: Sequence[Message], tools: int
    ) -> tuple[Sequence[Message], Sequence[ModelUsage]]:
        """The messages to send, and what a summary has cost. Raises `ContextTooLong`."""
        has_no_cut = self.cut == NO_CUT
        if has_no_cut and self.ceiling is None and self.has_room(messages, tools):
            return messages, ()
        budget = self.budget
        if budget is None:
            return messages, ()
        if has_no_cut and tools + self.estimator.total(messages) <= budget.most:
            return messages, ()
        parts = parts_of(messages)
        await self.begin(parts)
        sent = applied(parts, self.cut)
        usage: Sequence[ModelUsage] = ()
        if tools + self.estimator.total(sent) > budget.most:
            cut = self.plan(parts, tools, budget)
            cut, usage = await self.with_summary(parts, cut)
            cut = self.with_emptied_calls(parts, cut, tools, budget)
            self.keep(await self.with_files(parts, cut))
            sent = applied(parts, self.cut)
            self.check(tools + self.estimator.total(sent))
        return sent, usage

    def has_room(self, messages: Sequence[Message], tools: int) -> bool:
        """Whether they fit, whatever an estimate says; it is not made for most requests."""
        return self.window.limit is None or (
            MOST_CORRECTION * (tools + sum(map(most_tokens, messages))) <= self.window.most
        )

    async def begin(self, parts: Parts) -> None:
        """Go on from the stored summary, if there is one."""
        if self.has_looked:
            return
        self.has_looked = True
        found = None if self.summaries is None or not self.writes else await self.summaries.find()
        if found is not None and 0 < found.turns < len(parts.turns):
            self.cut = self.known = Cut(found.turns, found.turns, summary=found.text)

    @property
    def writes(self) -> bool:
        """Whether turns that are left out are summarised."""
        return self.window.strategy == "summarise" and self.writer is not None

    def plan(self, parts: Parts, tools: int, budget: Budget) -> Cut:
        fixed = tools + self.estimator.total(parts.fixed)
        if self.writes:
            fixed += most_summary_tokens(budget.limit)
        may_leave_out = self.window.strategy != "refuse"
        sizes = sizes_of(parts, self.estimator)
        return planned(sizes, fixed, budget, self.cut, may_leave_out=may_leave_out)

    def with_emptied_calls(self, parts: Parts, cut: Cut, tools: int, budget: Budget) -> Cut:
        if tools + self.estimator.total(applied(parts, cut)) <= budget.most:
            return cut
        total = tools + self.estimator.total(applied(parts, replace(cut, calls={})))
        gone = emptied_calls(parts.turns[-1], total, budget, self.estimator)
        return replace(cut, calls={id: cut.calls.get(id, RESULT_NOTE) for id in gone})

    async def with_files(self, parts: Parts, cut: Cut) -> Cut:
        """The cut, whose notes name files that now have the results."""
        new = cut.calls.keys() - self.cut.calls.keys()
        if self.keep_result is None or not new:
            return cut
        turn = parts.turns[-1]
        names = {call.id: call.name for message in turn for call in message.tool_calls}
        notes = dict(cut.calls)
        for message in turn:
            if (call_id := message.tool_call_id) in new and call_id is not None:
                path = await self.keep_result(names[call_id], message.text)
                notes[call_id] = FILE_NOTE.format(path=path) if path else RESULT_NOTE
        return replace(cut, calls=notes)

    async def with_summary(self, parts: Parts, cut: Cut) -> tuple[Cut, tuple[ModelUsage, ...]]:
        """The cut with a summary of what it leaves out, and what that has cost.

        Without one if the model fails to write it.
        """
        if self.writer is None or not self.writes or cut.left_out <= self.cut.left_out:
            return cut, ()
        window = (self.budget or Budget(0, 0, 0)).limit
        messages = [m for turn in parts.turns[self.cut.left_out : cut.left_out] for m in turn]
        text, usage = await self.writer.write(self.cut.summary, messages, window)
        if not text:
            return cut, usage
        self.has_written = True
        if self.summaries is not None:
            await self.summaries.keep(Summary(text, cut.left_out))
        return replace(cut, summary=text), usage

    def keep(self, cut: Cut) -> None:
        self.cut = cut
        if self.ledger.is_kept:
            result: dict[str, Any] = msgspec.to_builtins(RecordedFit(cut, self.ceiling))
            self.ledger.record(Step(FITTED, "recovery", "done", result=result))

    def check(self, total: int) -> None:
        """Raises `ContextTooLong`."""
        limit = self.window.limit
        if limit is None:
            return
        most = self.window.most if self.window.strategy == "refuse" else limit
        if total * self.correction > most:
            is_asked = limit == self.window.asked
            raise ContextTooLong(round(total * self.correction), int(most), is_asked=is_asked)

    def tell(self, emit: Emit) -> None:
        self.has_told = True
        emit(Noticed("context", notice_of(self.cut, self.known, has_written=self.has_written)))

    async def recover(
        self, failure: ModelFailed, messages: Sequence[Message]
    ) -> Sequence[Message] | None:
        """A recovery: the same conversation, of which less will be sent, if it was too long."""
        if not failure.is_too_long or self.window.strategy == "refuse":
            return None
        self.ceiling = GOAL * self.use.total
        budget = self.budget
        parts = parts_of(sent_within(messages, self.durations))
        if budget is None or not parts.turns:
            return None
        await self.begin(parts)
        plan = self.plan(parts, self.tools, budget)
        cut = self.with_emptied_calls(parts, plan, self.tools, budget)
        if cut == self.cut:
            return None
        self.keep(self.cut)  # with the ceiling
        return messages

    async def look_ahead(self, progress: Progress) -> bool:
        """Write the summary that the next question would have to wait for; whether there is one."""
        self.take_report(progress)
        self.spent = len(progress.usage)
        budget = self.budget
        if budget is None or self.summaries is None or not self.writes:
            return False
        tools, conversation = self.tools, progress.conversation
        parts = parts_of(sent_within(conversation, self.durations))
        if tools + self.estimator.total(applied(parts, self.cut)) <= budget.most:
            return False
        await self.begin(parts)
        before = self.cut
        self.cut, _ = await self.with_summary(parts, self.plan(parts, tools, budget))
        self.sent = applied(parts, self.cut)
        self.seen = len(conversation)
        return self.cut.summary != before.summary

    def use_after(self, progress: Progress) -> ContextUse:
        """What a next request would have, beside its question; corrected."""
        self.take_report(progress)
        self.learn()
        added = use_of(progress.conversation[self.seen :], self.estimator)
        return (self.use + added).corrected(self.correction)
