"""Defines the function schema of REST tools, in which each parameter also has a location in the
request.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_serializer, field_validator, model_validator

from apps.manifest.nodes import Node
from apps.manifest.secrets import (
    HIDDEN,
    SECRET,
    Credential,
    dump_credential,
    read_credential,
    reads_as_credential,
)
from apps.manifest.toolsets.parameters import (
    ArrayParameter,
    ConstParameter,
    ObjectParameter,
    SimpleParameter,
)


class ParameterPlace(Node):
    """The part of the request that contains an argument."""

    type: Literal["query", "url", "body", "header"]
    """The part of the request: `query`, `url` (replaces `{key}` in the URL), `body` (a field of the
    JSON body) or `header`.
    """
    key: str
    """The name of the value in the request. For `url`, this is the name in braces."""
    encoding: Literal["text", "json"] = "text"
    """Controls how lists and objects are encoded. With `text`, a query contains a comma-separated
    list, and a body contains JSON in a string. With `json`, a query contains JSON, and a body
    contains JSON values.
    """


class RequestParameter(Node):
    """Additional fields of every parameter of a REST tool."""

    parameter_info: ParameterPlace
    """The part of the request that contains the argument."""


class RestSimpleParameter(SimpleParameter, RequestParameter): ...


class RestConstParameter(ConstParameter, RequestParameter):
    """A constant. If its name is typical of a credential, it is stored as a credential and never
    shown.
    """

    @model_validator(mode="before")
    @classmethod
    def _holds_credential(cls, value: Any) -> Any:
        if not isinstance(value, dict) or not is_credential(value):
            return value
        return {**value, "const": Credential(value["const"])}

    @field_validator("const", mode="before")
    @classmethod
    def _reads_reference(cls, value: Any, info: ValidationInfo) -> Any:
        is_meant = isinstance(value, dict) and (SECRET in value or HIDDEN in value)
        return read_credential(value, info) if is_meant else value

    @field_serializer("const")
    def _keeps_to_itself(self, value: Any) -> Any:
        return dump_credential(value) if isinstance(value, Credential) else value


def is_credential(parameter: Mapping[str, Any]) -> bool:
    """Return True if the parameter is a constant string whose name is typical of a credential."""
    place = parameter.get("parameter_info")
    return (
        isinstance(parameter.get("const"), str)
        and parameter["const"] != ""
        and isinstance(place, Mapping)
        and place.get("type") in ("header", "query", "body")
        and isinstance(place.get("key"), str)
        and reads_as_credential(place["key"])
    )


class RestObjectParameter(ObjectParameter, RequestParameter): ...


class RestArrayParameter(ArrayParameter, RequestParameter): ...


RestParameter = Annotated[
    RestObjectParameter | RestArrayParameter | RestSimpleParameter | RestConstParameter,
    Field(discriminator="type"),
]


class RestFunctionParameters(Node):
    """The parameters of a function that calls a REST service."""

    type: Literal["object"]
    """Always `object`."""
    properties: dict[str, RestParameter]
    """The parameters by name. `{}` for none. Each parameter defines its location in the request."""
    required: tuple[str, ...] | None = None
    """Names of the parameters that the model must provide. Null: none."""


class RestFunction(Node):
    """The description of a tool that calls a REST service."""

    name: str
    """The name of the function. The model sees this name with the toolset's name as a prefix. The
    name can contain letters, digits, `_` and `-`. Other characters become `_`, and longer names are
    truncated to 64 characters.
    """
    description: str
    """Describes to the model what the tool does and when to use it. Up to 1,024 characters."""
    parameters: RestFunctionParameters
    """The arguments that the model passes to the tool, and their locations in the request."""


class RestFunctionTool(Node):
    """A function that calls a REST service."""

    type: Literal["function"] = "function"
    """Always `function`."""
    function: RestFunction
    """The tool's name, description and parameters, as the model sees them."""
