"""How the page of a run begins: what was asked and answered, and which call failed."""

from dataclasses import dataclass
from uuid import UUID

import msgspec

from apps.agent.step_results import read_reply
from apps.capabilities.wrappers.texts import shortened
from apps.cases.from_runs import kept_messages
from apps.console.admin.waterfall import TimeSpan, span_of
from apps.insights.models import ModelCall, ToolUse
from apps.insights.sums import FAILED
from apps.live.models import RunStep
from apps.live.run_summary import RunSummary

SHOWN_CHARACTERS = 20_000
"""The limit for the question, and for the answer."""


@dataclass(frozen=True, slots=True)
class SaidInRun:
    """The question of a run with the names of its files, and the answer; "" for what is not stored."""

    question: str = ""
    files: tuple[str, ...] = ()
    answer: str = ""


def said_in(run: UUID) -> SaidInRun:
    """Whoever calls it has to check the permission, and to record the reading."""
    questions = [message for message in kept_messages(run) if message.role == "user"]
    answer = shortened(answer_of(run), SHOWN_CHARACTERS)
    if not questions:
        return SaidInRun(answer=answer)
    last = questions[-1]
    files = tuple(one.title or one.type for one in last.attachments)
    return SaidInRun(shortened(last.text.strip(), SHOWN_CHARACTERS), files, answer)


def answer_of(run: UUID) -> str:
    """The text of the last answer of the run's model; "" if that called tools, or is not stored."""
    steps = RunStep.objects.filter(run=run, kind="model", status="done").exclude(key__contains="/")
    step = steps.order_by("-pk").first()
    if step is None:
        return ""
    try:
        message = read_reply(step.result).reply.message
    except msgspec.ValidationError:
        return ""
    return "" if message.tool_calls else message.text.strip()


def failed_call(run: RunSummary) -> TimeSpan | None:
    """The last call of a failed run that failed; None for a run that did not fail, or without one."""
    if run.status != RunSummary.Status.FAILED:
        return None
    calls: list[ModelCall | ToolUse | None] = [
        ModelCall.objects.filter(FAILED, run=run.pk).order_by("started_at", "pk").last(),
        ToolUse.objects.filter(has_failed=True, run=run.pk).order_by("started_at", "pk").last(),
    ]
    found = [span_of(one, is_inside=one.application != run.application) for one in calls if one]
    return max(found, key=lambda span: span.end, default=None)
