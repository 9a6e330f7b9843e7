import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from apps.manifest.schema import manifest_schema, registered_schema
from tests.contract import proves
from tests.manifest.comparison import Comparison
from tests.manifest.documents import DATA, EXAMPLES, example

REFERENCE = json.loads((DATA / "app-schema.json").read_text())

WRAPPER = (
    "$id",
    "$schema",
    "title",
    "dial:applicationTypeDisplayName",
    "dial:appendApplicationPropertiesHeader",
    "dial:applicationTypeAssistantAttachmentsInRequestSupported",
    "dial:defaultLocale",
    "dial:applicationTypeCompletionEndpoint",
    "dial:applicationTypeConfigurationEndpoint",
)

DIFFERENCES = {
    # Fractions are what the parameter is for; the reference refuses all but 0 and 1.
    "DialDeploymentParameters.properties.top_p.anyOf[0].type": "'number' instead of 'integer'",
    "DialDeploymentToolParameters.properties.top_p.anyOf[0].type": "'number' instead of 'integer'",
    # An addition: a manifest may name any host, so what it is sent is asked for by name.
    "RestApiToolSet.properties.forward_headers": "ours only",
    # Additions: what all tools of a service have in common is written, rotated and moved once.
    "RestApiToolSet.properties.base_url": "ours only",
    "RestApiToolSet.properties.headers": "ours only",
    "MCPToolSet.properties.forward_headers": "ours only",
    # An addition: what comes with us may be used where its program is registered, and only there.
    "MCPToolSet.properties.is_optional": "ours only",
    # An addition: a passing failure need not cost a call of the model.
    "ContinueStrategyModel.properties.retry": "ours only",
    # The text is ours; what it asks of the model is the same.
    "RetryStrategyModel.properties.instructions.default": (
        "'The tool failed. Find out why, correct the call and try it again.' instead of "
        "'An error occurred, try to analyze what went wrong and retry the operation.'"
    ),
    # An addition: services disagree about how lists are written into a query.
    "RestApiEndpointHeaderParamInfo.properties.encoding": "ours only",
    # An addition: servers that run on this machine are registered, and have no address.
    "MCPServerInfo.properties.protocol.enum": (
        "['sse', 'streamable_http', 'stdio'] instead of ['sse', 'streamable_http']"
    ),
    "MCPServerInfo.properties.server": "ours only",
    "MCPServerInfo.required": "['protocol'] instead of ['url', 'protocol']",
    # An addition: what a server says of itself is untrusted, so it is asked for by name.
    "MCPToolSet.properties.server_instructions": "ours only",
    "DialMCPToolSet.properties.server_instructions": "ours only",
    # Additions: what a server's results are, where they say it in words or have a shape of their own.
    **{
        f"{name}.properties.{field}": "ours only"
        for field in ("failure_texts", "result_format")
        for name in ("DialMCPToolSet", "MCPToolSet")
    },
    # The reference has it too, in versions newer than the published schema.
    "MCPToolSet.properties.hidden_from_model": "ours only",
    "DialMCPToolSet.properties.hidden_from_model": "ours only",
    "DialAppToolSet.properties.hidden_from_model": "ours only",
    # The reference has it too, in versions newer than the published schema.
    "SubagentsConfig.properties.general_purpose": "ours only",
    # An addition: what programs may bring that call an application directly.
    "$.properties.orchestrator.properties.client": "ours only",
    # An addition: a conversation that becomes too long for the model goes on.
    "$.properties.orchestrator.properties.context": "ours only",
    # The reference has it as a draft.
    "Features.properties.context_usage": "ours only",
    # The reference has it too, in versions newer than the published schema.
    "Features.properties.tool_access_filter": "ours only",
    # An addition: tools that answer from documents.
    "Features.properties.documents": "ours only",
    # An addition: on the page people may have keys of their own.
    "Features.properties.model_keys": "ours only",
    # An addition: how often an application may be asked.
    "Features.properties.rate_limits": "ours only",
    # An addition: the page keeps conversations.
    "Features.properties.retention": "ours only",
    # An addition: the page tells how an answer was made.
    "Features.properties.answer_figures": "ours only",
    # Additions: what a model names, and which models people may choose on the page.
    "Features.properties.titles": "ours only",
    "$.properties.orchestrator.properties.choices": "ours only",
    # An addition: on the page there is somebody whom the model can ask.
    "Features.properties.questions": "ours only",
    # An addition: the page keeps conversations.
    "Features.properties.search_conversations": "ours only",
    # An addition: helpers are runs of their own, of kinds that operators define.
    "Features.properties.spawn_agent": "ours only",
    # An addition: what is to be done is kept in the conversation, and ticked.
    "Features.properties.todo": "ours only",
    # An addition: hooks that only watch.
    "ToolCallHookConfig.properties.event.enum": "['on_request_start', 'on_user_message', "
    "'on_tool_result', 'on_completion', 'on_status'] instead of ['on_request_start', "
    "'on_completion']",
    # An addition: a tool can have the last word.
    "Features.properties.summary": "ours only",
    # An addition: accounts outlive a request, so something can be done in their names later.
    "Features.properties.schedules": "ours only",
    # An addition: what people said once need not be said again.
    "Features.properties.memory": "ours only",
    "Features.properties.notes": "ours only",
    # An addition: the page keeps conversations, which people share.
    "Features.properties.sharing": "ours only",
    # An addition: the page of the conversation runs tools.
    "$.properties.tool_sets.items.discriminator.mapping.client": "ours only",
    "$.properties.tool_sets.items.oneOf": "8 kinds instead of 7",
    # Additions: in the reference people sign in to DIAL's own toolsets only.
    "MCPServerInfo.properties.authorization.anyOf[0].discriminator.mapping.oauth": "ours only",
    "MCPServerInfo.properties.authorization.anyOf[0].oneOf": "5 kinds instead of 4",
    "RestApiToolSet.properties.authorization.anyOf[0].discriminator.mapping.oauth": "ours only",
    "RestApiToolSet.properties.authorization.anyOf[0].oneOf": "6 kinds instead of 5",
    # Additions: what a tool does to the world can wait for a person, or is never done.
    **{
        f"{name}.properties.approval": "ours only"
        for name in (
            "DeploymentToolSet",
            "DialAppToolSet",
            "DialDeploymentSimpleTool",
            "DialDeploymentTool",
            "DialMCPToolSet",
            "Features",
            "InternalTool",
            "InternalToolSet",
            "MCPToolSet",
            "RestApiTool",
            "RestApiToolSet",
        )
    },
    # An addition: in DIAL an application's entry says which files it takes.
    "Features.properties.input_attachment_types": "ours only",
    # Additions: deployments that are asked with arguments of other names, and pictures in the text.
    **{
        f"DialDeploymentTool.properties.{field}": "ours only"
        for field in ("is_optional", "query_parameter", "sends_configuration", "takes_files")
    },
    "AttachmentConfig.properties.propagate_types_to_text": "ours only",
    # Additions: a run goes on when its process is gone, and some calls must not be made twice; what
    # others write may mislead a model.
    **{
        f"{name}.properties.{field}": "ours only"
        for field in ("is_repeatable", "is_untrusted")
        for name in (
            "DeploymentToolSet",
            "DialAppToolSet",
            "DialDeploymentTool",
            "DialMCPToolSet",
            "InternalTool",
            "MCPToolSet",
            "RestApiTool",
            "RestApiToolSet",
        )
    },
}


