"""What a conversation is called until somebody gives it a name."""

from __future__ import annotations

LONGEST = 80


def title_of(question: str) -> str:
    """The question on one line, cut at a word."""
    text = " ".join(question.split())
    if len(text) <= LONGEST:
        return text
    cut = text[: LONGEST - 1]
    words = cut.rsplit(" ", 1)[0] if text[LONGEST - 1] != " " else cut
    return f"{words.rstrip()}…"
