"""Fits a run's conversation into the model's context window before each model call.

Only the request is cut; the conversation remains complete.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import msgspec

from apps.agent.context.cut import (
    FILE_NOTE,
    GOAL,
    NO_CUT,
    RESULT_NOTE,
    ContextCut,
    ConversationCut,
    Parts,
    RecordedFit,
    TokenBudget,
    apply_cut,
    cut_notice,
    emptied_calls,
    plan_cut,
    sizes_of,
    split_parts,
)
from apps.agent.context.durations import FOR_EVER, Durations, sent_within
from apps.agent.context.summaries import ContextSummaries, most_summary_tokens
from apps.agent.context.token_estimates import (
    MOST_CORRECTION,
    ContextUse,
    SentContext,
    TokenScale,
    most_tokens,
    text_tokens,
    use_of,
)
from apps.agent.events import Emit, ModelUsage, NoticeAdded
from apps.agent.ledger import NO_LEDGER, Ledger, Step
from apps.agent.messages import ModelMessage
from apps.agent.progress import Progress, Turn
from apps.agent.tools import ToolSpec
from apps.errors import ContextTooLong, ModelFailed

FITTED = "fitted"
"""The key of the step that stores the run's cut, that is, the parts that the run's requests omit.
"""

Strategy = Literal["summarise", "trim", "refuse"]
KeepResult = Callable[[str, str], Awaitable[str]]
"""A function that stores a tool's result in a file. It takes the tool's name and the text, and
returns the file's path, or "" if it stored nothing.
"""


class ContextWindow(msgspec.Struct, frozen=True):
    """A model's context window. Sizes are in tokens, or None if unknown."""

    size: int | None = None
    strategy: Strategy = "summarise"
    at: float = 0.8
    """The share of the window above which `strategy` shortens a conversation."""
    requested: int | None = None
    """The client's own limit for the request, or None."""

    @property
    def limit(self) -> int | None:
        """Return the maximum number of tokens in a request, or None if it is unknown."""
        limits = [size for size in (self.size, self.requested) if size is not None]
        return min(limits, default=None)

    @property
    def most(self) -> float:
        """Return the number of tokens above which a request is shortened."""
        limits = [] if self.size is None else [self.size * self.at]
        return min((*limits, *([] if self.requested is None else [float(self.requested)])))

    def check(self, total: float) -> None:
        """Raise `ContextTooLong` if a request of `total` tokens exceeds the limit."""
        limit = self.limit
        if limit is None:
            return
        most = self.most if self.strategy == "refuse" else limit
        if total > most:
            raise ContextTooLong(round(total), int(most), is_asked=limit == self.requested)


