"""Turns short pieces of Markdown into plain text for lists."""

import re

# Markup of the whole text, of single lines and within lines, in the order of removal.
_front_matter = re.compile(r"\A-{3,}[ \t]*\n.*?(?:\n-{3,}[ \t]*(?:\n|\Z)|\Z)", re.DOTALL)
_lines = re.compile(
    r"^[ \t]*(?:(?:`{3,}|~{3,}).*"  # The fence of a code block.
    r"|\|?(?=.*[-|])[ \t:|-]+\|[ \t:|-]*"  # The line below the head of a table.
    r"|(?:[-*_=][ \t]*){3,})$",  # A rule, or the underline of a heading.
    re.MULTILINE,
)
_starts = re.compile(
    r"^[ \t]*(?:(?:>|#{1,6}(?=[ \t]|$)|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))[ \t]*)+"
    r"(?:\[[ xX]\][ \t]+)?",
    re.MULTILINE,
)
_images = re.compile(r"!\[([^\]]*)\](?:\([^)\n]*\)?|\[[^\]]*\])")
_note_links = re.compile(r"\[\[(?:([^\[\]|\n]+)\|)?([^\[\]|\n]+)\]\]")
_links = re.compile(r"\[([^\]]+)\](?:\([^)\n]*\)?|\[[^\]]*\])")
_addresses = re.compile(r"<((?:https?://|mailto:)[^>\s]+)>")
_code = re.compile(r"(?<!\\)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_emphasis = re.compile(r"(?<!\\)(\*{1,3}|~~|(?<!\w)_{1,3})(?=\S)(.+?)(?<=\S)(?:\1(?!\w)|(?<!_)\1)")
_cells = re.compile(r"[ \t]*(?<!\\)\|[ \t]*")
_escapes = re.compile(r"\\([!-/:-@\[-`{-~])")


def plain_text(text: str) -> str:
    """Return a text without its Markdown markup, on one line. If the text was truncated in the
    middle of markup, the rest of that markup remains. The running time is quadratic in the length
    of a line, so pass at most about a thousand characters.
    """
    text = _starts.sub("", _lines.sub("", _front_matter.sub("", text)))
    text = _note_links.sub(lambda found: found[1] or found[2], _images.sub(r"\1", text))
    text = _code.sub(r"\2", _addresses.sub(r"\1", _links.sub(r"\1", text)))
    for _ in range(2):  # Emphasis can contain emphasis.
        text = _emphasis.sub(r"\2", text)
    rows = (_cells.sub(" · ", line).strip(" ·") for line in text.split("\n"))
    return " ".join(_escapes.sub(r"\1", " ".join(rows)).split())
