"""The features that work at each door, the tests that prove them, and their table in the docs.

`python -m tests.contract.features` writes docs/protocols.md.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.contract.sections import TESTS, marks

PAGE = TESTS.parent / "docs" / "protocols.md"
START = "<!-- Written by python -m tests.contract.features -->\n"
WORKS = "works"


@dataclass(frozen=True, slots=True)
class Door:
    """A column of the table. `docs` is its page."""

    title: str
    docs: str


@dataclass(frozen=True, slots=True)
class Lack:
    """A cell without the feature. `is_expressible`: the protocol has it, but the door does not."""

    reason: str
    is_expressible: bool = False

    @property
    def label(self) -> str:
        return "not yet" if self.is_expressible else "not expressible"


Cell = tuple[str, str]
"""A door and a feature."""

DOORS: Mapping[str, Door] = {
    "completions": Door("Chat completions", "gateway.md"),
    "responses": Door("Responses", "responses.md"),
    "messages": Door("Messages", "messages.md"),
    "mcp": Door("MCP", "mcp-server.md"),
    "a2a": Door("A2A", "a2a.md"),
    "ag-ui": Door("AG-UI", "ag-ui.md"),
    "conversations": Door("Conversations API", "task-api.md"),
    "page": Door("Chat page", "chat-protocol.md"),
}
"""The keys are the ids of the guides, except for the page."""

FEATURES: Mapping[str, str] = {
    "text": "The client receives the answer’s text",
    "tools": "The application’s tools run on the server, and the answer uses their results",
    "parallel tools": "The model calls several of these tools in one step",
    "client tools": "The model calls tools that the client offers and runs",
    "files in": "The user attaches a file",
    "files out": "The answer contains a file",
    "questions": "The application asks the user a question, and continues with the answer",
    "approvals": "The user approves a tool call before it runs",
    "cancel": "The client stops a running answer",
    "reconnect": "After a lost connection, the client receives the rest of the answer",
    "usage": "The client receives the answer’s input and output token counts",
    "errors": "The server reports a failed run in the protocol’s own format",
    "limits": "The server reports an exceeded rate limit in the protocol’s own format",
    "versions": "The client calls a specific version (`slug@3`)",
}

LACKS: Mapping[Cell, Lack] = {
    ("completions", "reconnect"): Lack(
        "Stream events have no IDs, and the API has no URL to resume a running answer."
    ),
    ("messages", "files out"): Lack(
        "Answers have blocks only for files from Anthropic’s own code execution."
    ),
    ("messages", "reconnect"): Lack(
        "Stream events have no IDs, and the API has no URL to resume a running answer."
    ),
    ("mcp", "client tools"): Lack(
        "Clients call the server’s tools, and cannot offer tools themselves."
    ),
    ("a2a", "client tools"): Lack(
        "Messages have parts for text, files and data, but not for tools."
    ),
    ("a2a", "usage"): Lack("Tasks and messages have no field for tokens."),
    ("ag-ui", "reconnect"): Lack(
        "Events have no IDs, and the protocol has no request to resume a running answer."
    ),
    ("conversations", "client tools"): Lack(
        "Tasks continue without their client, so the client may be unavailable when a tool must run. "
        "Use chat completions or the Responses API."
    ),
    ("page", "versions"): Lack(
        "The page’s URL contains no version. A conversation can keep the version with which it began."
    ),
}


def proofs() -> dict[Cell, list[str]]:
    """Return the tests of each cell as `path::name`."""
    found: dict[Cell, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "@proves_feature(" in text:
            for (door, *features), name in marks(ast.parse(text), "proves_feature"):
                for feature in features:
                    place = path.relative_to(TESTS).as_posix()
                    found.setdefault((door, feature), []).append(f"{place}::{name}")
    return found


def cells() -> list[Cell]:
    return [(door, feature) for feature in FEATURES for door in DOORS]


def render(lacks: Mapping[Cell, Lack] = LACKS) -> str:
    """Return the tables of the page."""
    notes = {
        cell: number for number, cell in enumerate((c for c in cells() if c in lacks), start=1)
    }
    heads = [f"[{door.title}]({door.docs})" for door in DOORS.values()]
    lines = [row("Feature", *heads), row(*["---"] * (len(heads) + 1))]
    for feature in FEATURES:
        shown = [
            f"{lacks[cell].label} ({notes[cell]})" if (cell := (door, feature)) in lacks else WORKS
            for door in DOORS
        ]
        lines.append(row(feature, *shown))
    reasons = [
        f"{number}. {DOORS[door].title}, {feature}: {lacks[door, feature].reason}"
        for (door, feature), number in notes.items()
    ]
    meanings = [row("Feature", "Description"), row("---", "---")]
    meanings += [row(feature, meaning) for feature, meaning in FEATURES.items()]
    blocks = (lines, reasons, ["## Features"], meanings)
    return "\n" + "\n\n".join("\n".join(block) for block in blocks) + "\n"


def row(*texts: str) -> str:
    return f"| {' | '.join(texts)} |"


def write(page: Path = PAGE) -> None:
    """Replace the tables of the page."""
    before = page.read_text(encoding="utf-8").partition(START)[0]
    page.write_text(before + START + render(), encoding="utf-8")


if __name__ == "__main__":
    write()
