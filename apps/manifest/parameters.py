"""The function dialect: what a tool is called, and the parameters that the model fills in.

Nested values know neither `default` nor `display`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from apps.manifest.nodes import Node

SimpleType = Literal["string", "number", "integer", "boolean"]


class SimpleSchema(Node):
    """A single value."""

    type: SimpleType
    """What kind of value it is."""
    description: str | None = None
    """What the model is to write here, with an example if that helps; at most 1,024 characters."""
    enum: tuple[Any, ...] | None = None
    """The values to choose from, such as `["low", "high"]`. Null: any."""


class ConstSchema(Node):
    """A constant: the model does not see it, every call sends it."""

    type: Literal[None]
    """`null`, without quotes: says that this is a constant."""
    const: Any
    """What every call sends. In a REST tool it can be a secret: `{"$secret": "name"}`."""


class ObjectSchema(Node):
    """Several values under their names."""

    type: Literal["object"]
    """Says that this is an object."""
    properties: dict[str, NestedSchema]
    """The values, by name."""
    description: str
    """What the object is; at most 1,024 characters. It must not be left out."""
    required: tuple[str, ...] | None = None
    """Names of the properties that the model has to give. Null: none."""


class ArraySchema(Node):
    """A list."""

    type: Literal["array"]
    """Says that this is a list."""
    items: NestedSchema
    """What each item of the list is."""
    description: str
    """What the list is; at most 1,024 characters. It must not be left out."""


NestedSchema = Annotated[
    SimpleSchema | ConstSchema | ObjectSchema | ArraySchema, Field(discriminator="type")
]


class ParameterStage(Node):
    """How an argument is shown in the stage of its call."""

    ignore: bool = False
    """Do not show the argument."""
    ignore_parameter_name: bool = False
    """Show the value without the parameter's name in front of it."""
    show_value_in_stage_title: bool = False
    """Put the value behind the title of the stage. Of several parameters that want this, the first
    one that was given has it."""
    name: str | None = None
    """What stands in front of the value instead of the parameter's name, as Markdown: `**City:** `."""
    prefix: str | None = None
    """Text right before the value."""
    suffix: str | None = None
    """Text right behind the value, such as a unit."""
    replaced_value_info: str | None = None
    """What is shown in place of the value, for values that are long or private."""
    format: str | None = None
    """How the value is written. Null: as Markdown; empty: as plain code; else as code of this
    language, such as `python`."""
    order: int = 0
    """Place among the arguments: smaller numbers come first."""


class ParameterDisplay(Node):
    """How a parameter is shown to people."""

    stage: ParameterStage | None = None
    """How an argument is shown in the stage of its call. Null: name and value."""


class Displayed(Node):
    """What every parameter of a function may have; values inside of lists and objects may not."""

    display: ParameterDisplay | None = None
    """How the argument is shown to people. Null: name and value."""
    default: Any | None = None
    """What is sent when the model leaves the argument out. Null: nothing is sent. A default that does
    not fit the type makes such calls fail."""


class SimpleParameter(SimpleSchema, Displayed): ...


class ConstParameter(ConstSchema, Displayed): ...


class ObjectParameter(ObjectSchema, Displayed): ...


class ArrayParameter(ArraySchema, Displayed): ...


Parameter = Annotated[
    ObjectParameter | ArrayParameter | SimpleParameter | ConstParameter, Field(discriminator="type")
]


class FunctionParameters(Node):
    """The parameters of a function."""

    type: Literal["object"]
    """Always `object`."""
    properties: dict[str, Parameter]
    """The parameters, by name; `{}` for none."""
    required: tuple[str, ...] | None = None
    """Names of the parameters that the model has to give. Null: none."""


class Function(Node):
    """What the model is told of a tool."""

    name: str
    """Name of the function, which is what the model sees: letters, digits, `_` and `-`; others become
    `_`, and more than 64 are cut. An internal tool is chosen by it."""
    description: str
    """What the tool does and when it is of use; the model chooses by it. At most 1,024 characters."""
    parameters: FunctionParameters
    """What the model gives the tool."""


class FunctionTool(Node):
    """A function, as OpenAI's API writes one."""

    type: Literal["function"] = "function"
    """The only kind there is."""
    function: Function
    """Name, description and parameters: what the model is told of the tool."""
