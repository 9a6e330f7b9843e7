"""Manages the files of notes, which are stored among the files of the notes' owner. Texts refer to
a file by its path.

`files/user-7/notes/plan.png` in a text is `attachments/plan.png` in an exported folder.
"""

import re

from apps.workspace.local.files.paths import ROOT, write_path

FOLDER = "notes/"
"""The folder of the owner's files in which attachments of notes are stored."""
EXPORTED = "attachments/"


def attachment_path(owner: str, name: str) -> str:
    """Return the path of the file with that name in the form that texts use."""
    return write_path(owner, f"{FOLDER}{name}")


def paths_in(owner: str, text: str) -> list[str]:
    """Return the workspace files that a text refers to, each once."""
    return list(dict.fromkeys(found[0] for found in stored_path(owner).finditer(text)))


def stored_path(owner: str) -> re.Pattern[str]:
    """Return a pattern for paths. A path is percent-encoded and ends like a URL in Markdown."""
    return re.compile(rf"(?<![\w/]){ROOT}/{re.escape(owner)}/{FOLDER}([^\s()<>\[\]\"'`]+)")


def exported_text(owner: str, text: str) -> str:
    return stored_path(owner).sub(lambda found: f"{EXPORTED}{found[1]}", text)


_exported = re.compile(
    rf"(?P<before>\]\(<?|\]:[ \t]*<?|(?:src|href)=[\"'])(?:\.{{1,2}}/)*{EXPORTED}"
)


def imported_text(owner: str, text: str) -> str:
    """Return the text in which links to files in the folder of attachments are replaced with the
    paths of the stored files.
    """
    return _exported.sub(lambda found: f"{found['before']}{ROOT}/{owner}/{FOLDER}", text)
