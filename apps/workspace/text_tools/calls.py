"""Calls of tools that a model writes into its text, read while it writes."""

import re
import uuid
from collections.abc import Callable

from apps.agent.events import TextDelta
from apps.agent.model import Delta, ToolCallDelta
from apps.workspace.text_tools.fences import CodeFences
from apps.workspace.text_tools.tags import CALLS, RESULTS, SEVERAL

LONGEST_TAG = 200
"""Characters; what is longer is text."""
MOST_BLANKS = 200
"""That are held back; more are text, which counts towards the length of an answer."""

_opening = re.compile(r"""<(\w+)\s(?:[^<>]*\s)?name\s*=\s*(["'])([^"'<>]{1,128})\2[^<>]*>""")
_bare = re.compile(r"</?(\w+)\s*>")
_beginning = re.compile(r"</?\w*(?:\s[^<>]*)?")
_name = re.compile(r"</?(\w*)")
_names = (*CALLS, SEVERAL, RESULTS)


class CallReader:
    """Turns the text of one answer into text and calls.

    Held back is only what may be the beginning of a tag, and blanks, which may stand before one.
    Within code there are no tags. After its first call an answer has no text any more: a model that
    goes on invents the results. A tag inside of a JSON text ends no call.
    """

    def __init__(self) -> None:
        self.read: Callable[[str], None] = self.read_text
        self.fences = CodeFences()
        self.blanks = ""
        """Held back: they belong to the text only if text follows."""
        self.tag = ""
        """Held back: a tag as far as it is written."""
        self.pieces: list[str] = []
        """Text, or arguments, since the last delta."""
        self.deltas: list[Delta] = []
        self.calls = 0
        self.closing = ""
        """The tag that ends the call that is being written."""
        self.has_arguments = False
        self.is_quoted = False
        self.is_escaped = False

    def feed(self, text: str) -> list[Delta]:
        for character in text:
            self.read(character)
        return self.taken()

    def end(self) -> list[Delta]:
        """What was held back. A call that has not ended is a call: its arguments say what is missing."""
        if self.closing:
            self.end_call()
        elif not self.calls:
            self.pieces.append(self.blanks + self.tag)
        self.blanks = self.tag = ""
        return self.taken()

    def taken(self) -> list[Delta]:
        self.flush()
        deltas, self.deltas = self.deltas, []
        return deltas

    def flush(self) -> None:
        if piece := "".join(self.pieces):
            in_call = bool(self.closing)
            delta = ToolCallDelta(self.calls - 1, arguments=piece) if in_call else TextDelta(piece)
            self.deltas.append(delta)
        self.pieces = []

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
            self.pieces.append(self.blanks + text)
            self.blanks = ""

    def read_tag(self, character: str) -> None:
        tag = self.tag + character
        if character == ">" and self.take_tag(tag):
            self.tag = ""
        elif may_be_tag(tag):
            self.tag = tag
        else:  # it was text, but this character may begin a tag
            said, self.tag = self.tag, ""
            self.fences.feed(said)
            self.say(said)
            self.read_text(character)

    def take_tag(self, tag: str) -> bool:
        """Whether it is a tag of the protocol."""
        if (opened := _opening.fullmatch(tag)) and opened[1] in CALLS:
            self.begin_call(opened[1], opened[3])
            if tag.endswith("/>"):
                self.end_call()
            return True
        if not (bare := _bare.fullmatch(tag)):
            return False
        if bare[1] == RESULTS and self.calls:
            self.read = self.ignore  # the model invents the results
            return True
        return bare[1] == SEVERAL or (bare[1] in CALLS and tag[1] == "/" and self.calls > 0)

    def ignore(self, character: str) -> None:
        """The rest of the answer is nothing."""

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
            self.pieces.append(self.blanks + text)
            self.blanks, self.has_arguments = "", True

    def end_call(self) -> None:
        if not self.has_arguments:
            self.pieces.append("{}")
        self.flush()
        self.blanks = self.tag = self.closing = ""
        self.read = self.read_text


def may_be_tag(text: str) -> bool:
    """Whether it is the beginning of a tag of the protocol."""
    if len(text) > LONGEST_TAG or not _beginning.fullmatch(text):
        return False
    named = _name.match(text)
    name = named[1] if named else ""
    is_whole = named is not None and named.end() < len(text)
    return name in _names if is_whole else any(one.startswith(name) for one in _names)
