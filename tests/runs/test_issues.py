from __future__ import annotations

import pytest

from apps.agent.events import Event, StageClosed, StageDelta, StageOpened
from apps.errors import InitializationIssue
from apps.runs.issues import report


def test_issues_are_shown_under_their_sections():
    events: list[Event] = []
    issues = [
        InitializationIssue("weather: no answer", details="refused\n\nat 10.0.0.1"),
        InitializationIssue("skills: not found", section="Skill loading", is_hard=False),
        InitializationIssue("search: no answer"),
    ]

    report(issues, events.append)

    assert events == [
        StageOpened("initialization-issues", "Initialization issues"),
        StageDelta(
            "initialization-issues",
            "#### Skill loading\n\n"
            "- skills: not found\n\n"
            "#### Tool initialization\n\n"
            "- weather: no answer\n  - refused\n  - at 10.0.0.1\n"
            "- search: no answer\n",
        ),
        StageClosed("initialization-issues", 0.0, failed=True),
    ]


@pytest.mark.parametrize("is_hard", [True, False])
def test_one_hard_issue_makes_the_stage_failed(is_hard):
    events: list[Event] = []

    report([InitializationIssue("a", is_hard=is_hard)], events.append)

    assert events[-1] == StageClosed("initialization-issues", 0.0, failed=is_hard)


def test_without_issues_nothing_is_shown():
    events: list[Event] = []

    report([], events.append)

    assert events == []
