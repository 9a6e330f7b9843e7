"""Texts that services publish of themselves, in JSON or YAML, which nobody here has written."""

import json
from typing import Any

from apps.console.studio.tool_sources.yaml_text import YamlInvalid, read_yaml
from apps.manifest.json_document import document_problems

MOST_CHARACTERS = 4_000_000
MOST_YAML_CHARACTERS = 1_500_000
"""YAML takes many times as long to read as JSON does."""


class SourceInvalid(ValueError):
    """A text of a service that no tools can be made of; the message says where and why."""


def read_source(text: str) -> dict[str, Any]:
    """The object that a text in JSON or YAML holds. Raises `SourceInvalid`."""
    if not text.strip():
        raise SourceInvalid("There is no document: paste one, or give its address.")
    if len(text) > MOST_CHARACTERS:
        raise SourceInvalid(f"The document has more than {MOST_CHARACTERS:,} characters.")
    if text.lstrip().startswith("<"):
        raise SourceInvalid(
            "This is a web page, not an OpenAPI document. Give the address of its JSON or YAML."
        )
    document = json_or_yaml(text)
    if problems := document_problems(document):
        raise SourceInvalid(f"{problems[0]}.")
    assert isinstance(document, dict)  # noqa: S101 document_problems refuses everything else
    return document


def json_or_yaml(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise SourceInvalid("The document is nested too deeply.") from None
    except json.JSONDecodeError as error:
        if text.lstrip().startswith('{"'):
            place = f"line {error.lineno}, column {error.colno}"
            raise SourceInvalid(f"This is not valid JSON: {error.msg}, {place}.") from None
    except ValueError as error:  # a number with more digits than Python reads
        raise SourceInvalid(f"This is not valid JSON: {error}.") from None
    if len(text) > MOST_YAML_CHARACTERS:
        most = f"more than {MOST_YAML_CHARACTERS:,} characters of YAML"
        raise SourceInvalid(f"The document has {most}; give it as JSON.")
    try:
        return read_yaml(text)
    except YamlInvalid as error:
        raise SourceInvalid(f"This is not valid YAML: {error}") from None
