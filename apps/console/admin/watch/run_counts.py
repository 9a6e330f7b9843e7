"""Counts the calls, versions and sub-agents of a run for its admin page."""

from django.db.models import Count, Q, QuerySet

from apps.console.admin.cells import NOTHING, counted
from apps.insights.models import ModelCall
from apps.live.models import HelperRun
from apps.live.run_summary import RunSummary

DRAFT = "Draft"
"""The name of version 0 of a test message in the studio."""


def subagents_of(run: RunSummary) -> QuerySet[HelperRun]:
    return HelperRun.objects.filter(run=run.pk).order_by("started_at", "pk")


def versions_and_attempts(run: RunSummary) -> tuple[str, int]:
    """Return the versions of the application that made model calls in the run, and the number of
    attempts of model calls. Failed attempts count; calls for a title or a summary do not.
    """
    own = Q(seconds__isnull=False, purpose=None)
    calls = ModelCall.objects.filter(run=run.pk).order_by().values_list("application", "version")
    found = list(calls.annotate(attempts=Count("pk", filter=own)))
    versions = sorted({version for slug, version, _ in found if slug == run.application})
    names = (DRAFT if run.is_test and not one else str(one) for one in versions)
    return ", ".join(names) or NOTHING, sum(count for *_, count in found)


def subagent_line(subagent: HelperRun) -> str:
    """Describe a sub-agent in one line, such as `Researcher: done after 2.4 s, 3 model calls, 1
    tool call, 120 + 30 tokens`.
    """
    end = subagent.finished_at
    lasted = "" if end is None else f" after {(end - subagent.started_at).total_seconds():.1f} s"
    return (
        f"{subagent.agent or 'The application itself'}: {subagent.status}{lasted}, "
        f"{counted(subagent.model_calls, 'model call')}, "
        f"{counted(subagent.tool_calls, 'tool call')}, "
        f"{subagent.prompt_tokens:,} + {subagent.completion_tokens:,} tokens"
    )
