"""Opening a toolset of deployments: the tools for the model, and the issues."""

from dataclasses import replace

import pytest

from apps.agent.stages import silent
from apps.agent.tools import ToolSpec
from apps.capabilities.deployment.capability import deployment
from apps.capabilities.registry import Opening
from apps.errors import CallsItself, InitializationIssue
from apps.workspace.port import DeploymentInfo
from tests.capabilities.deployment.scripts import (
    CALLER,
    ECHO,
    Workspace,
    echo,
    one_tool,
    opened,
    simple,
    team,
    written,
)
from tests.capabilities.manifests import manifest
from tests.contract import proves
from tests.fakes import ScriptedModel

TEXT = {"type": "string"}


@proves("6.1", "7")
async def test_a_written_tool_is_told_as_it_is_written_and_can_be_asked():
    workspace, _ = echo()
    item = written(properties={"tone": {"type": "string", "description": "How"}}, required=["tone"])

    async with one_tool(workspace, item) as tool:
        assert tool.spec == ToolSpec(
            "repeat",
            "Repeats.",
            {
                "type": "object",
                "properties": {
                    "tone": {"type": "string", "description": "How"},
                    "query": {"type": "string", "description": "The query for the tool"},
                    "attachment_urls": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "The files that the query is about, as paths (files/…) "
                        "or URLs",
                    },
                },
                "required": ["tone"],
            },
        )


async def test_tools_tell_which_toolset_they_come_from():
    workspace, _ = echo()

    async with opened(workspace, written(), simple()) as contribution:
        assert [tool.toolset for tool in contribution.tools] == ["tool_sets[0]"] * 2


@proves("7")
async def test_parameters_that_are_written_are_not_added_again():
    workspace, _ = echo()
    own = {
        "query": {"type": "string", "description": "What to look for"},
        "attachment_urls": {"type": "array", "items": TEXT, "description": "Related files"},
    }

    async with one_tool(workspace, written(properties=own)) as tool:
        assert tool.spec.parameters["properties"] == own


@proves("6.1", "7")
async def test_a_simple_tool_is_made_of_what_is_known_of_the_deployment():
    schema = {
        "type": "object",
        "properties": {"tone": {"$ref": "#/$defs/tone"}, "query": {"type": "integer"}},
        "required": ["tone", "query", "unknown"],
        "$defs": {"tone": {"enum": ["dry", "warm"]}},
    }
    info = DeploymentInfo(
        "9lives.v2", "Nine", "", input_attachment_types=("image/*",), configuration_schema=schema
    )
    workspace = Workspace({"9lives.v2": echo()[1]}, info)

    async with one_tool(workspace, simple("9lives.v2")) as tool:
        assert tool.spec == ToolSpec(
            "_9lives_v2",
            "Nine",
            {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "The query for the tool"},
                    "attachment_urls": {
                        "type": "array",
                        "items": TEXT,
                        "description": "The files that the query is about, as paths (files/…) "
                        "or URLs; of the types image/*",
                    },
                    "tone": {"$ref": "#/$defs/tone"},
                },
                "required": ["query", "tone"],
                "$defs": {"tone": {"enum": ["dry", "warm"]}},
            },
        )


@proves("7")
async def test_a_simple_tool_of_a_deployment_without_files_has_no_parameter_for_them():
    workspace, _ = echo(info=replace(ECHO, files="none"))

    async with one_tool(workspace, simple()) as tool:
        assert list(tool.spec.parameters["properties"]) == ["query"]


@proves("7")
async def test_a_configuration_schema_that_is_none_is_left_out(caplog):
    schema = {"properties": {"tone": {"type": "colour"}}}
    workspace, _ = echo(info=replace(ECHO, configuration_schema=schema))

    async with one_tool(workspace, simple()) as tool:
        assert list(tool.spec.parameters["properties"]) == ["query", "attachment_urls"]
    assert "echo has an invalid configuration schema" in caplog.text


@proves("7.1")
@pytest.mark.parametrize("item", [written, simple])
async def test_a_resumable_tool_can_be_told_which_conversation_goes_on(item):
    workspace, _ = echo()

    async with one_tool(workspace, item(conversation_mode={"resumable": True})) as tool:
        assert "session_id" in tool.spec.parameters["properties"]
        assert "session_id" not in tool.spec.parameters["required"]


async def test_a_deployment_that_is_not_there_costs_only_its_own_tool():
    workspace, _ = echo()

    async with opened(workspace, written("nobody", name="ask"), simple()) as contribution:
        names = [tool.spec.name for tool in contribution.tools]
        issues = [issue.message for issue in contribution.issues]

    assert names == ["echo"]
    assert issues == [
        (
            "tool_sets[0].tools[0].deployment: the deployment 'nobody' does not exist, or you have "
            "no access, so the application runs without this tool."
        )
    ]


async def test_a_deployment_that_makes_vectors_is_no_tool():
    vectors = DeploymentInfo("vectors", "Vectors", kind="embedding")
    workspace = Workspace({"vectors": ScriptedModel()}, vectors)

    async with opened(workspace, simple("vectors")) as contribution:
        issues = [issue.message for issue in contribution.issues]

    assert (contribution.tools, issues) == (
        (),
        [
            (
                "tool_sets[0].tools[0].deployment_id: the deployment 'vectors' is an embedding "
                "model and cannot answer, so the application runs without this tool."
            )
        ],
    )


@proves("7")
async def test_a_circle_becomes_an_issue_that_names_the_way():
    class Circle(Workspace):
        async def deployment(self, deployment_id: str) -> DeploymentInfo:
            raise CallsItself(("a", "b", "a"), "An application can’t call itself")

    async with opened(Circle({}), simple("a")) as contribution:
        (issue,) = contribution.issues

    assert issue.message.startswith(
        "tool_sets[0].tools[0].deployment_id: An application can’t call itself: a → b → a."
    )


@proves("7")
async def test_a_parameter_that_would_replace_a_field_of_the_request_is_refused():
    workspace, _ = echo()

    async with opened(workspace, written(properties={"messages": TEXT})) as contribution:
        (issue,) = contribution.issues

    assert isinstance(issue, InitializationIssue)
    assert issue.message.startswith(
        "tool_sets[0].tools[0].open_ai_tool.function.parameters.properties.messages: "
    )


def test_what_is_switched_off_is_not_opened():
    off = [team(simple(enabled=False), written(enabled=False)), team(simple(), enabled=False)]

    assert deployment.prepare(manifest(*off)) is None


@pytest.mark.parametrize(
    ("application", "recorded", "stated", "expected"),
    [
        (False, False, None, True),
        (True, False, None, False),
        (True, True, None, True),
        (True, False, True, True),
        (False, False, False, False),
    ],
)
async def test_models_and_applications_here_may_be_asked_again_and_others_if_that_is_said(
    application, recorded, stated, expected
):
    info = replace(ECHO, is_application=application, is_recorded=recorded)
    tools = (simple(), written(is_repeatable=stated))
    document = manifest(team(*tools, is_repeatable=stated))
    opener = deployment.prepare(document)
    assert opener is not None

    workspace = Workspace({"echo": ScriptedModel()}, info)
    async with opener(Opening(workspace, CALLER, silent)) as found:
        assert [tool.is_repeatable for tool in found.tools] == [expected] * 2
