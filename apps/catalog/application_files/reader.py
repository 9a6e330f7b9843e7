"""Reads an application from the files in its folder: `application.yaml`, the prompt, the icon,
skills and test cases.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import ValidationError as DjangoValidationError
from pydantic import ValidationError

from apps.catalog.application_files.document import DOCUMENT_FILE, PROMPT_FILE, with_prompt
from apps.catalog.application_files.file_kinds import APPLICATION
from apps.catalog.application_files.row_files import (
    ApplicationParts,
    ContentFile,
    ContentInvalid,
    read_columns,
    shape_problems,
)
from apps.catalog.application_files.yaml_text import YAMLDocument, YAMLTextInvalid, parse_yaml_text
from apps.catalog.icons.images import ICON_FILES, image_name
from apps.catalog.own_skills import SKILLS, skill_problems
from apps.manifest.json_text import unstorable
from apps.manifest.markdown.skill_files import SKILL_FILE

CASES = "cases"
IGNORED_FILES = frozenset({"README.md", "LICENSE", "LICENSE.md"})
"""Files for human readers in an application's folder. They are not imported."""
LARGEST_DOCUMENT = 1024 * 1024
"""The maximum size of a YAML file in bytes. Parsing takes about a second per 400,000 bytes."""


def read_application(slug: str, files: Mapping[str, bytes]) -> ContentFile:
    """Return the application in the folder `slug`. `files` maps paths to contents. Raises
    `ContentInvalid` if a file is invalid.
    """
    folder = f"{APPLICATION.name}/{slug}"
    problems: list[str] = [f"{folder}/{line}" for line in stray_files(files)]
    texts = texts_of(folder, files, problems)
    file = f"{folder}/{DOCUMENT_FILE}"
    document = parse_yaml(file, texts[DOCUMENT_FILE])
    key, fields = columns_of_document(file, document, slug)
    if key != slug:
        line = document.line("slug")
        raise ContentInvalid(
            ((f"{file}: line {line}: slug is {key!r}, but its folder is {slug!r}."),)
        )
    if PROMPT_FILE in texts:
        try:
            fields["manifest"] = with_prompt(fields["manifest"], texts[PROMPT_FILE])
        except ValueError as error:
            raise ContentInvalid((f"{folder}/{PROMPT_FILE}: {error}",)) from None
    icon = next((path for path in files if path in ICON_FILES), None)
    if icon is not None:
        fields["icon"] = icon_of(folder, files, fields["icon"])
    skills = skills_in(texts)
    if problems := [f"{folder}/{line}" for line in skill_problems(skills)]:
        raise ContentInvalid(tuple(problems))
    picture = None if icon is None else files[icon]
    parts = ApplicationParts(texts[DOCUMENT_FILE], skills, cases_in(texts), picture)
    return ContentFile(APPLICATION, file, slug, fields, document.lines, parts)


def stray_files(files: Mapping[str, bytes]) -> Iterator[str]:
    if DOCUMENT_FILE not in files:
        yield f"{DOCUMENT_FILE}: the file does not exist."
    for path in files:
        if path in {DOCUMENT_FILE, PROMPT_FILE} or path in IGNORED_FILES or path in ICON_FILES:
            continue
        folder, _, rest = path.partition("/")
        is_skill = folder == SKILLS and "/" in rest
        is_case = folder == CASES and rest.endswith(".yaml") and "/" not in rest
        if not (is_skill or is_case):
            yield (
                f"{path}: is not part of an application; allowed are {DOCUMENT_FILE}, "
                f"{PROMPT_FILE}, an icon.svg, icon.png or icon.webp, "
                f"{SKILLS}/<name>/{SKILL_FILE} with files next to it, and "
                f"{CASES}/<name>.yaml."
            )


def icon_of(folder: str, files: Mapping[str, bytes], written: str) -> str:
    """Return the name under which the icon in the folder will be stored. `written` is the value of
    `icon` in `application.yaml`.

    Raises `ContentInvalid` if the image is invalid or there is more than one icon.
    """
    file, *others = sorted(ICON_FILES & files.keys())
    if others or written:
        where = others[0] if others else DOCUMENT_FILE
        raise ContentInvalid((f"{folder}/{file}: {where} also has an icon; remove one of them.",))
    try:
        name = image_name(files[file])
    except DjangoValidationError as error:
        raise ContentInvalid((f"{folder}/{file}: {error.messages[0]}",)) from None
    if not name.endswith(file.removeprefix("icon")):
        ending = name.rpartition(".")[2]
        raise ContentInvalid(
            (
                f"{folder}/{file}: the content has a different type; rename the file to icon.{ending}.",
            )
        )
    return name


def decode_text(content: bytes) -> str:
    """Decode UTF-8 text. Raises `ValueError` with the line number of the first invalid character."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line}: not UTF-8; save the file as UTF-8.") from None
    if found := next(unstorable(text), None):
        line = text.count("\n", 0, max(text.find("\0"), 0)) + 1
        raise ValueError(f"line {line}: {found[1]}")
    return text


def parse_yaml(file: str, text: str) -> YAMLDocument:
    """Parse a YAML file that contains a mapping. Raises `ContentInvalid` if it is invalid or too
    large.
    """
    size = len(text.encode())
    if size > LARGEST_DOCUMENT:
        said = f"the file is {size:,} bytes; the limit is {LARGEST_DOCUMENT:,}."
        raise ContentInvalid((f"{file}: {said}",))
    try:
        document = parse_yaml_text(text)
    except YAMLTextInvalid as error:
        raise ContentInvalid((f"{file}: {error}",)) from None
    if not isinstance(document.value, dict):
        raise ContentInvalid((f"{file}: line 1: write keys and values, such as 'title: Travel'.",))
    return document


def columns_of_document(file: str, document: YAMLDocument, slug: str) -> tuple[str, dict[str, Any]]:
    """Return the application's slug, which defaults to `slug`, and the values of its database
    columns. Raises `ContentInvalid` with the line number of each error.
    """
    try:
        return read_columns(APPLICATION, document.value, slug)
    except ValidationError as error:
        found = shape_problems(APPLICATION, document.value, error)
        lines = (f"{file}: line {line_in(document, one)}: {one}" for one in found)
        raise ContentInvalid(tuple(lines)) from None


def line_in(document: YAMLDocument, problem: str) -> int:
    return document.line(problem.partition(": ")[0].strip("'"))


def texts_of(folder: str, files: Mapping[str, bytes], problems: list[str]) -> dict[str, str]:
    """Decode all files except icons, and return the texts by path. Raises `ContentInvalid` if
    `problems` is not empty or a file cannot be decoded.
    """
    texts: dict[str, str] = {}
    for path, content in files.items():
        if path in ICON_FILES:
            continue
        try:
            texts[path] = decode_text(content)
        except ValueError as error:
            problems.append(f"{folder}/{path}: {error}")
    if problems:
        raise ContentInvalid(tuple(problems))
    return texts


def cases_in(texts: Mapping[str, str]) -> dict[str, str]:
    beside = ((path.partition("/"), text) for path, text in texts.items())
    return {name: text for (folder, _, name), text in beside if folder == CASES}


def skills_in(texts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for path, text in texts.items():
        folder, _, rest = path.partition("/")
        if folder == SKILLS:
            name, _, inner = rest.partition("/")
            found.setdefault(name, {})[inner] = text
    return found