PLAIN = manifest_schema()
REGISTERED = registered_schema(
    schema_id=REFERENCE["$id"],
    completion_url=REFERENCE["dial:applicationTypeCompletionEndpoint"],
    configuration_url=REFERENCE["dial:applicationTypeConfigurationEndpoint"],
)
"""Both take long to make; a test that changes one changes a copy."""


@proves("m1.8")
def test_the_registered_schema_differs_from_the_reference_only_where_we_know():
    found = Comparison(REGISTERED, REFERENCE).differences

    new = {place: what for place, what in found.items() if DIFFERENCES.get(place) != what}
    assert new == {}, "if they are meant, add them to DIFFERENCES, each with its reason"
    gone = DIFFERENCES.keys() - found.keys()
    assert gone == set(), "delete them from DIFFERENCES"


def rename(schema: dict[str, Any], old: str, new: str) -> None:
    schema[new] = schema.pop(old)


CHANGES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda s: s["$defs"]["Trigger"]["required"].remove("value"), "TriggerOn.required"),
    (
        lambda s: s["$defs"]["RestMethod"]["properties"]["method_type"]["enum"].append("patch"),
        "RestApiEndpointMethodInfo.properties.method_type.enum",
    ),
    (
        lambda s: s["$defs"]["AttachmentStrategy"]["properties"]["accepted_types"]["anyOf"][0].pop(
            "minItems"
        ),
        "LazyOnDemandAttachmentStrategy.properties.accepted_types.anyOf[0].minItems",
    ),
    (
        lambda s: s["$defs"]["FileContext"]["properties"]["url"].pop("dial:file"),
        "FileContextConfig.properties.url.dial:file",
    ),
    (
        lambda s: s["$defs"]["RestToolSet"]["properties"]["deferred"].pop("x-preview"),
        "RestApiToolSet.properties.deferred.x-preview",
    ),
    (
        lambda s: s["$defs"]["ObjectSchema"]["properties"]["properties"]["additionalProperties"][
            "discriminator"
        ]["mapping"].pop("None"),
        "JsonSchemaObject.properties.properties.additionalProperties.discriminator.mapping.None",
    ),
    (
        lambda s: rename(s["$defs"]["Starter"]["properties"], "title", "heading"),
        "ConversationStarter.properties.title",
    ),
    (lambda s: s["properties"]["starters"].pop("deprecated"), "$.properties.starters.deprecated"),
    (
        lambda s: s["$defs"]["StageDisplay"]["properties"]["level"].update(default="debug"),
        "StageDisplayConfig.properties.level.default",
    ),
]


