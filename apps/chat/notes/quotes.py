"""Quotes a note in the message box, so that the user can ask a question about it."""

from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.integers import read_integer
from apps.notes.spaces import space_of
from apps.notes.store import notes_of

QUOTED = 2_000
"""The maximum number of quoted characters. The application's agent can read the whole note with its
tools.
"""


def quote_of(caller: Caller, number: str) -> str:
    """Return a link to the caller's note with this primary key, followed by an excerpt of the note.
    Return "" if there is no such note.
    """
    space = space_of(caller)
    note = (
        notes_of(space.owner).filter(pk=read_integer(number) or 0).first()
        if space is not None
        else None
    )
    if note is None:
        return ""
    text = note.text.strip()
    shown = text if len(text) <= QUOTED else f"{text[:QUOTED]}…"
    quoted = "\n".join(f"> {line}".rstrip() for line in shown.split("\n")) if shown else ""
    return "\n\n".join(
        filter(None, (gettext("About the note [[{title}]]:").format(title=note.title), quoted, " "))
    ).rstrip(" ")
