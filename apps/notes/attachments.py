"""Files of notes: they stand among the files of the notes' owner, and texts name them by their path.

`files/user-7/notes/plan.png` in a text is `attachments/plan.png` in a folder of notes.
"""

import re

from apps.workspace.local.paths import ROOT, write_path

FOLDER = "notes/"
"""Where in the owner's files they are."""
EXPORTED = "attachments/"


def path_of(owner: str, name: str) -> str:
    """The path of the file with that name, as a text has it."""
    return write_path(owner, f"{FOLDER}{name}")


def paths_in(owner: str, text: str) -> list[str]:
    """The files of the workspace that a text names, each once."""
    return list(dict.fromkeys(found[0] for found in stored_path(owner).finditer(text)))


def stored_path(owner: str) -> re.Pattern[str]:
    """Up to what ends an address in Markdown; paths are percent-encoded."""
    return re.compile(rf"(?<![\w/]){ROOT}/{re.escape(owner)}/{FOLDER}([^\s()<>\[\]\"'`]+)")


def exported_text(owner: str, text: str) -> str:
    return stored_path(owner).sub(lambda found: f"{EXPORTED}{found[1]}", text)


_exported = re.compile(
    rf"(?P<before>\]\(<?|\]:[ \t]*<?|(?:src|href)=[\"'])(?:\.{{1,2}}/)*{EXPORTED}"
)


def imported_text(owner: str, text: str) -> str:
    """The text with links into the folder of attachments turned into paths of stored files."""
    return _exported.sub(lambda found: f"{found['before']}{ROOT}/{owner}/{FOLDER}", text)
