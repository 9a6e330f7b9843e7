"""Finds the attachments of notes in their texts. The files are stored in the bucket of the notes'
owner.

`files/user-7/notes/plan.png` in a text is `attachments/plan.png` in an exported folder.
"""

import re

from apps.workspace.local.files.paths import ROOT, write_path

FOLDER = "notes/"
"""The folder for attachments in the owner's bucket."""
EXPORTED = "attachments/"


def attachment_path(owner: str, name: str) -> str:
    """Return the path of the owner's attachment with this name, in the form that notes contain."""
    return write_path(owner, f"{FOLDER}{name}")


def paths_in(owner: str, text: str) -> list[str]:
    """Return the distinct paths of the owner's attachments in a text, in order."""
    return list(dict.fromkeys(found[0] for found in stored_path(owner).finditer(text)))


def stored_path(owner: str) -> re.Pattern[str]:
    """Return a pattern for the paths of the owner's attachments in texts. A path is percent-encoded
    and ends where a URL in Markdown ends.
    """
    return re.compile(rf"(?<![\w/]){ROOT}/{re.escape(owner)}/{FOLDER}([^\s()<>\[\]\"'`]+)")


def exported_text(owner: str, text: str) -> str:
    return stored_path(owner).sub(lambda found: f"{EXPORTED}{found[1]}", text)


_exported = re.compile(
    rf"(?P<before>\]\(<?|\]:[ \t]*<?|(?:src|href)=[\"'])(?:\.{{1,2}}/)*{EXPORTED}"
)


def imported_text(owner: str, text: str) -> str:
    """Replace links to `attachments/` in an imported text with the paths of stored attachments."""
    return _exported.sub(lambda found: f"{found['before']}{ROOT}/{owner}/{FOLDER}", text)
