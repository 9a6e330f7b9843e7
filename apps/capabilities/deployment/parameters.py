"""Defines the parameters of a tool that calls a deployment."""

import logging
from collections.abc import Mapping
from typing import Any

from apps.capabilities.wrappers.arguments import Arguments, read_arguments
from apps.capabilities.wrappers.parameter_schemas import keep_value
from apps.json_schemas.checks import SchemaCheck
from apps.json_schemas.structure import JsonSchemaInvalid, JsonSchemaUnsupported
from apps.manifest.toolsets.parameters import (
    ArrayParameter,
    FunctionParameters,
    Parameter,
    ParameterDisplay,
    ParameterStage,
    SimpleParameter,
    SimpleSchema,
)
from apps.manifest.toolsets.tools import DeploymentTool
from apps.workspace.port import DeploymentInfo

logger = logging.getLogger(__name__)

QUERY = "query"
FILES = "attachment_urls"
SESSION = "session_id"
OURS = frozenset({QUERY, FILES, SESSION})
"""The tool arguments with a special meaning. Other arguments become request parameters."""
RESERVED = frozenset({"messages", "model", "stream", "stream_options", "tools"})
"""Fields of a request that an argument must not overwrite."""


def shown_as(**stage: Any) -> ParameterDisplay:
    return ParameterDisplay(stage=ParameterStage(**stage))


query = SimpleParameter(
    type="string",
    description="The query for the tool",
    display=shown_as(name="**Prompt:** ", show_value_in_stage_title=True),
)
files = ArrayParameter(
    type="array",
    items=SimpleSchema(type="string"),
    description="The files that the query is about, as paths (files/…) or URLs",
    display=shown_as(name="**Files:** "),
)
session = SimpleParameter(
    type="string",
    description=(
        "The session_id at the end of an earlier answer from this tool. Send it unchanged to "
        "continue that conversation, or omit it to start a new one"
    ),
    display=shown_as(ignore=True),
)


def own_parameters(tool: DeploymentTool, *, is_resumable: bool) -> dict[str, Parameter]:
    """Return the parameters with a special meaning, such as the question, by name."""
    own: dict[str, Parameter] = {tool.query_parameter: query}
    if tool.takes_files:
        own[FILES] = files
    if is_resumable:
        own[SESSION] = session
    return own


def complete_parameters(
    written: FunctionParameters, added: Mapping[str, Parameter]
) -> FunctionParameters:
    """Return the manifest's parameters, plus the parameters in `added` that the manifest does not
    declare.
    """
    missing = {name: value for name, value in added.items() if name not in written.properties}
    return written.model_copy(update={"properties": {**written.properties, **missing}})


def generate_parameters(info: DeploymentInfo, *, is_resumable: bool) -> FunctionParameters:
    """Generate the parameters of a tool from the features of its deployment."""
    own: dict[str, Parameter] = {QUERY: query}
    if info.files != "none":
        own[FILES] = files_of(info)
    if is_resumable:
        own[SESSION] = session
    return FunctionParameters(type="object", properties=own, required=(QUERY,))


def files_of(info: DeploymentInfo) -> ArrayParameter:
    types = ", ".join(info.input_attachment_types)
    if not types or "*/*" in info.input_attachment_types:
        return files
    return files.model_copy(update={"description": f"{files.description}; of the types {types}"})


def generated_arguments(parameters: FunctionParameters, info: DeploymentInfo) -> Arguments:
    """Combine the tool's parameters with the configuration that the deployment declares."""
    own = read_arguments(parameters)
    if not info.configuration_schema:
        return own
    schema = with_configuration(own.schema, info.configuration_schema)
    try:
        checked = SchemaCheck.of(schema)
    except JsonSchemaUnsupported as error:
        logger.warning(
            "%s: the configuration is validated only by the deployment itself: %s", info.id, error
        )
        checked = own.schema_check
    except JsonSchemaInvalid as error:
        logger.warning("%s has an invalid configuration schema: %s", info.id, error)
        return own
    return Arguments(schema, checked, own.defaults, keep_value)


def with_configuration(own: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the tool's own parameters with the deployment's configuration. Own parameters take
    precedence. The schema's definitions are preserved, because properties may refer to them.
    """
    properties = {n: v for n, v in configurable(declared).items() if n not in OURS}
    required = declared.get("required")
    listed = required if isinstance(required, list) else []
    needed = [name for name in listed if isinstance(name, str) and name in properties]
    definitions = {key: declared[key] for key in ("$defs", "definitions") if key in declared}
    return {
        **own,
        **definitions,
        "properties": {**own["properties"], **properties},
        "required": [*own["required"], *needed],
    }


def configurable(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schemas of the deployment's configuration properties, by name."""
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}
