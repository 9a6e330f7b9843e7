"""Answers questions that suggest no tool. The answers state that no language model wrote them."""

import re
from collections.abc import Sequence
from pathlib import Path

from apps.agent.tool_titles import tool_title
from apps.agent.tools import ToolSpec

SHOWN_TOOLS = 12
MARKDOWN = Path(__file__).with_name("markdown.md").read_text("utf-8").strip()
STORY = Path(__file__).with_name("story.md").read_text("utf-8").strip()
INTRODUCTION = (
    "I am the **built-in demo model** of QuickApps. There is no language model behind me: I look "
    "for the tools that your words point to, call them, and show what they return."
)
NEXT_STEPS = (
    "For real answers, an administrator can add a deployment with an OpenAI-compatible service in "
    "the admin and choose it as the app's model."
)
TRICKS = (
    "- *Tell me a long story*, to watch an answer stream and to stop it\n"
    "- *Show me Markdown*, to see how text is formatted"
)
THANKED = "You are welcome. I am only the built-in demo, but I will call a tool any time."
OPENINGS = {
    r"\W*$": "You wrote no text, and I can read nothing else.",
    r".*\b(help|who are you|what (are|can|do) you(?! (remember|recall|know)\b.*\b(i|me|my)\b)"
    r"|how do you work|what tools)\b": INTRODUCTION,
    r"\W*(hi|hello|hey|good (morning|day|afternoon|evening)|greetings)\b": f"Hello! {INTRODUCTION}",
    r"\W*(thanks|thank you|great|cool|nice|bye|goodbye)\b": THANKED,
}
"""Maps question patterns to the beginnings of answers."""

_paragraphs = re.compile(r"\b(\d{1,3}) paragraphs?\b", re.IGNORECASE)
_story = re.compile(r"\b(?:story|tale|long(?:er)? (?:answer|text|reply))\b", re.IGNORECASE)


def long_text(question: str) -> str:
    """Return the story or its first paragraphs if the question asks for a long text,
    otherwise "".
    """
    if match := _paragraphs.search(question):
        return "\n\n".join(STORY.split("\n\n")[: max(int(match[1]), 1)])
    return STORY if _story.search(question) else ""


def greeting(question: str) -> str:
    """Return the answer to small talk, or "" for any other question."""
    said = (
        text for p, text in OPENINGS.items() if re.match(p, question, re.IGNORECASE | re.DOTALL)
    )
    return next(said, "")


def small_talk(question: str, tools: Sequence[ToolSpec], files: int) -> str:
    """Return the answer to a question that suggests no tool. `files` is the number of attached
    files.
    """
    opening = greeting(question) or f"I cannot answer that. {INTRODUCTION}"
    if "markdown" in question.casefold():
        return MARKDOWN
    if opening == THANKED:
        return THANKED
    return "\n\n".join([opening, *file_notes(tools, files), *abilities(tools), TRICKS, NEXT_STEPS])


def file_notes(tools: Sequence[ToolSpec], files: int) -> list[str]:
    if not files:
        return []
    seen = f"I see {files} attached file{'' if files == 1 else 's'}"
    if any(spec.name.endswith("file_read_lines") for spec in tools):
        return [f"{seen}. Name one, as in *Read lines 0 to 20 of notes.txt*."]
    return [f"{seen}, but I cannot read files."]


def abilities(tools: Sequence[ToolSpec]) -> list[str]:
    if not tools:
        return ["This app offers me no tools. You can still try:"]
    sentences = [
        re.split(r"(?<=[.!?])\s|\n", spec.description.strip(), maxsplit=1) for spec in tools
    ]
    lines = [
        f"- **{tool_title(spec.name)}**: {first[:160]}"
        for spec, (first, *_) in zip(tools[:SHOWN_TOOLS], sentences, strict=False)
    ]
    if len(tools) > SHOWN_TOOLS:
        lines.append(f"- … and {len(tools) - SHOWN_TOOLS} more")
    return ["This app offers me these tools:", "\n".join(lines), "You can also try:"]
