"""Schemas of services are converted to a manifest's parameters."""

from apps.console.studio.tool_sources.parameter_dialect import ParameterReader
from apps.console.studio.tool_sources.references import References


def test_a_list_of_itself_is_a_list_of_lists():
    schemas = {"Tree": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}
    reader = ParameterReader(References({"components": {"schemas": schemas}}))

    found = reader.parameter({"$ref": "#/components/schemas/Tree"}, "tree")

    inner = {"type": "array", "items": {"type": "string"}, "description": "A list."}
    assert found == {"type": "array", "items": inner, "description": "A list."}


def test_of_too_many_choices_the_first_are_named():
    choices = [f"c{number}" for number in range(5_000)]

    found = ParameterReader(References({})).parameter(
        {"type": "string", "enum": choices}, "kind", ""
    )

    text = "One of 5,000 values, such as c0, c1, c2, c3, c4."
    assert found == {"type": "string", "description": text}


def test_the_words_of_a_field_precede_its_choices():
    choices = list(range(201))
    schema = {"type": "integer", "description": "How many.", "enum": choices}

    found = ParameterReader(References({})).parameter(schema, "number", "")

    given = ParameterReader(References({})).parameter(schema, "number", "x" * 2_000)

    assert len(given["description"]) == 1_024
    assert given["description"].endswith("x One of 201 values, such as 0, 1, 2, 3, 4.")
    text = "How many. One of 201 values, such as 0, 1, 2, 3, 4."
    assert found == {"type": "integer", "description": text}
