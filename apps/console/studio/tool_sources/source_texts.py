"""Fetches and parses untrusted OpenAPI documents in JSON or YAML."""

import json
import re
from typing import Any

from asgiref.sync import async_to_sync

from apps.console.studio.tool_sources.yaml_text import YamlInvalid, read_yaml
from apps.errors import EgressRefused
from apps.manifest.json_text import TOO_MANY_DIGITS
from apps.manifest.validation.json_document import document_problems
from apps.workspace.egress.fetch import FetchRefused, fetch
from apps.workspace.egress.fetch_policy import OperatorPolicy
from apps.workspace.egress.guard import unknown_host

MOST_CHARACTERS = 32_000_000
"""The maximum length of a document. The largest known one, GitHub's, has 13 million characters."""
CHARACTERS_PER_VALUE = 10
"""The longest document may have one value per this many characters. The documents of large services
have 12 to 20 characters per value.
"""
LEAST_VALUES = 100_000
"""The maximum number of values in a short document. Longer documents may have as many values as
characters.
"""
MOST_YAML_CHARACTERS = 1_500_000
"""The maximum length of a YAML document. Parsing YAML is many times slower than parsing JSON."""
FETCH_SECONDS = 20.0

_address = re.compile(r"(?:\w+://)?[\w.-]+\.\w{2,}(?::\d+)?(?:/\S*)?|https?://\S+")


class SourceInvalid(ValueError):
    """The document, server or command cannot be used. The message contains the reason."""


def read_source(text: str) -> dict[str, Any]:
    """Parse a JSON or YAML object. Raises `SourceInvalid` if it is invalid or too large."""
    if not text.strip():
        raise SourceInvalid("Paste a document, or enter its URL.")
    if len(text) > MOST_CHARACTERS:
        raise SourceInvalid(
            f"The document has {len(text):,} characters; the limit is {MOST_CHARACTERS:,}."
        )
    if text.lstrip().startswith("<"):
        raise SourceInvalid(
            "This is a web page, not an OpenAPI document. Enter the URL of its JSON or YAML."
        )
    document = json_or_yaml(text)
    if isinstance(document, str):
        raise SourceInvalid(what_text_is(document.strip()))
    # YAML aliases can multiply, so a text may have no more values than its length allows.
    values = min(MOST_CHARACTERS // CHARACTERS_PER_VALUE, max(LEAST_VALUES, len(text)))
    if problems := document_problems(document, values, MOST_CHARACTERS):
        raise SourceInvalid(f"{problems[0]}.")
    assert isinstance(document, dict)  # noqa: S101 document_problems refuses everything else
    return document


def what_text_is(text: str) -> str:
    """Return an error message with advice for a text that is a URL or plain prose."""
    if _address.fullmatch(text):
        whole = text if "://" in text else f"https://{text}"
        return f"This is a URL, not an OpenAPI document. Enter it in the URL field: {whole[:200]}"
    return (
        "This is plain text, not an OpenAPI document. Paste the JSON or YAML of the document, "
        "which begins with its OpenAPI version, or enter its URL."
    )


def json_or_yaml(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise SourceInvalid("The document is nested too deeply.") from None
    except json.JSONDecodeError as error:
        if text.lstrip().startswith('{"'):
            location = f"line {error.lineno}, column {error.colno}"
            raise SourceInvalid(f"This is not valid JSON: {error.msg}, {location}.") from None
    except ValueError:
        raise SourceInvalid(f"This is not valid JSON: {TOO_MANY_DIGITS}") from None
    if len(text) > MOST_YAML_CHARACTERS:
        most = f"more than {MOST_YAML_CHARACTERS:,} characters of YAML"
        raise SourceInvalid(f"The document has {most}. Convert it to JSON.")
    try:
        return read_yaml(text)
    except YamlInvalid as error:
        raise SourceInvalid(f"This is not valid YAML: {error}") from None


def fetch_source(url: str) -> str:
    """Fetch the text at a URL that an operator entered. Raises `SourceInvalid` if that fails or the
    URL is blocked.
    """
    if "://" not in url:
        raise SourceInvalid(f"The URL has no scheme: write https://{url[:200]}")
    try:
        found = async_to_sync(fetch)(url, OperatorPolicy(), MOST_CHARACTERS, seconds=FETCH_SECONDS)
    except FetchRefused as error:
        # The guard's message explains how an operator can fix the problem.
        cause = error.__cause__
        told = unknown_host(error) or str(cause if isinstance(cause, EgressRefused) else error)
        raise SourceInvalid(told) from error
    return found.content.decode("utf-8-sig", "replace")
