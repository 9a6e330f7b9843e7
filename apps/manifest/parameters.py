"""The function dialect: what a tool is called, and the parameters that the model fills in.

Nested values know neither `default` nor `display`; parameters of REST tools also say where in
the request they go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_serializer, field_validator, model_validator

from apps.manifest.nodes import Node
from apps.manifest.secrets import (
    HIDDEN,
    SECRET,
    Credential,
    dumped,
    read_credential,
    reads_as_credential,
)

SimpleType = Literal["string", "number", "integer", "boolean"]


class SimpleSchema(Node):
    type: SimpleType
    description: str | None = None
    enum: tuple[Any, ...] | None = None


class ConstSchema(Node):
    """A constant: the model does not see it, every call sends it."""

    type: Literal[None]
    const: Any


class ObjectSchema(Node):
    type: Literal["object"]
    properties: dict[str, NestedSchema]
    description: str
    required: tuple[str, ...] | None = None


class ArraySchema(Node):
    type: Literal["array"]
    items: NestedSchema
    description: str


NestedSchema = Annotated[
    SimpleSchema | ConstSchema | ObjectSchema | ArraySchema, Field(discriminator="type")
]


class ParameterStage(Node):
    """How an argument is shown in the stage of its call."""

    ignore: bool = Field(default=False, description="Hide the parameter.")
    ignore_parameter_name: bool = Field(default=False, description="Hide the label.")
    show_value_in_stage_title: bool = False
    name: str | None = None
    prefix: str | None = None
    suffix: str | None = None
    replaced_value_info: str | None = Field(default=None, description="Shown for the value.")
    format: str | None = Field(
        default=None, description="Null: markdown; empty: plain code; else the code's language."
    )
    order: int = 0


class ParameterDisplay(Node):
    stage: ParameterStage | None = None


class Displayed(Node):
    display: ParameterDisplay | None = None
    default: Any | None = None


class SimpleParameter(SimpleSchema, Displayed): ...


class ConstParameter(ConstSchema, Displayed): ...


class ObjectParameter(ObjectSchema, Displayed): ...


class ArrayParameter(ArraySchema, Displayed): ...


Parameter = Annotated[
    ObjectParameter | ArrayParameter | SimpleParameter | ConstParameter,
    Field(discriminator="type"),
]


class ParameterPlace(Node):
    """Where in the request an argument goes."""

    type: Literal["query", "url", "body", "header"]
    key: str
    encoding: Literal["text", "json"] = Field(
        default="text", description="How a list or an object is written into a query or header."
    )


class Placed(Node):
    parameter_info: ParameterPlace


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
        and place.get("type") in {"header", "query", "body"}
        and isinstance(place.get("key"), str)
        and reads_as_credential(place["key"])
    )


class RestObjectParameter(ObjectParameter, Placed): ...


class RestArrayParameter(ArrayParameter, Placed): ...


RestParameter = Annotated[
    RestObjectParameter | RestArrayParameter | RestSimpleParameter | RestConstParameter,
    Field(discriminator="type"),
]


class FunctionParameters(Node):
    type: Literal["object"]
    properties: dict[str, Parameter]
    required: tuple[str, ...] | None = None


class RestFunctionParameters(Node):
    type: Literal["object"]
    properties: dict[str, RestParameter]
    required: tuple[str, ...] | None = None


class Function(Node):
    name: str
    description: str
    parameters: FunctionParameters


class RestFunction(Node):
    name: str
    description: str
    parameters: RestFunctionParameters


class FunctionTool(Node):
    type: Literal["function"] = "function"
    function: Function


class RestFunctionTool(Node):
    type: Literal["function"] = "function"
    function: RestFunction
