"""Texts that services publish of themselves, in JSON or YAML, which nobody here has written."""

import json
import re
from typing import Any

from django.conf import settings

from apps.console.studio.tool_sources.yaml_text import YamlInvalid, read_yaml
from apps.manifest.json_document import document_problems

CHARACTERS_PER_VALUE = 10
"""About: large documents of services have 12 to 20."""
LEAST_VALUES = 100_000
"""Are counted in any document."""
MOST_YAML_CHARACTERS = 1_500_000
"""YAML takes many times as long to read as JSON does."""


_address = re.compile(r"(?:\w+://)?[\w.-]+\.\w{2,}(?::\d+)?(?:/\S*)?|https?://\S+")


class SourceInvalid(ValueError):
    """A text of a service that no tools can be made of; the message says where and why."""


def read_source(text: str) -> dict[str, Any]:
    """The object that a text in JSON or YAML holds. Raises `SourceInvalid`."""
    if not text.strip():
        raise SourceInvalid("There is no document: paste one, or give its address.")
    most = settings.OPENAPI_DOCUMENT_MB * 1_000_000
    if len(text) > most:
        raise SourceInvalid(
            f"The document has {len(text):,} characters; at most {most:,} are read. "
            "An administrator can raise OPENAPI_DOCUMENT_MB."
        )
    if text.lstrip().startswith("<"):
        raise SourceInvalid(
            "This is a web page, not an OpenAPI document. Give the address of its JSON or YAML."
        )
    document = json_or_yaml(text)
    if isinstance(document, str):
        raise SourceInvalid(what_text_is(document.strip()))
    # Aliases of YAML can multiply: a short text has no more values than its length allows.
    values = min(most // CHARACTERS_PER_VALUE, max(LEAST_VALUES, len(text)))
    if problems := document_problems(document, values, most):
        raise SourceInvalid(f"{problems[0]}.")
    assert isinstance(document, dict)  # noqa: S101 document_problems refuses everything else
    return document


def what_text_is(text: str) -> str:
    """Return what was pasted in place of a document, and what to do."""
    if _address.fullmatch(text):
        whole = text if "://" in text else f"https://{text}"
        return f"This is an address, not an OpenAPI document. Give it as the address: {whole[:200]}"
    return (
        "This is plain text, not an OpenAPI document. Paste the JSON or YAML of the document, "
        "which begins with its version of OpenAPI, or give its address."
    )


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
