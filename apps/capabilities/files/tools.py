"""Declares the file tools with their titles, descriptions, parameters and functions."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy

from apps.agent.tools import ToolResult
from apps.capabilities.files.context import Arguments, FileToolContext
from apps.capabilities.files.documents import read_lines
from apps.capabilities.files.file_lists import find_files, list_folder
from apps.capabilities.files.search import search_files
from apps.capabilities.files.write_tools import (
    copy_file,
    delete_file,
    edit_file,
    move_file,
    write_file,
)
from apps.capabilities.wrappers.display import Title
from apps.capabilities.wrappers.internal import parameters, text_parameter
from apps.manifest.features.files import FileTool
from apps.manifest.toolsets.parameters import (
    FunctionParameters,
    ParameterDisplay,
    ParameterStage,
    SimpleParameter,
)

PREFIX = "internal_file_"
READING: frozenset[FileTool] = frozenset({"list", "read_lines", "search", "find"})
"""The read-only file tools, which need no approval."""
OWN = "A path relative to your own folder, such as notes/plan.md."
ANY = (
    "A path relative to your own folder, such as notes/plan.md, or the whole path of a stored "
    "file, as files/... in attachments."
)
FOLDER = "A folder: relative to your own folder ('' is that itself), or a whole path, files/.../."
DOCUMENTS = (
    "Works on text, and on the text of PDF, Word, Excel, PowerPoint, EPUB and RTF files and of web "
    "pages, with a line such as [page 2 of 9] or [sheet Prices] where a page or a sheet begins."
)

Work = Callable[[FileToolContext, Arguments], Coroutine[Any, Any, ToolResult]]


@dataclass(frozen=True, slots=True)
class FileToolKind:
    title: Title
    description: str
    parameters: FunctionParameters
    work: Work
    streams: str = ""
    """The argument that the stage shows while the model is writing it, or ""."""

    @property
    def addresses(self) -> frozenset[str]:
        return frozenset({"path", "source", "destination"} & self.parameters.properties.keys())


def taking(*optional: str, **properties: SimpleParameter) -> FunctionParameters:
    """Return the schema of a tool's parameters. Parameters without a default are required, unless
    they are listed as optional.
    """
    required = (n for n, p in properties.items() if p.default is None and n not in optional)
    return parameters(dict(properties), *required)


def flag(description: str) -> SimpleParameter:
    return SimpleParameter(type="boolean", description=description, default=False)


def number(description: str, default: int | None = None) -> SimpleParameter:
    return SimpleParameter(type="integer", description=description, default=default)


CODE = ParameterDisplay(stage=ParameterStage(format="", order=1))
OVERWRITE = flag("True to replace an existing file.")

KINDS: dict[FileTool, FileToolKind] = {
    "list": FileToolKind(
        gettext_lazy("List files"),
        "Lists a folder, one line for each entry, with its size in bytes, or - for a folder.",
        taking(
            path=text_parameter(FOLDER),
            max_depth=number("The number of folder levels, 1 to 10.", 1),
        ),
        list_folder,
    ),
    "read_lines": FileToolKind(
        gettext_lazy("Read file lines"),
        f"Reads lines of a file. {DOCUMENTS}",
        taking(
            path=text_parameter(ANY),
            start_line=number("The first line; lines are counted from 0."),
            end_line=number("The line after the last one."),
        ),
        read_lines,
    ),
    "search": FileToolKind(
        gettext_lazy("Search in file"),
        f"Searches a file, or all files below a folder, for a text. {DOCUMENTS}",
        taking(
            "name_filter",
            path=text_parameter(f"{ANY} A folder ends with a slash; '' is your own folder."),
            pattern=text_parameter(
                "The text that a line must contain. It is not a regular expression."
            ),
            case_insensitive=flag("True to ignore case."),
            context_lines=number("The number of lines to show before and after each match.", 0),
            output_mode=text_parameter(
                "For a folder: show the matching lines, the files with matches, or the number of matches in each file.",
                "content",
                enum=("content", "files_with_matches", "count"),
            ),
            name_filter=text_parameter(
                "For a folder: a pattern for the names of files, such as *.md."
            ),
            max_depth=number("For a folder: the number of folder levels, 1 to 10.", 10),
        ),
        search_files,
    ),
    "find": FileToolKind(
        gettext_lazy("Find files"),
        "Finds files by their names. In the pattern, * and ? match characters of a name, and ** "
        "matches any folders. A pattern without a slash matches the name alone.",
        taking(
            pattern=text_parameter(
                "A pattern for paths relative to the folder, such as *.md or notes/**/plan-?.txt."
            ),
            path=text_parameter(FOLDER, ""),
            max_depth=number("The number of folder levels, 1 to 10.", 10),
        ),
        find_files,
    ),
    "write": FileToolKind(
        gettext_lazy("Write file"),
        "Writes a text file, and the folders that it needs.",
        taking(
            path=text_parameter(OWN),
            content=text_parameter("The complete text of the file.", display=CODE),
            content_type=text_parameter("The media type of the file.", "text/plain"),
            overwrite=OVERWRITE,
        ),
        write_file,
        streams="content",
    ),
    "edit": FileToolKind(
        gettext_lazy("Edit file"),
        "Replaces one passage in a text file.",
        taking(
            path=text_parameter(OWN),
            old_string=text_parameter(
                "The text to replace, exactly as in the file. It must occur there exactly once.",
                display=CODE,
            ),
            new_string=text_parameter("The replacement.", display=CODE),
        ),
        edit_file,
    ),
    "delete": FileToolKind(
        gettext_lazy("Delete file"),
        "Deletes a file.",
        taking(path=text_parameter(OWN)),
        delete_file,
    ),
    "copy": FileToolKind(
        gettext_lazy("Copy file"),
        "Copies a file into your own folder.",
        taking(source=text_parameter(ANY), destination=text_parameter(OWN), overwrite=OVERWRITE),
        copy_file,
    ),
    "move": FileToolKind(
        gettext_lazy("Move file"),
        "Moves or renames a file of your own folder.",
        taking(source=text_parameter(OWN), destination=text_parameter(OWN), overwrite=OVERWRITE),
        move_file,
    ),
}
