import math
from typing import Any

import pytest

from apps.manifest.validation.json_document import MAX_CHARACTERS, MAX_DEPTH, MAX_VALUES, TOO_LARGE
from apps.manifest.validation.validation import read_manifest, review
from tests.manifest.documents import manifest, rest_tool, rest_tools
from tests.measuring.counted_work import count_calls


def errors(document: object) -> list[tuple[str, str]]:
    return [(p.path, p.message) for p in review(document, preview=True).errors]


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


BROKEN = "contains invalid Unicode (half of a surrogate pair); remove it"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            manifest(contexts=[{"type": "user-defined", "content": "\ud83d"}]),
            [("contexts[0].content", BROKEN)],
        ),
        (manifest(**{"\ud83d": 1}), [('["\\ud83d"]', f"the key {BROKEN}")]),
        (
            manifest(tool_defaults={"timeout_seconds": math.nan}, x=[-math.inf]),
            [
                ("x[0]", "-inf is not a JSON number"),
                ("tool_defaults.timeout_seconds", "nan is not a JSON number"),
            ],
        ),
        (manifest(x=10**5000), [("x", "expected an integer of up to 64 bits")]),
        (
            manifest(x={1: 2, None: 3}),
            [
                ("x", "its keys must be strings; one is an integer"),
                ("x", "its keys must be strings; one is null"),
            ],
        ),
        (
            manifest(x=b"1", y=(1,)),
            [
                ("x", "expected a JSON value, found a Python value of type bytes"),
                ("y", "expected a JSON value, found a Python value of type tuple"),
            ],
        ),
        (manifest(x=[0] * MAX_VALUES), [("$", TOO_LARGE.format(MAX_VALUES, MAX_CHARACTERS))]),
        (manifest(x="y" * MAX_CHARACTERS), [("$", TOO_LARGE.format(MAX_VALUES, MAX_CHARACTERS))]),
    ],
    ids=["surrogate", "surrogate key", "nan", "integer", "keys", "types", "values", "size"],
)
def test_a_document_that_is_not_json(document, expected):
    assert errors(document) == expected


def test_how_deep_a_document_may_be():
    assert errors(manifest(x=nested(MAX_DEPTH - 2))) == []
    ((path, message),) = errors(manifest(x=nested(MAX_DEPTH - 1)))
    assert path.startswith("x.a.a.a")
    assert message == f"nested too deeply; the limit is {MAX_DEPTH} levels"


def test_a_very_deep_document_is_refused():
    ((_, message),) = errors(manifest(x=nested(100_000)))

    assert message == f"nested too deeply; the limit is {MAX_DEPTH} levels"


def test_a_document_that_contains_itself_is_refused():
    document: dict[str, Any] = manifest()
    document["x"] = document

    ((_, message),) = errors(document)

    assert message == f"nested too deeply; the limit is {MAX_DEPTH} levels"


def test_a_document_that_grows_by_sharing_is_refused():
    value: list[Any] = []
    for _ in range(60):
        value = [value] * 10
    value.append(math.nan)

    assert errors(manifest(x=value)) == [("$", TOO_LARGE.format(MAX_VALUES, MAX_CHARACTERS))]


def test_parameters_may_be_nested_as_deep_as_a_document():
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(60):
        schema = {"type": "array", "description": "x", "items": schema}
    parameter = {**schema, "parameter_info": {"type": "body", "key": "x"}}
    document = manifest(tool_sets=[rest_tools(rest_tool(parameters={"x": parameter}))])

    assert errors(document) == []
    assert read_manifest(document, preview=False).model_dump_json()


def test_the_work_for_a_manifest_grows_with_its_tools_and_no_faster():
    place = {"type": "query", "key": "k"}
    parameters = {f"p{n}": {"type": "string", "parameter_info": place} for n in range(5)}

    def with_many(count: int) -> dict[str, Any]:
        stage = {"stage": {"body": "x" * 400}}
        tools = [rest_tool(f"act{n}", parameters, display=stage) for n in range(count)]
        return manifest(tool_sets=[rest_tools(*tools)])

    few, many = with_many(10), with_many(50)
    read_manifest(many)  # builds the validators

    assert count_calls(lambda: read_manifest(many)) < 6 * count_calls(lambda: read_manifest(few))
