"""Make Python-Markdown read the docs as GitHub does: MkDocs calls this for each page."""

from __future__ import annotations

import re
from typing import Any

FENCED = re.compile(r"(?ms)(^```.*?^```$)")
ITEM = re.compile(r"(?:[-*]|\d+\.) ")
NESTED = re.compile(r"(?m)^ {2,3}(?=\S)")
CELL_CODE = re.compile(r"`[^`\n]*\\\|[^`\n]*`")
LINK_OUT_OF_DOCS = re.compile(r"\[([^\]]+)\]\((?:\.\./)+([^)#]+)[^)]*\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return the page with lists, table cells and links to the repository in Python-Markdown's form."""
    parts = FENCED.split(markdown)
    return "".join(part if part.startswith("```") else converted(part) for part in parts)


def converted(text: str) -> str:
    text = open_lists(NESTED.sub("    ", text))
    text = CELL_CODE.sub(lambda found: found[0].replace("\\|", "|"), text)
    return LINK_OUT_OF_DOCS.sub(r"\1 (`\2`)", text)


def open_lists(text: str) -> str:
    """Put an empty line between a paragraph and a list that directly follows it."""
    lines: list[str] = []
    in_list = False
    for line in text.split("\n"):
        follows_text = bool(lines) and bool(lines[-1].strip())
        if ITEM.match(line):
            if follows_text and not in_list:
                lines.append("")
            in_list = True
        elif line.strip() and not follows_text and not line.startswith(" "):
            in_list = False
        lines.append(line)
    return "\n".join(lines)
