"""Writes documents as YAML, either as a new text or as changes to an existing text.

An existing text keeps its comments, quotes and key order. Only lines with changed values are
rewritten.
"""

from collections.abc import Callable
from io import StringIO
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from apps.catalog.application_files.yaml_text import YAMLTextInvalid, composer, parse_yaml_text
from apps.catalog.history.differences import canonical, pairs, same

INDENTED = (2, 4, 2)
"""The indentation, in columns, of mappings, of sequences, and of the dashes of sequence items."""


def write_yaml(document: Any) -> str:
    """Return YAML text that parses to exactly this document."""
    text = dump_tree(style_value(document), INDENTED)
    if parses_to(text, document):
        return text
    return dump_tree(
        style_value(document, quote_text), INDENTED
    )  # Plain YAML cannot represent some strings, so all are quoted.


def update_yaml(text: str, document: Any) -> str:
    """Update the YAML text to match the document by changing only lines with changed values. If
    that fails, write the document as new YAML.
    """
    if parses_to(text, document):
        return text
    try:
        parse_yaml_text(text)
        tree = composer().load(text)
        changed = dump_tree(merge_value(tree, document), indentation(text))
    except (YAMLTextInvalid, ValueError, TypeError, KeyError, AttributeError):
        return write_yaml(document)
    return changed if parses_to(changed, document) else write_yaml(document)


def parses_to(text: str, document: Any) -> bool:
    try:
        return canonical(parse_yaml_text(text).value) == canonical(document)
    except YAMLTextInvalid:
        return False


def dump_tree(tree: Any, indented: tuple[int, int, int]) -> str:
    yaml = composer()
    yaml.map_indent, yaml.sequence_indent, yaml.sequence_dash_offset = indented
    stream = StringIO()
    yaml.dump(tree, stream)
    return stream.getvalue()


def readable(text: str) -> str:
    """Return a multi-line text in YAML's block style, unless this would change the text."""
    lines = text.split("\n")
    is_block = len(lines) > 1 and text.strip() and all(line == line.rstrip() for line in lines)
    if not is_block or text.startswith((" ", "\n")):
        return text
    block: str = LiteralScalarString(text)
    return block


def quote_text(text: str) -> str:
    found: str = DoubleQuotedScalarString(text)
    return found


def style_value(value: Any, style: Callable[[str], str] = readable) -> Any:
    """Copy the value into a YAML tree, and apply `style` to its strings. Without the copy, objects
    that occur twice would be written as aliases.
    """
    if isinstance(value, dict):
        return CommentedMap(
            (quote_text(key) if style is quote_text else key, style_value(member, style))
            for key, member in value.items()
        )
    if isinstance(value, list):
        return CommentedSeq(style_value(item, style) for item in value)
    return style(value) if isinstance(value, str) else value


def merge_value(tree: Any, value: Any) -> Any:
    """Update the YAML tree to match the value, and return it. Unchanged parts keep their comments
    and style.
    """
    if isinstance(tree, CommentedMap) and isinstance(value, dict):
        for key in [key for key in tree if key not in value]:
            del tree[key]
        for key, member in value.items():
            if key not in tree:
                tree[key] = style_value(member)
            elif (found := merge_value(tree[key], member)) is not tree[key]:
                tree[key] = found
        return tree
    if isinstance(tree, CommentedSeq) and isinstance(value, list):
        return merged_list(tree, value)
    return tree if same(plain(tree), value) else style_value(value)


def merged_list(tree: CommentedSeq, value: list[Any]) -> CommentedSeq:
    paired = pairs([plain(item) for item in tree], value)
    kept = [old for old, new in paired if old is not None and new is not None]
    if kept != sorted(kept):
        return style_value(value)  # type: ignore[no-any-return]  # comments are tied to indices
    for index in sorted(set(range(len(tree))) - set(kept), reverse=True):
        del tree[index]
    for old, new in paired:
        if new is None:
            continue
        if old is None:
            tree.insert(new, style_value(value[new]))
        elif (found := merge_value(tree[new], value[new])) is not tree[new]:
            tree[new] = found
    return tree


def plain(tree: Any) -> Any:
    """Convert a YAML tree to JSON values. Dates become strings, as the user wrote them."""
    if isinstance(tree, dict):
        return {str(key): plain(member) for key, member in tree.items()}
    if isinstance(tree, list):
        return [plain(item) for item in tree]
    if tree is None or isinstance(tree, bool):
        return tree
    for kind in (int, float):
        if isinstance(tree, kind):
            return kind(tree)
    return str(tree)


def indentation(text: str) -> tuple[int, int, int]:
    """Return the indentation of a YAML text, as the three arguments of ruamel's `YAML.indent`."""
    node = composer().compose(text)
    mapping, sequence, dash = None, None, None
    waiting: list[Node] = [] if node is None else [node]
    for holder in waiting:
        if isinstance(holder, SequenceNode):
            waiting += holder.value
        for key, member in holder.value if isinstance(holder, MappingNode) else ():
            waiting.append(member)
            if isinstance(member, ScalarNode) or member.flow_style or not member.value:
                continue
            # A sequence begins at its first dash, a mapping at its first key.
            column = member.start_mark.column - key.start_mark.column
            if isinstance(member, MappingNode):
                mapping = mapping or column
            elif sequence is None:
                sequence = member.value[0].start_mark.column - key.start_mark.column
                dash = column
    if sequence is None or dash is None:
        sequence, dash = INDENTED[1:]
    return mapping or INDENTED[0], sequence, dash
