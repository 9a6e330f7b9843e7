"""Reads the data at the top of a run's page: the question, the answer, and the failed call."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from apps.agent.steps.results import read_reply
from apps.agent.tool_titles import tool_title
from apps.capabilities.wrappers.value_texts import shorten_text
from apps.cases.from_runs import opening_messages, turns_of
from apps.console.admin.callers import deployment_titles
from apps.console.admin.watch.error_kinds import FIXES, error_words, with_attempts
from apps.console.admin.watch.waterfall import SpanKind
from apps.insights.models import ModelCall, ToolUse
from apps.insights.sums import FAILED
from apps.live.models import RunStep
from apps.live.run_summary import RunSummary

SHOWN_CHARACTERS = 20_000
"""The page shows at most this many characters of the question and of the answer."""


@dataclass(frozen=True, slots=True)
class RunTranscript:
    """The user's last question in a run, and the answer. A text is "" if it is not stored."""

    question: str = ""
    files: tuple[str, ...] = ()
    """The names of the files that the user attached to the question."""
    answer: str = ""
    has_turns: bool = False
    """True if the stored messages suffice for a replay or a test case."""


def read_transcript(run: UUID) -> RunTranscript:
    """Read the question and the answer of a run. The caller must check the permission and record
    the access in the audit log.
    """
    messages = opening_messages(run)
    questions = [message for message in messages if message.role == "user"]
    answer = shorten_text(answer_of(run), SHOWN_CHARACTERS)
    if not questions:
        return RunTranscript(answer=answer)
    last = questions[-1]
    files = tuple(one.title or one.type for one in last.attachments)
    question = shorten_text(last.text.strip(), SHOWN_CHARACTERS)
    return RunTranscript(question, files, answer, has_turns=bool(turns_of(messages)))


def answer_of(run: UUID) -> str:
    """Return the text of the model's last reply, or "" if it is not stored or has tool calls."""
    steps = RunStep.objects.filter(run=run, kind="model", status="done").exclude(key__contains="/")
    step = steps.order_by("-pk").first()
    if step is None:
        return ""
    try:
        message = read_reply(step.result).reply.message
    except msgspec.ValidationError:
        return ""
    return "" if message.tool_calls else message.text.strip()


@dataclass(frozen=True, slots=True)
class FailedStep:
    """The call with which a run failed."""

    kind: SpanKind
    name: str
    hint: str
    """The name of the deployment or tool, if it differs from the title in `name`."""
    error: str
    """The error in words, with the number of attempts. "" for a tool, whose errors are not stored.
    """
    text: str
    """The service's message, or else what an operator can do."""


def failed_step(run: RunSummary) -> FailedStep | None:
    """Return the last failed tool call, or in a failed run the last failed model or tool call.
    Return None if there is none.
    """
    use = ToolUse.objects.filter(has_failed=True, run=run.pk).order_by("started_at", "pk").last()
    failed = ModelCall.objects.filter(FAILED, run=run.pk)
    has_failed = run.status == RunSummary.Status.FAILED
    call = failed.order_by("started_at", "pk").last() if has_failed else None
    if call is not None and (use is None or ended_at(call) >= ended_at(use)):
        title = deployment_titles([call.deployment]).get(call.deployment, call.deployment)
        same = failed.filter(deployment=call.deployment, error=call.error)
        return FailedStep(
            "model",
            title,
            call.deployment if call.deployment != title else "",
            with_attempts(error_words(call.error), same.count()),
            call.said or FIXES.get(call.error, ""),
        )
    if use is None:
        return None
    title = tool_title(use.tool)
    place = "on the client" if use.location == "client" else ""
    return FailedStep("tool", title, use.tool if use.tool != title else "", place, "")


def ended_at(call: ModelCall | ToolUse) -> datetime:
    return call.started_at + timedelta(seconds=call.seconds or 0)
