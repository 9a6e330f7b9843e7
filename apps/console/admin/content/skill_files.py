"""Defines the form field for the files next to a SKILL.md. Each file has a path and a text."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django import forms
from django.utils.datastructures import MultiValueDict

from apps.catalog.content.items import LARGEST_FILE
from apps.manifest.json_text import unstorable
from apps.manifest.markdown.skill_files import (
    MOST_BYTES,
    MOST_FILES,
    TEXT_ENDINGS,
    decode_skill_file,
    path_problem,
)

SPARE = 2
"""Without JavaScript, the page shows this many empty pairs of inputs for new files."""
MOST_OPEN = 3
"""If there are more files than this, only files with errors are expanded."""


class SkillFile(NamedTuple):
    path: str
    text: str


class FileRow(NamedTuple):
    file: SkillFile
    problem: str = ""
    is_open: bool = False


def problems_of(files: list[SkillFile]) -> Iterator[str]:
    """Yield one text per file: the reason why it cannot be saved, or ""."""
    counts = Counter(file.path for file in files)
    for file in files:
        if not file.path:
            yield "has no path; enter one, such as 'examples/letter.md', or clear its text"
        elif counts[file.path] > 1:
            yield "occurs twice; change one of the paths"
        else:
            yield path_problem(file.path) or text_problem(file.text)


def text_problem(text: str) -> str:
    if found := next(unstorable(text), None):
        return found[1]
    try:
        decode_skill_file(text)
    except ValueError as error:
        return str(error)
    return ""


class FilesWidget(forms.Widget):
    """A widget with inputs for the path and text of each file. It works without JavaScript."""

    template_name = "admin/catalog/contentitem/files.html"
    # The limit applies to the size of the typed text, not of the encoded text.
    needs_multipart_form = True

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[SkillFile]:
        """Return the submitted files. Omit entries with neither a path nor a text."""
        if not isinstance(data, MultiValueDict):
            return files_of(data.get(name))
        pairs = zip(data.getlist(f"{name}-path"), data.getlist(f"{name}-text"), strict=False)
        typed = [SkillFile(path.strip(), with_line_feeds(text)) for path, text in pairs]
        return [file for file in typed if file.path or file.text]

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return False  # If there are no files, the browser sends no values for the field.

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        found = files_of(value)
        rows = [
            FileRow(file, problem, is_open=bool(problem) or len(found) <= MOST_OPEN)
            for file, problem in zip(found, problems_of(found), strict=True)
        ]
        return {
            **super().get_context(name, None, attrs),
            "rows": rows,
            "spare": [FileRow(SkillFile("", ""))] * SPARE,
            "blank": FileRow(SkillFile("", ""), is_open=True),
            "most_files": MOST_FILES,
            "most_bytes": MOST_BYTES,
            "most_together": LARGEST_FILE,
            "endings": " ".join(sorted(TEXT_ENDINGS)),
        }

    def id_for_label(self, id_: str) -> str:
        return ""  # The label belongs to a group of inputs.


class FilesField(forms.Field):
    """A form field whose value maps the paths of files to their texts."""

    widget = FilesWidget

    def prepare_value(self, value: Any) -> list[SkillFile]:
        return files_of(value)

    def to_python(self, value: Any) -> dict[str, str]:
        files = files_of(value)
        problems = [
            f"{file.path or 'A file'}: {problem}."
            for file, problem in zip(files, problems_of(files), strict=True)
            if problem
        ]
        if len(files) > MOST_FILES:
            problems.append(f"There are {len(files)} files; the limit is {MOST_FILES}.")
        if problems:
            raise forms.ValidationError(problems)
        return dict(files)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return sorted(files_of(initial)) != sorted(files_of(data))


def files_of(value: Any) -> list[SkillFile]:
    """Convert a stored value, which maps paths to texts, or a submitted list to a list of files."""
    if isinstance(value, Mapping):
        return [SkillFile(str(path), str(text)) for path, text in sorted(value.items())]
    return list(value or ())


def with_line_feeds(text: str) -> str:
    # Browsers send CRLF.
    return text.replace("\r\n", "\n").replace("\r", "\n")