@pytest.mark.parametrize(("change", "place"), CHANGES, ids=[place for _, place in CHANGES])
def test_the_comparison_sees_a_change(change, place):
    schema = copy.deepcopy(REGISTERED)

    change(schema)

    assert place in Comparison(schema, REFERENCE).differences


def test_the_wrapper_is_only_on_the_registered_schema():
    assert {**{key: REGISTERED[key] for key in WRAPPER}, **PLAIN} == REGISTERED
    assert not set(WRAPPER) & PLAIN.keys()
    assert {key: REGISTERED[key] for key in WRAPPER if key != "title"} == {
        key: REFERENCE[key] for key in WRAPPER if key != "title"
    }
    assert REGISTERED["title"] == "ApplicationConfig"


def test_every_root_property_is_written_out_and_numbered():
    properties = PLAIN["properties"]

    orders = {name: value["dial:meta"] for name, value in properties.items()}
    assert orders == {
        name: {"dial:propertyKind": "server", "dial:propertyOrder": order}
        for order, name in enumerate(REFERENCE["properties"], start=1)
    }
    assert [name for name, value in properties.items() if "$ref" in value] == []


def test_without_preview_nothing_of_it_is_left():
    schema = manifest_schema(preview=False)

    text = json.dumps(schema)
    assert "x-preview" not in text
    assert "FolderContext" not in text
    assert "FolderSkill" not in text
    assert "WebFetch" not in text
    orders = {k: v["dial:meta"]["dial:propertyOrder"] for k, v in schema["properties"].items()}
    assert (orders["features"], orders["tool_defaults"]) == (7, 8)


def test_without_preview_everything_else_stays():
    names = {"rest-api", "mcp", "dial-app"}

    schema = manifest_schema(preview=False)

    tags = schema["properties"]["tool_sets"]["items"]["discriminator"]["mapping"].keys()
    assert names < tags
    for name in ("ObjectSchema", "RestObjectParameter", "FunctionParameters", "Trigger"):
        assert schema["$defs"][name] == PLAIN["$defs"][name]


@pytest.mark.parametrize("preview", [True, False])
def test_every_definition_is_used(preview):
    schema = manifest_schema(preview=preview)

    text = json.dumps({**schema, "$defs": list(schema["$defs"].values())})

    assert [name for name in schema["$defs"] if f'"#/$defs/{name}"' not in text] == []


def test_a_default_deployment_is_offered_and_no_longer_required():
    orchestrator = manifest_schema(default_deployment="harbour-chat")["properties"]["orchestrator"]

    assert orchestrator["properties"]["deployment"]["default"] == {"deployment_id": "harbour-chat"}
    assert "required" not in orchestrator
    assert PLAIN["properties"]["orchestrator"]["required"] == ["deployment"]


def test_the_schema_is_one():
    Draft202012Validator.check_schema(PLAIN)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_valid_by_the_schema(name):
    assert list(Draft202012Validator(PLAIN).iter_errors(example(name))) == []


def test_schemas_share_nothing():
    first = manifest_schema()
    first["properties"].clear()
    first["$defs"].clear()

    assert manifest_schema() == PLAIN
