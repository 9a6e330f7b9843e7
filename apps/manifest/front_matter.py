"""Front matter: the YAML block at the beginning of a Markdown document.

Its authors often do not know YAML, so a text with an unquoted colon is read as it was meant, with a
warning. It may come from strangers, so it is read as texts, lists and objects only; its size is
limited, and references, which could make it grow, are refused.
"""

import re
from dataclasses import dataclass

import yaml

from apps.manifest.problems import DocumentInvalid, Problem

LONGEST = 32_768
"""Characters of the block; the longest possible keys of a skill have some 2,000."""

PLACE = "front matter"
"""The path of problems of the whole block."""

Value = str | None | list["Value"] | dict[str, "Value"]
"""Scalars are the text as it was written, None for null."""

_fence = re.compile(r"^-{3,}[ \t]*$", re.MULTILINE)
_plain_line = re.compile(
    r"^([A-Za-z][\w-]*):[ \t]+([^\s\"'\[\]{}|>&*!#%@`].*?)[ \t]*$", re.MULTILINE
)
_NULL = "tag:yaml.org,2002:null"


class FrontMatterInvalid(DocumentInvalid): ...


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`values` by key, `body` the rest of the document, `warnings` about unquoted colons."""

    values: dict[str, Value]
    body: str
    warnings: tuple[Problem, ...] = ()


def read_front_matter(text: str) -> FrontMatter:
    """Raises `FrontMatterInvalid`."""
    block, body = split(text)
    if len(block) > LONGEST:
        raise refused(f"has {len(block):,} characters; at most {LONGEST:,} are possible")
    try:
        node = composed(block)
    except yaml.YAMLError as error:
        quoted, keys = quote_colons(block)
        try:
            node = composed(quoted)
        except yaml.YAMLError:
            raise refused(error_message(error)) from None
        warnings = (Problem(key, "has a colon; put the text into quotes") for key in keys)
        return FrontMatter(values_of(node), body, tuple(warnings))
    return FrontMatter(values_of(node), body)


def split(text: str) -> tuple[str, str]:
    """The block and what follows it. Raises `FrontMatterInvalid`."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").lstrip()
    opening = _fence.match(plain)
    if opening is None:
        raise refused(
            "is missing; begin the text with a line '---', then 'name: …' and "
            "'description: …', then another line '---'"
        )
    closing = _fence.search(plain, opening.end())
    if closing is None:
        raise refused("does not end; write a line '---' after its last key")
    return plain[opening.end() : closing.start()].strip("\n"), plain[closing.end() :].strip()


def composed(block: str) -> yaml.Node | None:
    """Raises `yaml.YAMLError`."""
    try:
        return yaml.compose(block, Loader=yaml.SafeLoader)
    except RecursionError:
        raise yaml.YAMLError("it is nested too deeply") from None
    except ValueError as error:  # `\U00110000` and the like in a quoted text
        raise yaml.YAMLError(str(error)) from None


def error_message(error: yaml.YAMLError) -> str:
    """PyYAML's message, with the line of the document, on whose second line the block begins."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        line = error.problem_mark.line + 2
        return f"is no YAML: line {line}: {error.problem or error.context}; mend or quote it"
    return f"is no YAML: {str(error).splitlines()[0]}; mend it"


def quote_colons(block: str) -> tuple[str, list[str]]:
    """The block with quotes around plain texts that have a colon, and the keys of those texts."""
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


def values_of(node: yaml.Node | None) -> dict[str, Value]:
    """Raises `FrontMatterInvalid`."""
    if not isinstance(node, yaml.MappingNode):
        raise refused("has no keys; write 'name: …' and 'description: …' between its lines '---'")
    found = value_of(node, set())
    assert isinstance(found, dict)  # noqa: S101 - a mapping becomes one
    return found


def value_of(node: yaml.Node, seen: set[int]) -> Value:
    """Raises `FrontMatterInvalid`, also for a node that stands in two places."""
    if id(node) in seen:
        raise refused_at(node, "anchors and aliases (&, *) are not possible; repeat the text")
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        return [value_of(member, seen) for member in node.value]
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Value] = {}
        for key, member in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise refused_at(key, "a key has to be a text")
            if key.value in found:
                raise refused_at(key, f"{key.value[:64]!r} is written twice; keep one of them")
            found[key.value] = value_of(member, seen)
        return found
    return None if node.tag == _NULL else str(node.value)


def refused_at(node: yaml.Node, message: str) -> FrontMatterInvalid:
    return refused(f"line {node.start_mark.line + 2}: {message}")


def refused(message: str) -> FrontMatterInvalid:
    return FrontMatterInvalid((Problem(PLACE, message),))
