"""Contains the texts of the forms that publish, which the studio's dialog and the pages share."""

from typing import Any

from apps.catalog.actions.go_live import LONGEST_NOTE, NOTE_MISSING

PUBLISHING_TEXTS: dict[str, Any] = {
    "note": "Release note",
    "hint": "What is new?",
    "missing": NOTE_MISSING,
    "longest": LONGEST_NOTE,
    "first": "The first version",
    "only_new": "Use it only for new conversations; existing ones keep their version",
    "audience": "Users can start using this version. Access defines who can use it.",
    "anyway": "Publish the draft anyway",
    "checks": "Checks",
    "no_issues": "No issues",
    "review": "Another user, who has not changed this draft, publishes it or sends it back. Any change withdraws the request.",
}
"""The values by name. `first` is the default note of the first version, `audience` describes what
publishing it does, and `longest` is the limit of the note in characters.
"""
