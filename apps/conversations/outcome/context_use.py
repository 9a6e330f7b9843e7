"""Stores and reports how much of the model's context window a conversation uses."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet

from apps.agent.context.token_estimates import ContextUse, Estimator, use_of
from apps.agent.progress import Progress
from apps.conversations.branches import OutlineRow, shown_path
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.figures import sum_of
from apps.conversations.outcome.summaries import newest_summary
from apps.conversations.spoken import SpokenRow, spoken_text
from apps.live.models import Run
from apps.runs.history import expand

WARNING = 0.8
DANGER = 0.95
RECENT = 20
"""The last stored context use is searched for in this many of the newest messages."""
CONTEXT = "context"
"""The key for the context use in `Message.usage`."""


def context_to_dict(progress: Progress) -> dict[str, Any]:
    """Return the estimated context use of the conversation's next request as JSON, or {} if it is
    unknown.
    """
    fitter = progress.fitter
    if fitter is None:
        return {}
    use = fitter.use_after(progress)
    written = {**asdict(use), "limit": fitter.window.size, "correction": fitter.scale.correction}
    return {CONTEXT: written}


def update_context(run: Run, progress: Progress) -> None:
    """Update the context use stored in the run's answer, after a summary has been written."""
    answer = Message.objects.filter(run=run, role=Message.Role.ASSISTANT).first()
    if answer is not None:
        answer.usage |= context_to_dict(progress)
        answer.save(update_fields=["usage"])


def newest_context(messages: Sequence[Message]) -> dict[str, Any]:
    """Return the context use that is stored in the newest of these messages, or {} if none contains
    it.
    """
    known = (message.usage.get(CONTEXT) for message in reversed(messages))
    return next(filter(None, known), {})


def newest_correction(messages: Sequence[Message]) -> float:
    return float(newest_context(messages).get("correction", 1.0))


def context_usage(conversation: Conversation) -> dict[str, Any]:
    """Return the conversation's context use as JSON for the page: the tokens by purpose, their
    total and limit, the newest summary, and the usage of all answers.
    """
    shown = shown_path(conversation)
    said = conversation.messages.filter(pk__in=[row.pk for row in shown[-RECENT:]])
    known = newest_context(list(said))
    limit = known.get("limit")
    parts = (
        {name: known[name] for name in asdict(ContextUse())}
        if known
        else estimate_use(conversation, shown)
    )
    total = sum(parts.values())
    ratio = round(total / limit, 4) if limit else None
    summary = newest_summary(conversation.pk, shown)
    answers = conversation.messages.filter(role=Message.Role.ASSISTANT)
    return {
        **parts,
        "total": total,
        "limit": limit,
        "ratio": ratio,
        "state": state_of(ratio),
        "summary": None if summary is None else summary_to_dict(summary),
        "sum": sum_of(usage for [usage] in only(shown, answers, "usage")),
    }


def estimate_use(conversation: Conversation, shown: Sequence[OutlineRow]) -> dict[str, int]:
    """Return the estimated token counts of the messages by purpose. The prompt and the tools are
    not included.
    """
    rows = only(shown, conversation.messages.without_summaries(), *SpokenRow._fields)
    said = expand(spoken_text(SpokenRow(*row)) for row in rows)
    return asdict(use_of(said, Estimator()))


def only(
    shown: Sequence[OutlineRow], messages: QuerySet[Message], *fields: str
) -> Iterator[Sequence[Any]]:
    """Yield the values of `fields` for each message in `messages` that is also in `shown`."""
    wanted = {row.pk for row in shown}
    # Reading all rows is faster than a filter with thousands of keys, which some databases do not
    # support.
    for key, *found in messages.values_list("pk", *fields):
        if key in wanted:
            yield found


def state_of(ratio: float | None) -> str:
    if ratio is None:
        return "unknown"
    if ratio > DANGER:
        return "danger"
    return "warning" if ratio > WARNING else "ok"


def summary_to_dict(summary: Message) -> dict[str, Any]:
    """Return the summary as JSON for the page. `after` is the ID of the run that wrote the last
    summarized answer.
    """
    last = summary.parent
    run = None if last is None or last.run_id is None else str(last.run_id)
    return {"text": summary.text, "after": run, "created_at": summary.created_at.isoformat()}
