"""Reads skills, which Core stores as folders: SKILL.md, and text files next to it."""

import logging
from urllib.parse import unquote

from django.conf import settings

from apps.errors import FileRefused, ServiceFailed
from apps.manifest.markdown.skill_files import SKILL_FILE, is_offered
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import encode_path
from apps.workspace.dial.resources import get_pages, reading, resource_path
from apps.workspace.port import StoredSkill
from apps.workspace.stored_files import display_path

logger = logging.getLogger(__name__)


class Skills:
    """Reads skills for one request. Each skill is listed once, and only listed files are read."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.listed: dict[str, tuple[tuple[str, ...], str]] = {}

    async def skill(self, path: str) -> StoredSkill:
        """Return a skill. If its files cannot be listed, it has no files.

        Raises `FileRefused` if the caller cannot read the skill, and `ServiceFailed` if Core fails.
        """
        folder = self.encoded_path(path)
        text = await self.text(folder, SKILL_FILE)
        files, problem = await self.files(folder)
        return StoredSkill(text, files, problem)

    async def skill_file(self, path: str, file: str) -> str:
        """Return the text of a file. Raises `FileRefused` if the caller cannot read it, and
        `ServiceFailed` if Core fails.
        """
        folder = self.encoded_path(path)
        files, _ = await self.files(folder)
        if file not in files:
            raise FileRefused(
                f"{display_path(file)} is not a file of the skill {display_path(path)}."
            )
        return await self.text(folder, file)

    def encoded_path(self, path: str) -> str:
        """Return the encoded path of the skill. Raises `FileMissing` for an invalid path."""
        return resource_path(self.calls.core, path.rstrip("/"), "skills")

    async def text(self, folder: str, file: str) -> str:
        name = f"{folder}/files/{encode_path(file.replace('%', '%25'))}"
        most = settings.DIAL_SKILLS_FILE_MAX_BYTES
        with reading(name, f"{display_path(file)} of the skill {display_path(folder)}", most):
            body = (await self.calls.get(f"/v2/{name}", most_bytes=most)).body
        try:
            return body.decode("utf-8-sig")
        except UnicodeError as error:
            raise FileRefused(
                f"{display_path(file)} of the skill {display_path(folder)} is not text."
            ) from error

    async def files(self, folder: str) -> tuple[tuple[str, ...], str]:
        if folder not in self.listed:
            self.listed[folder] = await self.list(folder)
        return self.listed[folder]

    async def list(self, folder: str) -> tuple[tuple[str, ...], str]:
        """Return the readable files in a skill, and the reason why the list is incomplete, or ""."""
        try:
            found, is_all = await get_pages(
                self.calls,
                f"/v2/metadata/{folder}/files",
                {"recursive": "true"},
                settings.DIAL_SKILLS_LISTING_MAX_PAGES,
            )
        except ServiceFailed as failure:
            logger.warning("Failed to list the files of the skill %s: %s", folder, failure)
            return (), "Its files cannot be listed."
        items = [item for item in found if item.get("nodeType") != "FOLDER"]
        names = {name_in(folder, str(item.get("url", ""))) for item in items}
        files = sorted(filter(is_offered, names))
        most = settings.DIAL_SKILLS_MAX_FILES
        if is_all and len(files) <= most:
            return tuple(files), ""
        logger.warning("The skill %s has too many files; listed only some of them", folder)
        return tuple(files[:most]), f"It has more files than the {len(files[:most])} listed."


def name_in(folder: str, url: str) -> str:
    """Return the name of a file relative to its skill's folder, or "" for a file outside the
    folder.
    """
    prefix = f"{unquote(folder)}/files/"
    plain = unquote(url)
    return plain.removeprefix(prefix) if plain.startswith(prefix) else ""
