"""Quotes a note at the beginning of a question, so that the composer contains its link and its
text.
"""

from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.integers import read_integer
from apps.notes.spaces import space_of
from apps.notes.store import notes_of

QUOTED = 2_000
"""The maximum number of characters of the text that are quoted. An agent with the note tools can
read the whole note.
"""


def quote_of(caller: Caller, number: str) -> str:
    """Return the beginning of a question about a note of the caller, or "" if the note does not
    exist.
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
