"""The stage that tells what could not be opened."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from apps.agent.events import Emit, StageClosed, StageDelta, StageOpened
from apps.errors import InitializationIssue

STAGE_ID = "initialization-issues"


def report(issues: Sequence[InitializationIssue], emit: Emit) -> None:
    """Show every issue under its section; the stage is failed if one of them is hard."""
    if not issues:
        return
    emit(StageOpened(STAGE_ID, "Initialization issues"))
    emit(StageDelta(STAGE_ID, render(issues)))
    emit(StageClosed(STAGE_ID, 0.0, failed=any(issue.is_hard for issue in issues)))


def render(issues: Sequence[InitializationIssue]) -> str:
    section = attrgetter("section")
    blocks = [
        f"#### {name}\n\n" + "\n".join(map(line, group))
        for name, group in groupby(sorted(issues, key=section), section)
    ]
    return "\n\n".join(blocks) + "\n"


def line(issue: InitializationIssue) -> str:
    details = "".join(f"\n  - {detail}" for detail in issue.details.splitlines() if detail.strip())
    return f"- {issue.message}{details}"