@dataclass(slots=True)
class ContextFitter:
    """Fits the requests of a run into the context window of the deployment `name`."""

    name: str
    window: ContextWindow = field(default_factory=ContextWindow)
    durations: Durations = FOR_EVER
    summaries: ContextSummaries = field(default_factory=ContextSummaries)
    keep_result: KeepResult | None = None
    """The function that stores omitted tool results in files that the model can read."""
    scale: TokenScale = field(default_factory=TokenScale)
    ledger: Ledger = NO_LEDGER
    cut: ContextCut = field(default_factory=ContextCut)
    sent: SentContext = field(default_factory=SentContext)

    def __post_init__(self) -> None:
        step = self.ledger.step(FITTED) if self.ledger.is_kept else None
        if step is not None:
            recorded = msgspec.convert(step.result, RecordedFit)
            self.cut = ContextCut(recorded.cut, recorded.cut, recorded.ceiling, has_looked=True)

    async def fit(
        self, turn: Turn, specs: Iterable[ToolSpec], static: Sequence[Mapping[str, Any]]
    ) -> Sequence[ModelMessage]:
        """Return the messages for the next request. Raises `ContextTooLong` if they cannot be
        shortened enough.
        """
        progress = turn.progress
        self.take_report(progress)
        tools = sum(spec.tokens for spec in specs) + sum(text_tokens(str(one)) for one in static)
        messages = self.within_durations(turn.conversation)
        fitted, usage = await self.fitted(messages, tools)
        progress.usage += usage
        if self.cut.now != self.cut.announced and not self.cut.has_notified:
            self.notify(turn.emit)
        self.sent = SentContext(fitted, tools, len(turn.conversation), len(progress.usage))
        return fitted

    def within_durations(self, messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
        """Return the messages without expired tool results."""
        return messages if self.durations == FOR_EVER else sent_within(messages, self.durations)

    @property
    def use(self) -> ContextUse:
        """Return the estimated number of tokens in the newest request, by purpose."""
        return use_of(self.sent.messages, self.scale.estimator, self.sent.tools)

    def take_report(self, progress: Progress) -> None:
        """Record the number of input tokens that the service reported for the newest request."""
        if (reported := self.reported(progress)) is not None:
            self.scale.counted = reported.input, self.sent

    def counted_after(self, progress: Progress) -> int | None:
        """Return the number of tokens that the service reported for the newest request and its
        answer, or None if it reported none.
        """
        reported = self.reported(progress)
        return reported.input + reported.output if reported is not None and reported.input else None

    def reported(self, progress: Progress) -> ModelUsage | None:
        """Return the usage that the service reported for the newest request, or None."""
        found = progress.usage[self.sent.spent :][:1] if self.sent.messages else ()
        return found[0] if found and found[0].model == self.name else None

    @property
    def budget(self) -> TokenBudget | None:
        """Return the limits for the next request, or None if no limit is known."""
        limit, ceiling = self.window.limit, self.cut.ceiling
        if limit is None:
            return None if ceiling is None else TokenBudget(ceiling, ceiling, ceiling)
        self.scale.learn()
        correction = self.scale.correction
        most, limit_now = self.window.most / correction, limit / correction
        if ceiling is not None:
            most, limit_now = min(most, ceiling), min(limit_now, ceiling)
        return TokenBudget(most, min(GOAL * most, most), limit_now)

    async def fitted(
        self, messages: Sequence[ModelMessage], tools: int
    ) -> tuple[Sequence[ModelMessage], Sequence[ModelUsage]]:
        """Return the messages to send, and the usage of the call that wrote a new summary, if any.
        Raises `ContextTooLong`.
        """
        has_no_cut = self.cut.now == NO_CUT
        if has_no_cut and self.cut.ceiling is None and self.surely_fits(messages, tools):
            return messages, ()
        budget = self.budget
        if budget is None:
            return messages, ()
        if has_no_cut and tools + self.scale.estimator.total(messages) <= budget.most:
            return messages, ()
        parts = split_parts(messages)
        await self.begin(parts)
        sent = apply_cut(parts, self.cut.now)
        usage: Sequence[ModelUsage] = ()
        if tools + self.scale.estimator.total(sent) > budget.most:
            cut = self.plan(parts, tools, budget)
            cut, usage = await self.with_summary(parts, cut)
            cut = self.with_emptied_calls(parts, cut, tools, budget)
            self.keep(await self.with_files(parts, cut))
            sent = apply_cut(parts, self.cut.now)
            self.window.check(self.scale.correction * (tools + self.scale.estimator.total(sent)))
        return sent, usage

    def surely_fits(self, messages: Sequence[ModelMessage], tools: int) -> bool:
        """Return True if even an upper bound on the size fits. This avoids an exact estimate for
        most requests.
        """
        return self.window.limit is None or (
            MOST_CORRECTION * (tools + sum(map(most_tokens, messages))) <= self.window.most
        )

    async def begin(self, parts: Parts) -> None:
        """Restore the cut that belongs to the stored summary, if there is one."""
        if self.cut.has_looked:
            return
        self.cut.has_looked = True
        stored = self.summaries.stored
        found = None if stored is None or not self.writes else await stored.find()
        if found is not None and 0 < found.turns < len(parts.turns):
            self.cut.now = self.cut.announced = ConversationCut(
                found.turns, found.turns, summary=found.text
            )

    @property
    def writes(self) -> bool:
        """Return True if summaries replace omitted turns."""
        return self.window.strategy == "summarise" and self.summaries.writer is not None

    def plan(self, parts: Parts, tools: int, budget: TokenBudget) -> ConversationCut:
        fixed = tools + self.scale.estimator.total(parts.fixed)
        if self.writes:
            fixed += most_summary_tokens(budget.limit)
        may_leave_out = self.window.strategy != "refuse"
        sizes = sizes_of(parts, self.scale.estimator)
        return plan_cut(sizes, fixed, budget, self.cut.now, may_leave_out=may_leave_out)

    def with_emptied_calls(
        self, parts: Parts, cut: ConversationCut, tools: int, budget: TokenBudget
    ) -> ConversationCut:
        if tools + self.scale.estimator.total(apply_cut(parts, cut)) <= budget.most:
            return cut
        total = tools + self.scale.estimator.total(apply_cut(parts, replace(cut, calls={})))
        gone = emptied_calls(parts.turns[-1], total, budget, self.scale.estimator)
        return replace(cut, calls={id: cut.calls.get(id, RESULT_NOTE) for id in gone})

    async def with_files(self, parts: Parts, cut: ConversationCut) -> ConversationCut:
        """Write the omitted results to files, and return the cut with notes that contain the files'
        paths.
        """
        new = cut.calls.keys() - self.cut.now.calls.keys()
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

    async def with_summary(
        self, parts: Parts, cut: ConversationCut
    ) -> tuple[ConversationCut, tuple[ModelUsage, ...]]:
        """Return the cut with a summary of the turns that it omits, and the usage of the model call
        that wrote the summary. If the model returns no summary, return the cut unchanged.
        """
        before = self.cut.now
        if not self.writes or cut.left_out <= before.left_out:
            return cut, ()
        window = (self.budget or TokenBudget(0, 0, 0)).limit
        messages = [m for turn in parts.turns[before.left_out : cut.left_out] for m in turn]
        text, usage = await self.summaries.write(before.summary, messages, cut.left_out, window)
        return replace(cut, summary=text) if text else cut, usage

    def keep(self, cut: ConversationCut) -> None:
        self.cut.now = cut
        if self.ledger.is_kept:
            result: dict[str, Any] = msgspec.to_builtins(RecordedFit(cut, self.cut.ceiling))
            self.ledger.record(Step(FITTED, "recovery", "done", result=result))

    def notify(self, emit: Emit) -> None:
        self.cut.has_notified = True
        text = cut_notice(self.cut.now, self.cut.announced, has_written=self.summaries.has_written)
        emit(NoticeAdded("context", text))

    async def recover(
        self, failure: ModelFailed, messages: Sequence[ModelMessage]
    ) -> Sequence[ModelMessage] | None:
        """If the service rejected the conversation as too long, lower the limit, and return the
        messages for another attempt. Return None if another attempt cannot help.
        """
        if not failure.is_too_long or self.window.strategy == "refuse":
            return None
        self.cut.ceiling = GOAL * self.use.total
        budget = self.budget
        parts = split_parts(self.within_durations(messages))
        if budget is None or not parts.turns:
            return None
        await self.begin(parts)
        plan = self.plan(parts, self.sent.tools, budget)
        cut = self.with_emptied_calls(parts, plan, self.sent.tools, budget)
        if cut == self.cut.now:
            return None
        self.keep(self.cut.now)  # below the new ceiling
        return messages

    async def look_ahead(self, progress: Progress) -> bool:
        """Write the summary that the request with the next question will need. Return False if no
        summary is needed or the model returned none.
        """
        self.take_report(progress)
        self.sent = replace(self.sent, spent=len(progress.usage))
        budget = self.budget
        if budget is None or self.summaries.stored is None or not self.writes:
            return False
        tools, conversation = self.sent.tools, progress.conversation.messages
        parts = split_parts(self.within_durations(conversation))
        if tools + self.scale.estimator.total(apply_cut(parts, self.cut.now)) <= budget.most:
            return False
        await self.begin(parts)
        before = self.cut.now
        self.cut.now, _ = await self.with_summary(parts, self.plan(parts, tools, budget))
        sent = apply_cut(parts, self.cut.now)
        self.sent = replace(self.sent, messages=sent, seen=len(conversation))
        return self.cut.now.summary != before.summary

    def use_after(self, progress: Progress) -> ContextUse:
        """Return the estimated number of tokens in the next request, by purpose, without the user's
        question. The estimate is corrected by the token count that the service reported for the
        newest request.
        """
        self.take_report(progress)
        self.scale.learn()
        added = use_of(progress.conversation.messages[self.sent.seen :], self.scale.estimator)
        return (self.use + added).corrected(self.scale.correction)
