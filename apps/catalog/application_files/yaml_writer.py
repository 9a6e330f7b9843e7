"""Writes documents as YAML, in one form, or into a text that somebody has written.

A text of people keeps its comments, quotes and order: only lines whose values have changed differ.
"""

from collections.abc import Callable
from io import StringIO
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from apps.catalog.application_files.yaml_text import YAMLTextInvalid, composer, parse
from apps.catalog.history.differences import canonical, pairs, same

INDENTED = (2, 4, 2)
"""Columns of a mapping, of a sequence, and of the dash of its items."""


def write(document: Any) -> str:
    """A YAML text that reads as exactly this document."""
    text = dumped(styled(document), INDENTED)
    if reads_as(text, document):
        return text
    return dumped(styled(document, quoted), INDENTED)  # a text that plain YAML cannot hold


def written_into(text: str, document: Any) -> str:
    """The text with what differs in the document; the document written anew if that fails."""
    if reads_as(text, document):
        return text
    try:
        parse(text)
        tree = composer().load(text)
        changed = dumped(merged(tree, document), indentation(text))
    except (YAMLTextInvalid, ValueError, TypeError, KeyError, AttributeError):
        return write(document)
    return changed if reads_as(changed, document) else write(document)


def reads_as(text: str, document: Any) -> bool:
    try:
        return canonical(parse(text).value) == canonical(document)
    except YAMLTextInvalid:
        return False


def dumped(tree: Any, indented: tuple[int, int, int]) -> str:
    yaml = composer()
    yaml.map_indent, yaml.sequence_indent, yaml.sequence_dash_offset = indented
    stream = StringIO()
    yaml.dump(tree, stream)
    return stream.getvalue()


def readable(text: str) -> str:
    """Texts of several lines as a block, where that keeps every character."""
    lines = text.split("\n")
    is_block = len(lines) > 1 and text.strip() and all(line == line.rstrip() for line in lines)
    if not is_block or text.startswith((" ", "\n")):
        return text
    block: str = LiteralScalarString(text)
    return block


def quoted(text: str) -> str:
    found: str = DoubleQuotedScalarString(text)
    return found


def styled(value: Any, style: Callable[[str], str] = readable) -> Any:
    """A tree of its own, so that equal parts of a document do not become aliases."""
    if isinstance(value, dict):
        return CommentedMap(
            (quoted(key) if style is quoted else key, styled(member, style))
            for key, member in value.items()
        )
    if isinstance(value, list):
        return CommentedSeq(styled(item, style) for item in value)
    return style(value) if isinstance(value, str) else value


def merged(tree: Any, value: Any) -> Any:
    """The tree changed to the value, its unchanged parts left as they are."""
    if isinstance(tree, CommentedMap) and isinstance(value, dict):
        for key in [key for key in tree if key not in value]:
            del tree[key]
        for key, member in value.items():
            if key not in tree:
                tree[key] = styled(member)
            elif (found := merged(tree[key], member)) is not tree[key]:
                tree[key] = found
        return tree
    if isinstance(tree, CommentedSeq) and isinstance(value, list):
        return merged_list(tree, value)
    return tree if same(plain(tree), value) else styled(value)


def merged_list(tree: CommentedSeq, value: list[Any]) -> CommentedSeq:
    paired = pairs([plain(item) for item in tree], value)
    kept = [old for old, new in paired if old is not None and new is not None]
    if kept != sorted(kept):
        return styled(value)  # type: ignore[no-any-return]  # comments stand at places, not items
    for index in sorted(set(range(len(tree))) - set(kept), reverse=True):
        del tree[index]
    for old, new in paired:
        if new is None:
            continue
        if old is None:
            tree.insert(new, styled(value[new]))
        elif (found := merged(tree[new], value[new])) is not tree[new]:
            tree[new] = found
    return tree


def plain(tree: Any) -> Any:
    """JSON of a tree. Dates are the texts that they were written as."""
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
    """How a text indents, as its first mapping and its first sequence in a mapping show."""
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
