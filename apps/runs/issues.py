"""The stage that tells what could not be opened."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from apps.agent.events import Emit, StageClosed, StageDelta, StageOpened
from apps.errors import InitializationIssue
from apps.manifest.manifest import Manifest
from apps.manifest.toolsets import label_of

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


_place = re.compile(r"tool_sets\[(\d{1,9})\]")


def naming_toolset(issue: InitializationIssue, manifest: Manifest) -> InitializationIssue:
    """The issue with the name of the toolset in whose place of the manifest it begins."""
    place = _place.match(issue.message)
    toolsets = manifest.tool_sets[int(place[1]) :][:1] if place else ()
    label = "".join(map(label_of, toolsets))
    if not label:
        return issue
    return InitializationIssue(
        f"Toolset {label}: {issue.message}",
        section=issue.section,
        details=issue.details,
        is_hard=issue.is_hard,
    )
