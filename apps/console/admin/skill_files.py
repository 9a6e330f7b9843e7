"""The form field for the files beside a SKILL.md: a path and a text each."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django import forms
from django.utils.datastructures import MultiValueDict

from apps.catalog.content.items import LARGEST_FILE
from apps.catalog.json_text import unstorable
from apps.manifest.skill_files import MOST_BYTES, MOST_FILES, TEXT_ENDINGS, path_problem, read_text

SPARE = 2
"""Empty pairs of inputs, for pages without the script that adds them."""
MOST_OPEN = 3
"""Up to so many files are unfolded; of more, only the ones with mistakes."""


class File(NamedTuple):
    path: str
    text: str


class FileRow(NamedTuple):
    file: File
    problem: str = ""
    is_open: bool = False


def problems_of(files: list[File]) -> Iterator[str]:
    """For each file the reason why it cannot be saved, or ""."""
    counts = Counter(file.path for file in files)
    for file in files:
        if not file.path:
            yield "has no path; write one, such as 'examples/letter.md', or empty its text"
        elif counts[file.path] > 1:
            yield "is there twice; give one of them another path"
        else:
            yield path_problem(file.path) or text_problem(file.text)


def text_problem(text: str) -> str:
    if found := next(unstorable(text), None):
        return found[1]
    try:
        read_text(text)
    except ValueError as error:
        return str(error)
    return ""


class FilesWidget(forms.Widget):
    """Repeated pairs of inputs; they work without scripts, too."""

    template_name = "admin/catalog/contentitem/files.html"
    needs_multipart_form = True  # its size counts as it is typed, not as it is encoded

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[File]:
        """As it was typed, but for files with neither path nor text: there are none."""
        if not isinstance(data, MultiValueDict):
            return files_of(data.get(name))
        pairs = zip(data.getlist(f"{name}-path"), data.getlist(f"{name}-text"), strict=False)
        typed = [File(path.strip(), with_line_feeds(text)) for path, text in pairs]
        return [file for file in typed if file.path or file.text]

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return False  # without files, nothing is sent

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        found = files_of(value)
        rows = [
            FileRow(file, problem, is_open=bool(problem) or len(found) <= MOST_OPEN)
            for file, problem in zip(found, problems_of(found), strict=True)
        ]
        return {
            **super().get_context(name, None, attrs),
            "rows": rows,
            "spare": [FileRow(File("", ""))] * SPARE,
            "blank": FileRow(File("", ""), is_open=True),
            "most_files": MOST_FILES,
            "most_bytes": MOST_BYTES,
            "most_together": LARGEST_FILE,
            "endings": " ".join(sorted(TEXT_ENDINGS)),
        }

    def id_for_label(self, id_: str) -> str:
        return ""  # the label belongs to a group of inputs


class FilesField(forms.Field):
    """A dictionary of texts by path."""

    widget = FilesWidget

    def prepare_value(self, value: Any) -> list[File]:
        return files_of(value)

    def to_python(self, value: Any) -> dict[str, str]:
        files = files_of(value)
        problems = [
            f"{file.path or 'A file'}: {problem}."
            for file, problem in zip(files, problems_of(files), strict=True)
            if problem
        ]
        if len(files) > MOST_FILES:
            problems.append(f"There are {len(files)} files; at most {MOST_FILES} are possible.")
        if problems:
            raise forms.ValidationError(problems)
        return dict(files)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return sorted(files_of(initial)) != sorted(files_of(data))


def files_of(value: Any) -> list[File]:
    """From a row's texts by path, or from typed files."""
    if isinstance(value, Mapping):
        return [File(str(path), str(text)) for path, text in sorted(value.items())]
    return list(value or ())


def with_line_feeds(text: str) -> str:
    # Browsers send CRLF.
    return text.replace("\r\n", "\n").replace("\r", "\n")
