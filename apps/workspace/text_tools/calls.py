"""Parses tool calls that a model writes into its text, as the text arrives. Tags in Markdown code
are not calls.
"""

import re
import uuid
from collections.abc import Callable

from apps.agent.events import TextDelta
from apps.agent.model import Delta, ToolCallDelta

CALL = "tool_use"
CALLS = frozenset({CALL, "function_call"})
"""The names of the tags that contain calls. Models use either name."""
SEVERAL = "parallel_tool_calls"
RESULTS = "functions_result"
RESULT = "result"
LONGEST_TAG = 200
"""The maximum length of a tag in characters; longer text is not a tag."""
LONGEST_LINE = 200
"""Only this many characters at the beginning of a line are searched for a code fence."""
MOST_BLANKS = 200
"""The maximum number of buffered blanks. Further blanks are text, which counts toward the length of
an answer.
"""

_opening = re.compile(r"""<(\w+)\s(?:[^<>]*\s)?name\s*=\s*(["'])([^"'<>]{1,128})\2[^<>]*>""")
_bare = re.compile(r"</?(\w+)\s*>")
_beginning = re.compile(r"</?\w*(?:\s[^<>]*)?")
_name = re.compile(r"</?(\w*)")
_names = (*CALLS, SEVERAL, RESULTS)
_fence = re.compile(r"[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})")
_tag = re.compile(rf"<(?=/?\s*(?:{'|'.join((*sorted(CALLS), SEVERAL, RESULTS))})\b)", re.IGNORECASE)
_result_tag = re.compile(rf"<(?=/?\s*{RESULT}\b)", re.IGNORECASE)


class CallReader:
    """Splits the text of one answer into text and tool calls.

    It buffers only text that may be the beginning of a tag, and blanks before it. Tags in code are
    text. After the first call, further text is ignored, because a model that continues makes up the
    results. A tag inside a JSON string does not end a call.
    """

    def __init__(self) -> None:
        self.read: Callable[[str], None] = self.read_text
        self.fences = CodeFences()
        self.blanks = ""
        """Buffered blanks. They belong to the text only if text follows."""
        self.tag = ""
        """Buffered text that may be the beginning of a tag."""
        self.parts: list[str] = []
        """The parts of the text, or of a call's arguments, since the last delta."""
        self.deltas: list[Delta] = []
        self.calls = 0
        self.closing = ""
        """The closing tag of the current call, or "" outside of a call."""
        self.has_arguments = False
        self.is_quoted = False
        self.is_escaped = False

    def feed(self, text: str) -> list[Delta]:
        for character in text:
            self.read(character)
        return self.take_deltas()

    def end(self) -> list[Delta]:
        """Return the deltas for the buffered text. An unfinished call also counts as a call, so
        that the error about its arguments shows the model what is missing.
        """
        if self.closing:
            self.end_call()
        elif not self.calls:
            self.parts.append(self.blanks + self.tag)
        self.blanks = self.tag = ""
        return self.take_deltas()

    def take_deltas(self) -> list[Delta]:
        self.flush()
        deltas, self.deltas = self.deltas, []
        return deltas

    def flush(self) -> None:
        if part := "".join(self.parts):
            in_call = bool(self.closing)
            delta = ToolCallDelta(self.calls - 1, arguments=part) if in_call else TextDelta(part)
            self.deltas.append(delta)
        self.parts = []

    def read_text(self, character: str) -> None:
        if self.tag:
            self.read_tag(character)
        elif character == "<" and self.fences.is_outside:
            self.tag = character
        else:
            self.fences.feed(character)
            self.say(character)

    def say(self, text: str) -> None:
        if self.calls:
            return
        if text.isspace() and len(self.blanks) < MOST_BLANKS:
            self.blanks += text
        else:
            self.parts.append(self.blanks + text)
            self.blanks = ""

    def read_tag(self, character: str) -> None:
        tag = self.tag + character
        if character == ">" and self.take_tag(tag):
            self.tag = ""
        elif may_be_tag(tag):
            self.tag = tag
        else:  # It was text, but this character may begin a tag.
            said, self.tag = self.tag, ""
            self.fences.feed(said)
            self.say(said)
            self.read_text(character)

    def take_tag(self, tag: str) -> bool:
        """If the text is a tag of a call or of results, record what it begins or ends, and return
        True. Otherwise, return False.
        """
        if (opened := _opening.fullmatch(tag)) and opened[1] in CALLS:
            self.begin_call(opened[1], opened[3])
            if tag.endswith("/>"):
                self.end_call()
            return True
        if not (bare := _bare.fullmatch(tag)):
            return False
        if bare[1] == RESULTS and self.calls:
            self.read = self.ignore  # The model makes up the results.
            return True
        return bare[1] == SEVERAL or (bare[1] in CALLS and tag[1] == "/" and self.calls > 0)

    def ignore(self, character: str) -> None:
        """Ignore a character in the rest of an answer, because the model has begun to make up
        results.
        """

    def begin_call(self, tag: str, name: str) -> None:
        self.flush()
        self.blanks = ""
        self.closing = f"</{tag}>"
        self.has_arguments = self.is_quoted = self.is_escaped = False
        self.deltas.append(ToolCallDelta(self.calls, f"call_{uuid.uuid4().hex}", name))
        self.calls += 1
        self.read = self.read_arguments

    def read_arguments(self, character: str) -> None:
        if self.tag:
            self.tag += character
            if self.tag == self.closing:
                self.end_call()
            elif not self.closing.startswith(self.tag):
                said, self.tag = self.tag[:-1], ""
                self.argue(said)
                self.read_arguments(character)
        elif character == "<" and not self.is_quoted:
            self.tag = character
        else:
            self.argue(character)
            self.watch_quotes(character)

    def watch_quotes(self, character: str) -> None:
        if self.is_escaped:
            self.is_escaped = False
        elif character == "\\":
            self.is_escaped = self.is_quoted
        elif character == '"':
            self.is_quoted = not self.is_quoted

    def argue(self, text: str) -> None:
        if text.isspace() and not self.is_quoted and len(self.blanks) < MOST_BLANKS:
            self.blanks += text if self.has_arguments else ""
        else:
            self.parts.append(self.blanks + text)
            self.blanks, self.has_arguments = "", True

    def end_call(self) -> None:
        if not self.has_arguments:
            self.parts.append("{}")
        self.flush()
        self.blanks = self.tag = self.closing = ""
        self.read = self.read_text


