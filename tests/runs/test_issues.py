from __future__ import annotations

import pytest

from apps.agent.events import Event, StageClosed, StageDelta, StageOpened
from apps.capabilities.registry import PreparedCapabilities
from apps.capabilities.rest.capability import rest
from apps.catalog.resolved_application import ResolvedApplication
from apps.errors import InitializationIssue
from apps.runs.capabilities import naming_toolset, open_capabilities, show_issues
from tests.capabilities.manifests import manifest, opening_for, tool, tool_set
from tests.contract import proves
from tests.tables import each_row


@proves("2.5")
def test_issues_are_shown_under_their_sections():
    events: list[Event] = []
    issues = [
        InitializationIssue("weather: no answer", details="refused\n\nat 10.0.0.1"),
        InitializationIssue("skills: not found", section="Skill loading", is_hard=False),
        InitializationIssue("search: no answer"),
    ]

    show_issues(issues, events.append)

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


@proves("2.5")
@pytest.mark.parametrize("is_hard", [True, False])
def test_one_hard_issue_makes_the_stage_failed(is_hard):
    events: list[Event] = []

    show_issues([InitializationIssue("a", is_hard=is_hard)], events.append)

    assert events[-1] == StageClosed("initialization-issues", 0.0, failed=is_hard)


@proves("2.5")
def test_without_issues_nothing_is_shown():
    events: list[Event] = []

    show_issues([], events.append)

    assert events == []


TOOLSETS = (
    {"type": "rest-api", "name": {"de": "Laden", "en": "Shop"}, "tools": []},
    {"type": "dial-deployment", "name": "Team", "tools": []},
    {"type": "internal", "name": "Inside", "tools": []},
    {"type": "mcp", "name": "Desk", "mcp_server_info": {"protocol": "stdio", "server": "time"}},
    {"type": "dial-mcp", "deployment_id": "toolsets/public/my%20desk/"},
    {"type": "dial-mcp", "deployment_id": "x", "name": "Core's"},
    {"type": "dial-app", "name": "Helper", "deployment_id": "applications/public/helper"},
    {"type": "predefined", "template_name": "weather"},
)
LABELS = ("Shop", "Team", "Inside", "Desk", "my desk", "Core's", "Helper", "weather")


@proves("2.5")
@each_row(("index", "label"), [*enumerate(LABELS)])
def test_an_issue_of_a_toolset_names_it(index, label):
    issue = InitializationIssue(
        f"tool_sets[{index}].tools[0]: refused.", section="S", details="why", is_hard=False
    )

    named = naming_toolset(issue, manifest(*TOOLSETS))

    assert named.message == f"Toolset {label}: tool_sets[{index}].tools[0]: refused."
    assert (named.section, named.details, named.is_hard) == ("S", "why", False)


@pytest.mark.parametrize("path", ["tool_sets[8]", "tool_sets[99999999999]", "hooks[0]", "mcp"])
def test_an_issue_of_no_toolset_is_left_as_it_is(path):
    issue = InitializationIssue(f"{path}: refused.")

    assert naming_toolset(issue, manifest(*TOOLSETS)) is issue


@proves("2.5", "G-04")
async def test_a_run_names_the_toolsets_whose_tools_it_goes_without():
    document = manifest(tool_set(tool("nowhere"), name="Shop"))
    prepared = PreparedCapabilities((("rest", rest.prepare(document)),), ())  # type: ignore[arg-type]
    application = ResolvedApplication(1, "app", "App", "", True, 1, document, prepared)

    async with open_capabilities(application, opening_for()) as opened:
        issues = [issue.message for issue in opened.contribution.issues]

    assert issues == [
        (
            "Toolset Shop: tool_sets[0].tools[0].rest_api_method_info.method_url: use a URL "
            "that begins with http://, https:// or /."
        )
    ]
