"""Validates the arguments that the model passes to tools."""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec
from jsonschema.exceptions import ValidationError
from msgspec import structs

from apps.agent.messages import ToolCall
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Opening, PreparedTool
from apps.capabilities.wrappers.file_references import load_references
from apps.capabilities.wrappers.parameter_schemas import (
    Inject,
    object_with_constants,
    parameters_schema,
)
from apps.capabilities.wrappers.value_texts import (
    ERROR_CHARACTERS,
    one_line,
    shorten_text,
    value_text,
)
from apps.errors import InvalidParameter, ToolError
from apps.json_schemas.checks import CheckUnfinished, SchemaCheck
from apps.manifest.toolsets.parameters import FunctionParameters
from apps.manifest.toolsets.rest_parameters import RestFunctionParameters

MOST_VIOLATIONS = 20


@dataclass(frozen=True, slots=True)
class Arguments:
    """Describes and validates the arguments of a tool."""

    schema: Mapping[str, Any]
    """The JSON Schema for the model."""
    schema_check: SchemaCheck
    defaults: Mapping[str, Any]
    inject: Inject
    """A function that adds the constants to the arguments of a call."""

    @property
    def constants(self) -> Mapping[str, Any]:
        """Return the arguments that are the same in all calls, and that the model does not see."""
        constants: dict[str, Any] = self.inject({})
        return constants

    def check(self, given: Mapping[str, Any], unshown: Collection[str] = ()) -> dict[str, Any]:
        """Return the arguments with defaults and constants. Null for an optional parameter counts
        as omitted.

        Raises `InvalidParameter` if they do not match the schema, and `ToolError` if the check
        takes too long. The error does not quote the `unshown` arguments.
        """
        required = self.schema["required"]
        named = {k: v for k, v in given.items() if v is not None or k in required}
        named = {**self.defaults, **named}
        try:
            violations = self.schema_check.violations(named)
        except CheckUnfinished as error:
            raise ToolError(
                f"The arguments could not be checked: {error}. Send fewer or smaller arguments."
            ) from error
        if violations:
            raise refusal(sorted(violations, key=lambda each: each.json_path), unshown)
        complete: dict[str, Any] = self.inject(with_integers(named, self.schema))
        return complete


def with_integers(value: Any, schema: Any) -> Any:
    """Convert numbers such as 5.0 to integers where the schema requires an integer."""
    if not isinstance(schema, Mapping):
        return value
    match value:
        case float() if schema.get("type") == "integer" and value.is_integer():
            return int(value)
        case dict() if isinstance(properties := schema.get("properties"), Mapping):
            return {name: with_integers(v, properties.get(name)) for name, v in value.items()}
        case list():
            return [with_integers(item, schema.get("items")) for item in value]
        case _:
            return value


def read_arguments(parameters: FunctionParameters | RestFunctionParameters) -> Arguments:
    """Compile the parameters of a function. This is done once per manifest."""
    schema = parameters_schema(parameters)
    defaults = {
        name: parameter.default
        for name, parameter in parameters.properties.items()
        if parameter.default is not None and name in schema["properties"]
    }
    inject = partial(object_with_constants, parameters.properties)
    # A manifest has its own limits, and its parameters have no patterns and no references.
    check = SchemaCheck.of(schema, most_values=sys.maxsize)
    return Arguments(schema, check, defaults, inject)


def with_arguments(
    tool: PreparedTool, arguments: Arguments, addresses: Collection[str] = ()
) -> PreparedTool:
    """Return a tool whose work receives only valid arguments, with files loaded in place of
    references.

    Arguments in `addresses` are URLs of files, which are not loaded. Calls raise `InvalidParameter`
    if an argument is invalid.
    """

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        resolved = await load_references(invocation.arguments, opening.loader, addresses)
        checked = arguments.check(resolved.arguments, resolved.loaded)
        return await tool.work(opening, structs.replace(invocation, arguments=checked))

    return replace(tool, work=work, constants=arguments.constants)


def refusal(
    violations: Iterable[ValidationError], unshown: Collection[str] = ()
) -> InvalidParameter:
    found = dict.fromkeys(item for each in violations for item in problems(each, unshown))
    (path, text), *others = list(found)[:MOST_VIOLATIONS]
    lines = [text, *(f"Parameter {other} is invalid: {why}" for other, why in others)]
    return InvalidParameter(path, shorten_text("\n".join(lines), ERROR_CHARACTERS))


def problems(
    violation: ValidationError, unshown: Collection[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the path of each invalid parameter with a sentence about the problem."""
    path = parameter_path(violation.absolute_path)
    value: Any = violation.instance
    expected: Any = violation.validator_value
    found = f"found {kind_of(value)} {one_line(value_text(value), 60)}".rstrip()
    if violation.absolute_path and violation.absolute_path[0] in unshown:
        found = f"found {kind_of(value)} from a file"
    match violation.validator:
        case "required":
            for name in expected:
                if name not in value:
                    yield (
                        parameter_path((*violation.absolute_path, name)),
                        "it is required but missing.",
                    )
        case "enum":
            options = one_line(", ".join(map(value_text, expected)), 500)
            yield path, f"expected one of {options}; {found}."
        case "additionalProperties" | "unevaluatedProperties" if expected is False:
            yield from unknown_names(violation, path)
        case _:
            yield path, f"expected {value_text(expected)}; {found}."


def unknown_names(violation: ValidationError, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path of each unknown name in an object with a sentence that lists the valid
    names.
    """
    schema: Any = violation.schema
    given: Any = violation.instance
    taken = schema.get("properties", {})
    names = one_line(", ".join(f"`{name}`" for name in taken), 500)
    known = f"the valid names are {names}." if names else "no names are valid."
    whole = f"a property of `{path}`" if path else "a parameter of this tool"
    for name in given:
        if name not in taken:
            text = f"`{one_line(name, 60)}` is not {whole}; {known}"
            yield parameter_path((*violation.absolute_path, name)), text


def parameter_path(path: Iterable[str | int]) -> str:
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return text.removeprefix(".")


def kind_of(value: Any) -> str:
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}
    return "null" if value is None else kinds.get(type(value), "object")


def recorded_arguments(call: ToolCall) -> dict[str, Any]:
    """Return the arguments of an earlier call, or {} if they are not a JSON object."""
    try:
        arguments = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}