def may_be_tag(text: str) -> bool:
    """Return True if `text` may be the beginning of a tag of a call or of results."""
    if len(text) > LONGEST_TAG or not _beginning.fullmatch(text):
        return False
    named = _name.match(text)
    name = named[1] if named else ""
    is_whole = named is not None and named.end() < len(text)
    return name in _names if is_whole else any(one.startswith(name) for one in _names)


class CodeFences:
    """Detects code in Markdown: blocks between fences, and text directly after a backtick, as in
    `<tag>`.
    """

    def __init__(self) -> None:
        self.fence = ""
        """The fence that began the current block, or "" outside a block."""
        self.line = ""
        self.is_new = False
        """True if the block began on this line."""

    @property
    def is_outside(self) -> bool:
        return not self.fence and not self.line.endswith("`")

    def feed(self, text: str) -> None:
        for character in text:
            if character == "\n":
                self.end_line()
            elif len(self.line) < LONGEST_LINE:
                self.line += character
                self.begin_block()
            else:
                self.line = self.line[:-1] + character

    def begin_block(self) -> None:
        if self.line[-1] not in "`~" or (self.fence and not self.is_new):
            return
        if opened := _fence.fullmatch(self.line):
            self.fence, self.is_new = opened[1], True

    def end_line(self) -> None:
        if self.is_new:
            begun = _fence.match(self.line)
            if begun and begun[1][0] == "`" and "`" in self.line[begun.end() :]:
                self.fence = ""  # It was inline code.
        elif self.fence:
            said = self.line.strip(" \t\r>")
            if len(said) >= len(self.fence) and not said.strip(self.fence[0]):
                self.fence = ""
        self.line, self.is_new = "", False


def escape_tags(text: str) -> str:
    """Return the text with the tags of calls and results escaped, so that a quoted tag is neither a
    call nor a result.
    """
    return _tag.sub("&lt;", text) if "<" in text else text


def escaped_result(text: str) -> str:
    return _result_tag.sub("&lt;", escape_tags(text)) if "<" in text else text


def escaped_json(text: str) -> str:
    """Return the JSON with the tags in its strings escaped, which does not change its meaning."""
    return _tag.sub(r"\\u003c", text) if "<" in text else text
