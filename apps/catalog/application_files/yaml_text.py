"""Parses hand-written YAML, converts it to JSON values, and records the line of each value.

Anchors, aliases, merge keys and tags are rejected, so that a short text cannot expand into a large
document.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from apps.manifest.json_text import DEEPEST, unstorable
from apps.manifest.problems import ROOT, join_path

TAG = "tag:yaml.org,2002:"


class YAMLTextInvalid(ValueError):
    """Raised if a text is not valid YAML, or contains values that JSON does not support. `line`
    counts from 1; 0 means unknown.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line


@dataclass(frozen=True, slots=True)
class YAMLDocument:
    """A parsed YAML document. `lines` maps the path of each key and list item to its line number."""

    value: Any
    lines: Mapping[str, int] = field(repr=False)

    def line(self, path: str) -> int:
        """Return the line number of the value at `path`, or of its nearest existing ancestor."""
        return nearest_line(self.lines, path)


def nearest_line(lines: Mapping[str, int], path: str) -> int:
    above = (one for one in lines if path == one or path.startswith((f"{one}.", f"{one}[")))
    return lines.get(max(above, key=len, default=""), 1)


def parse_yaml_text(text: str) -> YAMLDocument:
    """Parse a YAML text. Raises `YAMLTextInvalid` if the text is invalid or nested too deeply."""
    lines: dict[str, int] = {}
    try:
        node = composer().compose(text)
        value = None if node is None else value_of(node, "", lines)
    except MarkedYAMLError as error:
        raise YAMLTextInvalid(sentence_of(error), line_of(error)) from None
    except YAMLError as error:
        raise YAMLTextInvalid(f"not valid YAML: {str(error).splitlines()[0]}.") from None
    except RecursionError:
        raise YAMLTextInvalid(f"nested too deeply; the limit is {DEEPEST} levels.") from None
    for path, message in unstorable(value):
        place = "" if path == ROOT else path
        raise YAMLTextInvalid(f"{path}: {message}", nearest_line(lines, place))
    return YAMLDocument(value, lines)


def composer() -> YAML:
    """Return a new YAML parser. A parser stores state about the text that it parses, so parsers
    cannot be shared.
    """
    found = YAML(typ="rt", pure=True)
    found.preserve_quotes = True
    found.width = 1_000_000  # Do not wrap lines.
    found.representer.ignore_aliases = lambda data: True
    return found


def sentence_of(error: MarkedYAMLError) -> str:
    said = " ".join(str(part).strip() for part in (error.context, error.problem) if part)
    return f"not valid YAML: {said.splitlines()[0] if said else 'it cannot be read'}."


def line_of(error: MarkedYAMLError) -> int:
    mark = error.problem_mark or error.context_mark
    return 0 if mark is None else mark.line + 1


def value_of(node: Node, path: str, lines: dict[str, int]) -> Any:
    """Convert a YAML node to a JSON value, and add the lines of its values to `lines`. Raises
    `YAMLTextInvalid` if JSON does not support a value.
    """
    line = node.start_mark.line + 1
    lines.setdefault(path, line)
    if node.anchor is not None:
        raise YAMLTextInvalid(
            "anchors (&) and aliases (*) are not supported; repeat the value.", line
        )
    if isinstance(node, MappingNode) and is_plain(node, "map"):
        return mapping_of(node, path, lines)
    if isinstance(node, SequenceNode) and is_plain(node, "seq"):
        return [
            value_of(one, join_path(path, index), lines) for index, one in enumerate(node.value)
        ]
    if isinstance(node, ScalarNode) and str(node.tag) in SCALARS:
        try:
            return SCALARS[str(node.tag)](node.value)
        except ValueError:
            raise YAMLTextInvalid(f"{node.value[:40]!r} is not a JSON value.", line) from None
    raise YAMLTextInvalid(f"the tag {node.tag!s} is not supported; remove it.", line)


def is_plain(node: Node, kind: str) -> bool:
    return str(node.tag) == f"{TAG}{kind}"


def mapping_of(node: MappingNode, path: str, lines: dict[str, int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, member in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, ScalarNode) or str(key.tag) not in SCALARS or key.anchor is not None:
            raise YAMLTextInvalid("a key must be a string.", line)
        if key.value in found:
            raise YAMLTextInvalid(f"the key {key.value!r} occurs twice; remove one.", line)
        place = join_path(path, key.value)
        lines[place] = line
        found[key.value] = value_of(member, place, lines)
    return found


def integer(text: str) -> int:
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    return sign * int(digits, 0 if re.match("0[xo]", digits) else 10)


def number(text: str) -> float:
    found = float(text)
    if not isfinite(found):
        raise ValueError(text)
    return found


SCALARS: Mapping[str, Callable[[str], Any]] = {
    f"{TAG}str": str,
    f"{TAG}int": integer,
    f"{TAG}float": number,
    f"{TAG}bool": lambda text: text.lower() == "true",
    f"{TAG}null": lambda text: None,
    f"{TAG}timestamp": str,  # JSON has no dates.
}
