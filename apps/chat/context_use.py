"""How full the window of the model is: kept with each answer, and told to the page."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet

from apps.agent.estimate import ContextUse, Estimator, use_of
from apps.agent.progress import Progress
from apps.chat.branches import OutlineRow, shown_path
from apps.chat.figures import sum_of
from apps.chat.models import Conversation, Message
from apps.chat.spoken import SpokenRow, spoken
from apps.chat.summaries import newest_summary
from apps.live.models import Run
from apps.runs.history import expand

WARNING = 0.8
DANGER = 0.95
RECENT = 20
"""Messages of which one has the context, unless none has."""
CONTEXT = "context"
"""The key in the usage of an answer."""


def context_to_dict(progress: Progress) -> dict[str, Any]:
    """What a next request would have; {} for a run whose model is not known."""
    fitter = progress.fitter
    if fitter is None:
        return {}
    use = fitter.use_after(progress)
    written = {**asdict(use), "limit": fitter.window.size, "correction": fitter.correction}
    return {CONTEXT: written}


def update_context(run: Run, progress: Progress) -> None:
    """Note what a next request would have now that the beginning is summarised."""
    answer = Message.objects.filter(run=run, role=Message.Role.ASSISTANT).first()
    if answer is not None:
        answer.usage |= context_to_dict(progress)
        answer.save(update_fields=["usage"])


def newest_context(messages: Sequence[Message]) -> dict[str, Any]:
    """That of the newest answer that has one, {} for none."""
    known = (message.usage.get(CONTEXT) for message in reversed(messages))
    return next(filter(None, known), {})


def newest_correction(messages: Sequence[Message]) -> float:
    return float(newest_context(messages).get("correction", 1.0))


def usage_of(conversation: Conversation) -> dict[str, Any]:
    """Tokens by what they are for, in all, and of the window; the newest summary; the sum of all answers."""
    shown = shown_path(conversation)
    said = conversation.messages.filter(pk__in=[row.pk for row in shown[-RECENT:]])
    known = newest_context(list(said))
    limit = known.get("limit")
    parts = (
        {name: known[name] for name in asdict(ContextUse())}
        if known
        else estimated(conversation, shown)
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


def estimated(conversation: Conversation, shown: Sequence[OutlineRow]) -> dict[str, int]:
    """For a conversation whose answers tell nothing: without the prompt and the tools."""
    rows = only(shown, conversation.messages.said(), *SpokenRow._fields)
    said = expand(spoken(SpokenRow(*row)) for row in rows)
    return asdict(use_of(said, Estimator()))


def only(
    shown: Sequence[OutlineRow], messages: QuerySet[Message], *fields: str
) -> Iterator[Sequence[Any]]:
    """The fields of those messages that are shown."""
    wanted = {row.pk for row in shown}
    # A database takes a list of thousands of keys more slowly than it gives all rows, if it takes it.
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
    """`after` is the message behind which it stands: the page knows answers by their runs."""
    last = summary.parent
    run = None if last is None or last.run_id is None else str(last.run_id)
    return {"text": summary.text, "after": run, "created_at": summary.created_at.isoformat()}
