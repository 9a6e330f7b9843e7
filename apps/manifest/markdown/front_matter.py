"""Parses front matter: the YAML block at the start of a Markdown document.

Many authors do not know YAML, so an unquoted colon in a value only causes a warning. The document
is untrusted: it is parsed only into strings, lists and objects, its size is limited, and YAML
aliases are rejected, because they could multiply its content.
"""

import re
from dataclasses import dataclass

import yaml

from apps.manifest.problems import DocumentInvalid, Problem

LONGEST = 32_768
"""The maximum number of characters in front matter. If all fields of a skill have their maximum
length, its front matter has about 2,000 characters.
"""

PLACE = "front matter"
"""The path of problems that concern the whole front matter."""

Value = str | None | list["Value"] | dict[str, "Value"]
"""A string as written, None for null, a list, or an object."""

_fence = re.compile(r"^-{3,}[ \t]*$", re.MULTILINE)
_plain_line = re.compile(
    r"^([A-Za-z][\w-]*):[ \t]+([^\s\"'\[\]{}|>&*!#%@`].*?)[ \t]*$", re.MULTILINE
)
_NULL = "tag:yaml.org,2002:null"


class FrontMatterInvalid(DocumentInvalid): ...


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Parsed front matter."""

    values: dict[str, Value]
    body: str
    """The text after the front matter."""
    warnings: tuple[Problem, ...] = ()
    """Warnings about unquoted colons."""


def read_front_matter(text: str) -> FrontMatter:
    """Parse a document with front matter. Raises `FrontMatterInvalid` if it is missing, invalid or
    too long.
    """
    block, body = split(text)
    if len(block) > LONGEST:
        raise refusal_error(f"has {len(block):,} characters; the limit is {LONGEST:,}")
    try:
        node = compose_node(block)
    except yaml.YAMLError as error:
        quoted, keys = quote_colons(block)
        try:
            node = compose_node(quoted)
        except yaml.YAMLError:
            raise refusal_error(error_message(error)) from None
        warnings = (Problem(key, "has a colon; quote the text") for key in keys)
        return FrontMatter(node_values(node), body, tuple(warnings))
    return FrontMatter(node_values(node), body)


def split(text: str) -> tuple[str, str]:
    """Return the text of the front matter and the text after it. Raises `FrontMatterInvalid`."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").lstrip()
    opening = _fence.match(plain)
    if opening is None:
        raise refusal_error(
            "is missing; begin the text with a line '---', then 'name: …' and "
            "'description: …', then another line '---'"
        )
    closing = _fence.search(plain, opening.end())
    if closing is None:
        raise refusal_error("does not end; add a line '---' after its last key")
    return plain[opening.end() : closing.start()].strip("\n"), plain[closing.end() :].strip()


def compose_node(block: str) -> yaml.Node | None:
    """Parse a YAML block into a node. Raises `yaml.YAMLError` if it is invalid."""
    try:
        return yaml.compose(block, Loader=yaml.SafeLoader)
    except RecursionError:
        raise yaml.YAMLError("it is nested too deeply") from None
    except ValueError as error:  # Raised for escapes such as `\U00110000`.
        raise yaml.YAMLError(str(error)) from None


def error_message(error: yaml.YAMLError) -> str:
    """Return PyYAML's message with the line number in the document, where the YAML block starts on
    line 2.
    """
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        line = error.problem_mark.line + 2
        return f"is not valid YAML: line {line}: {error.problem or error.context}; fix or quote it"
    return f"is not valid YAML: {str(error).splitlines()[0]}; fix it"


def quote_colons(block: str) -> tuple[str, list[str]]:
    """Quote the unquoted values in a YAML block that contain a colon. Return the new block and the
    keys of these values.
    """
    keys: list[str] = []

    def quoted(match: re.Match[str]) -> str:
        key, value = match.groups()
        if not has_colon(value):
            return match[0]
        keys.append(key)
        return f"{key}: '{value.replace(chr(39), 2 * chr(39))}'"

    return _plain_line.sub(quoted, block), keys


def has_colon(value: str) -> bool:
    return ": " in value or ":\t" in value or value.endswith(":")


def node_values(node: yaml.Node | None) -> dict[str, Value]:
    """Return the values of a YAML mapping by key. Raises `FrontMatterInvalid` if it is not a
    mapping or has an invalid value.
    """
    if not isinstance(node, yaml.MappingNode):
        raise refusal_error(
            "has no keys; add 'name: …' and 'description: …' between the '---' lines"
        )
    found = value_of(node, set())
    assert isinstance(found, dict)  # noqa: S101 - a mapping becomes one
    return found


def value_of(node: yaml.Node, seen: set[int]) -> Value:
    """Return the value of a YAML node. Raises `FrontMatterInvalid` if it is invalid or an alias."""
    if id(node) in seen:
        raise refused_at(node, "anchors and aliases (&, *) are not supported; repeat the text")
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        return [value_of(member, seen) for member in node.value]
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Value] = {}
        for key, member in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise refused_at(key, "a key must be a string")
            if key.value in found:
                raise refused_at(key, f"{key.value[:64]!r} occurs twice; remove one")
            found[key.value] = value_of(member, seen)
        return found
    return None if node.tag == _NULL else str(node.value)


def refused_at(node: yaml.Node, message: str) -> FrontMatterInvalid:
    return refusal_error(f"line {node.start_mark.line + 2}: {message}")


def refusal_error(message: str) -> FrontMatterInvalid:
    return FrontMatterInvalid((Problem(PLACE, message),))
