"""Code in Markdown, told apart from text while it is written."""

import re

LONGEST_LINE = 200
"""Characters of a line that are looked at: a fence is at its beginning."""

_fence = re.compile(r"[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})")


class CodeFences:
    """Whether the next character stands outside of code: of blocks between fences, and of what
    follows a backtick at once, as in `<tag>`.
    """

    def __init__(self) -> None:
        self.fence = ""
        """The fence that the block has begun with, "" outside of one."""
        self.line = ""
        self.is_new = False
        """Whether the block has begun in this line."""

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
                self.fence = ""  # it was code within the line
        elif self.fence:
            said = self.line.strip(" \t\r>")
            if len(said) >= len(self.fence) and not said.strip(self.fence[0]):
                self.fence = ""
        self.line, self.is_new = "", False
