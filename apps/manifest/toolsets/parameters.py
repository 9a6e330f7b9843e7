"""Defines the function schema: the description of a tool, and the parameters that the model fills
in.

Values inside lists and objects do not support `default` or `display`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from apps.manifest.nodes import Node

SimpleType = Literal["string", "number", "integer", "boolean"]


class SimpleSchema(Node):
    """A single value."""

    type: SimpleType
    """The type of the value."""
    description: str | None = None
    """A description of the value for the model, with an example if that helps. Up to 1,024
    characters.
    """
    enum: tuple[Any, ...] | None = None
    """The allowed values, such as `["low", "high"]`. Null: any value."""


class ConstSchema(Node):
    """A constant that every call sends. The model does not see it."""

    type: Literal[None]
    """`null`, without quotes, for a constant."""
    const: Any
    """The value that every call sends. In a REST tool, the value can be a secret, such as
    `{"$secret": "name"}`.
    """


class ObjectSchema(Node):
    """An object with named values."""

    type: Literal["object"]
    """The value is an object."""
    properties: dict[str, NestedSchema]
    """The values, by name."""
    description: str
    """A description of the object. Up to 1,024 characters."""
    required: tuple[str, ...] | None = None
    """Names of the properties that the model must provide. Null: none."""


class ArraySchema(Node):
    """A list."""

    type: Literal["array"]
    """The value is a list."""
    items: NestedSchema
    """The schema of each list item."""
    description: str
    """A description of the list. Up to 1,024 characters."""


NestedSchema = Annotated[
    SimpleSchema | ConstSchema | ObjectSchema | ArraySchema, Field(discriminator="type")
]


class ParameterStage(Node):
    """Controls how an argument is shown in the stage of its call."""

    ignore: bool = False
    """Do not show the argument."""
    ignore_parameter_name: bool = False
    """Show the value without the parameter's name before it."""
    show_value_in_stage_title: bool = False
    """Add the value to the title of the stage. If several parameters set this field, the first
    parameter with a value is used.
    """
    name: str | None = None
    """The Markdown text before the value, instead of the parameter's name, such as `**City:** `."""
    prefix: str | None = None
    """Text directly before the value."""
    suffix: str | None = None
    """Text directly after the value, such as a unit."""
    replaced_value_info: str | None = None
    """The text that is shown instead of a long or private value."""
    format: str | None = None
    """The format of the value. Null: Markdown. Empty: plain code. Otherwise: code in this language,
    such as `python`.
    """
    order: int = 0
    """The position among the arguments. Smaller numbers come first."""


class ParameterDisplay(Node):
    """Controls how a parameter is shown to users."""

    stage: ParameterStage | None = None
    """Controls how the argument is shown in the stage of its call. Null: name and value."""


class DisplayedParameter(Node):
    """Fields of every parameter of a function. Values inside lists and objects do not have these
    fields.
    """

    display: ParameterDisplay | None = None
    """Controls how the argument is shown to users. Null: name and value."""
    default: Any | None = None
    """The value to send if the model omits the argument. If the default does not match the type,
    calls without the argument fail. Null: none.
    """


class SimpleParameter(SimpleSchema, DisplayedParameter): ...


class ConstParameter(ConstSchema, DisplayedParameter): ...


class ObjectParameter(ObjectSchema, DisplayedParameter): ...


class ArrayParameter(ArraySchema, DisplayedParameter): ...


Parameter = Annotated[
    ObjectParameter | ArrayParameter | SimpleParameter | ConstParameter, Field(discriminator="type")
]


class FunctionParameters(Node):
    """The parameters of a function."""

    type: Literal["object"]
    """Always `object`."""
    properties: dict[str, Parameter]
    """The parameters by name. `{}` for none."""
    required: tuple[str, ...] | None = None
    """Names of the parameters that the model must provide. Null: none."""


class Function(Node):
    """The description of a tool for the model."""

    name: str
    """The tool's name for the model. It can contain letters, digits, `_` and `-`. Other characters
    become `_`, and longer names are truncated to 64 characters. For an internal tool, the name
    selects the tool.
    """
    description: str
    """Describes to the model what the tool does and when to use it. Up to 1,024 characters."""
    parameters: FunctionParameters
    """The arguments that the model passes to the tool."""


class FunctionTool(Node):
    """A function in the format of OpenAI's API."""

    type: Literal["function"] = "function"
    """Always `function`."""
    function: Function
    """The tool's name, description and parameters, as the model sees them."""
