import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from apps.manifest.schema.manifest_schema import manifest_schema, registered_schema
from apps.manifest.toolsets.kinds import KINDS
from tests.contract import proves
from tests.manifest.comparison import Comparison
from tests.manifest.documents import DATA, EXAMPLES, example

REFERENCE = json.loads((DATA / "app-schema.json").read_text())
DIAL_KINDS = REFERENCE["properties"]["tool_sets"]["items"]["discriminator"]["mapping"].keys()

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
    # The parameter needs fractions; the reference only accepts 0 and 1.
    "DialDeploymentParameters.properties.top_p.anyOf[0].type": "'number' instead of 'integer'",
    "DialDeploymentToolParameters.properties.top_p.anyOf[0].type": "'number' instead of 'integer'",
    # An addition: a manifest can name any host, so headers to forward are listed by name.
    "RestApiToolSet.properties.forward_headers": "ours only",
    # Additions: common values of a service's tools are written, rotated and moved in one place.
    "RestApiToolSet.properties.base_url": "ours only",
    "RestApiToolSet.properties.headers": "ours only",
    "MCPToolSet.properties.forward_headers": "ours only",
    # An addition: built-in programs can be used only where they are registered.
    "MCPToolSet.properties.is_optional": "ours only",
    # An addition: temporary failures are retried without a model call.
    "ContinueStrategyModel.properties.retry": "ours only",
    # The text differs; its instruction to the model is the same.
    "RetryStrategyModel.properties.instructions.default": (
        "'The tool failed. Find out why, correct the call and try it again.' instead of "
        "'An error occurred, try to analyze what went wrong and retry the operation.'"
    ),
    # An addition: services expect different formats for lists in a query.
    "RestApiEndpointHeaderParamInfo.properties.encoding": "ours only",
    # An addition: programs on this machine are registered and have no address.
    "MCPServerInfo.properties.protocol.enum": (
        "['sse', 'streamable_http', 'stdio'] instead of ['sse', 'streamable_http']"
    ),
    "MCPServerInfo.properties.server": "ours only",
    "MCPServerInfo.required": "['protocol'] instead of ['url', 'protocol']",
    # An addition: servers that take their key in the query; in the URL, it could not be a secret.
    "MCPApiKeyAuthorization.properties.location": "ours only",
    # An addition: a server's instructions are untrusted, so a manifest has to enable them.
    "MCPToolSet.properties.server_instructions": "ours only",
    "DialMCPToolSet.properties.server_instructions": "ours only",
    # Additions: users see the title, and turn toolsets on and off on the chat page.
    **{
        f"{name}ToolSet.properties.{field}": "ours only"
        for name in ("Deployment", "DialApp", "DialMCP", "Internal", "MCP", "RestApi")
        for field in ("title", "user_switch")
    },
    # Additions: the meaning of a server's results, if they contain it in words or in another form.
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
    # An addition: what programs that call an application directly may send.
    "$.properties.orchestrator.properties.client": "ours only",
    # An addition: a conversation that exceeds the context window continues.
    "$.properties.orchestrator.properties.context": "ours only",
    # The reference has it as a draft.
    "Features.properties.context_usage": "ours only",
    # The reference has it too, in versions newer than the published schema.
    "Features.properties.tool_access_filter": "ours only",
    # An addition: tools that answer from documents.
    "Features.properties.documents": "ours only",
    # An addition: on the page, users can have their own keys.
    "Features.properties.model_keys": "ours only",
    # An addition: rate limits of an application.
    "Features.properties.rate_limits": "ours only",
    # An addition: the page stores conversations.
    "Features.properties.retention": "ours only",
    # An addition: the page shows how an answer was made.
    "Features.properties.answer_figures": "ours only",
    # Additions: labels of models, and models that users can choose on the page.
    "Features.properties.titles": "ours only",
    "$.properties.orchestrator.properties.choices": "ours only",
    # An addition: on the page, the model can ask a user.
    "Features.properties.questions": "ours only",
    # An addition: the page stores conversations.
    "Features.properties.search_conversations": "ours only",
    # An addition: sub-agents are separate runs, of types that operators define.
    "Features.properties.spawn_agent": "ours only",
    # An addition: the to-do list is stored in the conversation.
    "Features.properties.todo": "ours only",
    # An addition: hooks that only observe.
    "ToolCallHookConfig.properties.event.enum": "['on_request_start', 'on_user_message', "
    "'on_tool_result', 'on_completion', 'on_status'] instead of ['on_request_start', "
    "'on_completion']",
    # An addition: a tool can end the turn.
    "Features.properties.summary": "ours only",
    # An addition: accounts outlive a request, so runs in their name can happen later.
    "Features.properties.schedules": "ours only",
    # An addition: users need not repeat what is remembered.
    "Features.properties.memory": "ours only",
    "Features.properties.notes": "ours only",
    # An addition: the page stores conversations, which users share.
    "Features.properties.sharing": "ours only",
    # Additions: our own kinds of toolsets.
    **{
        f"$.properties.tool_sets.items.discriminator.mapping.{name}": "ours only"
        for name in KINDS.keys() - DIAL_KINDS
    },
    "$.properties.tool_sets.items.oneOf": f"{len(KINDS)} kinds instead of {len(DIAL_KINDS)}",
    # Additions: in the reference, users sign in only to DIAL's own toolsets.
    "MCPServerInfo.properties.authorization.anyOf[0].discriminator.mapping.oauth": "ours only",
    "MCPServerInfo.properties.authorization.anyOf[0].oneOf": "5 kinds instead of 4",
    "RestApiToolSet.properties.authorization.anyOf[0].discriminator.mapping.oauth": "ours only",
    "RestApiToolSet.properties.authorization.anyOf[0].oneOf": "6 kinds instead of 5",
    # Additions: calls with effects can wait for a user's approval, or be denied.
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
    # An addition: in DIAL, an application's entry declares the files that it accepts.
    "Features.properties.input_attachment_types": "ours only",
    # Additions: deployments with arguments of other names, and images in the text.
    **{
        f"DialDeploymentTool.properties.{field}": "ours only"
        for field in ("is_optional", "query_parameter", "sends_configuration", "takes_files")
    },
    "AttachmentConfig.properties.propagate_types_to_text": "ours only",
    # Additions: a run continues after its process has died, some calls must not be repeated, and
    # content of others may mislead a model.
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
"""Both are expensive to build; a test that changes one uses a copy."""


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
