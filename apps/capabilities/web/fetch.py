"""Fetches a web page or file, and returns its text or saves it as a file."""

import asyncio
from dataclasses import dataclass, field
from functools import partial

from apps.agent.messages import Attachment
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Key, Opening
from apps.capabilities.web.page_text import NotText, block, read_page_text, to_markdown
from apps.capabilities.wrappers.file_references import bare
from apps.capabilities.wrappers.internal import show_result
from apps.capabilities.wrappers.value_texts import STAGE_CHARACTERS, shorten_text
from apps.documents.formats import PAGES
from apps.errors import FileChanged, FileRefused, InvalidParameter
from apps.workspace.egress.fetch import redact_url
from apps.workspace.loading.file_locations import home_path_problem, locate_file
from apps.workspace.loading.files import LoadedFile
from apps.workspace.loading.loader import last_segment, url_key
from apps.workspace.loading.shared_loads import SingleFlightCache

URL = "url"
SAVE_PATH = "save_path"
PREVIEW_BYTES = 1_000
CACHE_CHARACTERS = 4_000_000
"""A run caches pages with up to this many characters in total."""
CONVERSIONS_AT_ONCE = 2
CONVERSION_SECONDS = 20.0
"""The timeout in seconds for converting a page to Markdown."""

LANGUAGES = {
    "application/json": "json",
    "application/xml": "xml",
    "text/css": "css",
    "text/csv": "csv",
    "text/html": "markdown",
    "text/javascript": "javascript",
    "text/markdown": "markdown",
    "text/xml": "xml",
    "application/xhtml+xml": "markdown",
}


@dataclass(frozen=True, slots=True)
class Fetch:
    """A call to the tool that fetches web pages."""

    opening: Opening
    most_bytes: int
    """The result must be smaller than this many bytes."""

    async def answer(self, invocation: Invocation) -> ToolResult:
        """Fetch the URL in the arguments. Raises `InvalidParameter` if this fails, and
        `ServiceFailed` if a file cannot be stored.
        """
        url = external_url(str(invocation.arguments[URL]))
        path = invocation.arguments.get(SAVE_PATH)
        if path is None:
            result = ToolResult(await self.show(url))
        else:
            result = await self.keep(url, str(path))
        show_result(invocation, shorten_text(result.content, STAGE_CHARACTERS))
        return result

    async def show(self, url: str) -> str:
        file = await self.load(url)
        try:
            text = await self.read(url, file)
        except NotText:
            raise refusal(
                f"the content ({describe_file(file)}) is not text, so it cannot be shown. Set "
                f"{SAVE_PATH} to save it as a file."
            ) from None
        notice = (
            f"The content is too large to be shown as a whole: {describe_file(file)}. "
            f"This is its beginning; call again with {SAVE_PATH} to save all of it as a file."
        )
        return block(text, LANGUAGES.get(file.type, ""), self.most_bytes, notice)

    async def keep(self, url: str, path: str) -> ToolResult:
        if problem := home_path_problem(path):
            raise InvalidParameter(SAVE_PATH, f"{path[:200]!r} cannot be written: {problem}")
        file = await self.load(url)
        place = await self.opening.loader.home_path(path)
        try:
            info = await self.opening.workspace.files.write(
                place, file.content, file.type, is_new=True
            )
        except FileChanged as error:
            text = f"the file {path!r} already exists; choose another name."
            raise InvalidParameter(SAVE_PATH, text) from error
        except FileRefused as error:
            raise InvalidParameter(SAVE_PATH, str(error)) from error
        attachment = Attachment(file.type, last_segment(info.path), url=info.path)
        text = f"Saved as {path} ({describe_file(file)}).{await self.preview(url, file)}"
        return ToolResult(text, attachments=(attachment,))

    async def preview(self, url: str, file: LoadedFile) -> str:
        """Return a notice with the beginning of a text file, or "" for a binary file."""
        try:
            text = await self.read(url, file)
        except NotText:
            return ""
        excerpt = block(text, LANGUAGES.get(file.type, ""), PREVIEW_BYTES, "It begins:")
        return f"\n\n{excerpt}"

    async def load(self, url: str) -> LoadedFile:
        """Load the file at the URL. Raises `InvalidParameter` if it cannot be loaded."""
        try:
            return await self.opening.loader.load(url)
        except FileRefused as error:
            raise refusal(str(error)) from error

    async def read(self, url: str, file: LoadedFile) -> str:
        """Return the text of a file from the cache, or convert it. Raises `NotText` if the file is
        binary.
        """
        cache = self.opening.findings.get_or_make(PAGE_TEXTS, PageTextCache)
        read = partial(cache.read, url, file, self.opening.caller.bucket)
        return await cache.texts.get(url_key(url), read)


@dataclass(frozen=True, slots=True)
class PageTextCache:
    texts: SingleFlightCache[str] = field(
        default_factory=lambda: SingleFlightCache(CACHE_CHARACTERS, len)
    )
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONVERSIONS_AT_ONCE))

    async def read(self, url: str, file: LoadedFile, owner: str) -> str:
        """Return the text of a file. A web page is converted to Markdown. Raises `NotText` if the
        file is binary.
        """
        text = read_page_text(file)
        if file.type not in PAGES:
            return text
        async with self.turns:
            return await to_markdown(text, url, CONVERSION_SECONDS, owner)


PAGE_TEXTS = Key[PageTextCache]("web_pages")


def external_url(given: str) -> str:
    """Return the URL in the arguments. Raises `InvalidParameter` if it is not an external URL."""
    try:
        place = locate_file(bare(given.strip()))
    except FileRefused as error:
        raise refusal(str(error)) from error
    if place.kind == "stored":
        raise refusal(
            f"{redact_url(given)} is already in DIAL storage, so there is nothing to fetch."
        )
    if place.kind != "external":
        raise refusal(f"{redact_url(given)!r} cannot be fetched. Use an http(s) URL.")
    return place.address


def refusal(problem: str) -> InvalidParameter:
    return InvalidParameter(URL, problem)


def describe_file(file: LoadedFile) -> str:
    count = len(file.content)
    return f"{file.type or 'unknown type'}, {'1 byte' if count == 1 else f'{count:,} bytes'}"
