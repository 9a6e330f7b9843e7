"""The function dialect of REST tools, whose parameters also say where in the request they go."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_serializer, field_validator, model_validator

from apps.manifest.nodes import Node
from apps.manifest.parameters import (
    ArrayParameter,
    ConstParameter,
    ObjectParameter,
    SimpleParameter,
)
from apps.manifest.secrets import (
    HIDDEN,
    SECRET,
    Credential,
    dumped,
    read_credential,
    reads_as_credential,
)


class ParameterPlace(Node):
    """Where in the request an argument goes."""

    type: Literal["query", "url", "body", "header"]
    """Where it goes: into the query, into the address in place of `{key}`, into the JSON object that
    is the body, or into a header."""
    key: str
    """The name that the service knows it by; in an address, the name in braces."""
    encoding: Literal["text", "json"] = "text"
    """How lists and objects are written. `text`: a list in a query with commas, and in a body as JSON
    inside a text. `json`: in a body as what they are, in a query as JSON."""


class Placed(Node):
    """What every parameter of a REST tool has beside that."""

    parameter_info: ParameterPlace
    """Where in the request the argument goes."""


class RestSimpleParameter(SimpleParameter, Placed): ...


class RestConstParameter(ConstParameter, Placed):
    """A constant that is a credential is held as one, so that nothing shows it."""

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
        return dumped(value) if isinstance(value, Credential) else value


def is_credential(parameter: Mapping[str, Any]) -> bool:
    """Whether a constant, as it is written, is a text that goes where credentials go."""
    place = parameter.get("parameter_info")
    return (
        isinstance(parameter.get("const"), str)
        and parameter["const"] != ""
        and isinstance(place, Mapping)
        and place.get("type") in ("header", "query", "body")
        and isinstance(place.get("key"), str)
        and reads_as_credential(place["key"])
    )


class RestObjectParameter(ObjectParameter, Placed): ...


class RestArrayParameter(ArrayParameter, Placed): ...


RestParameter = Annotated[
    RestObjectParameter | RestArrayParameter | RestSimpleParameter | RestConstParameter,
    Field(discriminator="type"),
]


class RestFunctionParameters(Node):
    """The parameters of a function that calls a REST service."""

    type: Literal["object"]
    """Always `object`."""
    properties: dict[str, RestParameter]
    """The parameters, by name; `{}` for none. Each says where in the request it goes."""
    required: tuple[str, ...] | None = None
    """Names of the parameters that the model has to give. Null: none."""


class RestFunction(Node):
    """What the model is told of a tool that calls a REST service."""

    name: str
    """Name of the function. The model sees it behind the name of the toolset: letters, digits, `_` and
    `-`; others become `_`, and more than 64 are cut."""
    description: str
    """What the tool does and when it is of use; the model chooses by it. At most 1,024 characters."""
    parameters: RestFunctionParameters
    """What the model gives the tool, and where in the request it goes."""


class RestFunctionTool(Node):
    """A function that calls a REST service."""

    type: Literal["function"] = "function"
    """The only kind there is."""
    function: RestFunction
    """Name, description and parameters: what the model is told of the tool."""
