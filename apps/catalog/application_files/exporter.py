"""Exports an application as files that `import_content` can read."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from apps.catalog.application_files.document import (
    DOCUMENT_FILE,
    PROMPT_FILE,
    by_name,
    document_text,
)
from apps.catalog.application_files.file_kinds import APPLICATION
from apps.catalog.application_files.parts import case_documents, source_of
from apps.catalog.application_files.reader import CASES
from apps.catalog.application_files.yaml_writer import write_yaml
from apps.catalog.icons.images import ICON_FILES, image_of
from apps.catalog.models import Application
from apps.catalog.own_skills import SKILLS, own_skills_of
from apps.catalog.slugs import slug_of
from apps.catalog.versions.drafts import draft_of, with_draft
from apps.manifest.credentials import find_credentials


class ExportRefused(Exception):
    """Raised if an application cannot be exported. Each problem is a line of the form
    `application/travel: path: error`.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def exported_files(
    application: Application, *, draft: bool = False, with_real_runs: bool = False
) -> dict[str, bytes]:
    """Return the files of an application by path, such as `application/<slug>/…`.

    The files describe the live version or, with `draft`, the draft. They contain the names of
    secrets, but not their values. `with_real_runs` includes test cases from real runs. Raises
    `ExportRefused` if the manifest contains a plain credential, or if there is no live version.
    """
    skills = None
    if draft:
        stored = draft_of(application)
        application, skills = with_draft(stored), stored.skills
    elif application.live_number == 0:
        message = "has only a draft, which is exported only on request."
        raise ExportRefused([f"application/{application.slug}: {message}"])
    refuse_credentials(application)
    source = source_of(application)
    names = ("slug", "title", "description", "icon", "public", "shared", "manifest")
    columns = {name: getattr(application, APPLICATION.columns.get(name, name)) for name in names}
    if (image := image_of(application.icon)) is not None:
        columns["icon"] = ""  # The icon is in a separate file.
    document, prompt = document_text(columns, source.text if source is not None else "")
    texts = {DOCUMENT_FILE: document}
    if prompt is not None:
        texts[PROMPT_FILE] = prompt
    for name, skill in own_skills_of(application, skills).items():
        texts |= {f"{SKILLS}/{name}/{path}": text for path, text in skill.items()}
    texts |= dict(case_texts(application, with_real_runs=with_real_runs))
    folder = f"{APPLICATION.name}/{application.slug}"
    files = {path: text.encode() for path, text in texts.items()}
    if image is not None:
        files[f"icon.{application.icon.rpartition('.')[2]}"] = image
    return {f"{folder}/{path}": content for path, content in sorted(files.items())}


def refuse_credentials(application: Application) -> None:
    """Raise `ExportRefused` if the application's manifest contains a plain credential."""
    plain = [place for place in find_credentials(application.manifest) if place.kind != "reference"]
    if plain:
        raise ExportRefused(
            (
                f"application/{application.slug}: manifest.{place.path}: is a plain "
                "credential, which cannot be exported; replace it with a secret first."
            )
            for place in plain
        )


def case_texts(application: Application, *, with_real_runs: bool) -> Iterator[tuple[str, str]]:
    used_names: set[str] = set()
    for document in chain.from_iterable(case_documents.call(application, with_real_runs)):
        name = free_name(slug_of(str(document.get("name", "")), 80) or "case", used_names)
        used_names.add(name)
        yield (
            f"{CASES}/{name}.yaml",
            write_yaml({key: by_name(document[key], {}) for key in document}),
        )


def free_name(name: str, used_names: set[str]) -> str:
    number = 1
    found = name
    while found in used_names:
        number += 1
        found = f"{name}-{number}"
    return found


def write_files(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write exported applications to the directory. Delete outdated files from an earlier export."""
    for path, content in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    for folder in {directory / APPLICATION.name / path.split("/")[1] for path in files}:
        for stale in former_files(folder):
            if stale.relative_to(directory).as_posix() not in files:
                stale.unlink()


def former_files(folder: Path) -> list[Path]:
    """Return the files in an application's folder that an earlier export may have written, but not
    files that users added.
    """
    icons = (folder / name for name in sorted(ICON_FILES))
    found: list[Any] = [folder / PROMPT_FILE, *icons, *folder.glob(f"{CASES}/*.yaml")]
    return [path for path in (*found, *folder.glob(f"{SKILLS}/*/**/*")) if path.is_file()]
