"""Replaces file references in arguments, `file:{prefix}::{path or URL}`, with the files' content.

The tool receives the content. The conversation and the stage contain only the reference.
"""

import asyncio
import base64
import re
from collections.abc import Collection, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from apps.errors import FileRefused, InvalidParameter, QuickAppError
from apps.workspace.loading.loader import Loader

T = TypeVar("T")
MISSING_PREFIX = "Missing required file prefix (base64::, url::, text::)"
INSTEAD = "Use base64:: or url:: instead"
MOST_FILES = 50
MOST_BYTES = 64 * 1024 * 1024
"""The limit in bytes on the total size of a call's files, which become part of its arguments."""

_reference = re.compile(r"/*file:(?:(base64|text|url|data)::\s*)?(\S.*|)", re.IGNORECASE)
_signatures = {
    "PNG": (b"\x89PNG\r\n\x1a\n",),
    "JPEG": (b"\xff\xd8\xff",),
    "GIF": (b"GIF87a", b"GIF89a"),
    "PDF": (b"%PDF-",),
    "ZIP": (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"),
}


@dataclass(frozen=True, slots=True)
class FileReference:
    prefix: str
    """One of `base64`, `text`, `url` and `data`."""
    url: str


@dataclass(frozen=True, slots=True)
class ResolvedFiles:
    """The arguments of a call after files were loaded."""

    arguments: Mapping[str, Any]
    loaded: frozenset[str] = frozenset()
    """The names of the arguments that contain files."""


def read_reference(text: str) -> FileReference | None:
    """Parse a reference, or return None for other text. Raises `FileRefused` if the reference is
    incomplete.
    """
    found = _reference.fullmatch(text)
    if found is None:
        return None
    prefix, url = found[1], found[2].strip()
    if prefix is None:
        if not url:
            return None  # The text is only "file:", which may be the end of a sentence.
        raise FileRefused(MISSING_PREFIX)
    if not url:
        raise FileRefused(f"The file reference {found[0]!r} contains no path.")
    return FileReference(prefix.lower(), url)


def bare(text: str) -> str:
    """Return the path or URL in a reference, or any other text unchanged. Raises `FileRefused` if
    the reference is incomplete.
    """
    reference = read_reference(text)
    return text if reference is None else reference.url


async def load_references(
    given: Mapping[str, Any], loader: Loader, addresses: Collection[str] = ()
) -> ResolvedFiles:
    """Concurrently load the files to which arguments and list elements refer.

    Arguments in `addresses` are URLs of files, which are not loaded. If a file cannot be loaded,
    raises `InvalidParameter` after all other loads have ended.
    """
    work = ReferenceLoader(loader, frozenset(addresses))
    names = [name for name, value in given.items() if may_refer(value)]
    if not names:
        return ResolvedFiles(given)
    values = await all_of(work.argument(name, given[name]) for name in names)
    return ResolvedFiles({**given, **dict(zip(names, values, strict=True))}, frozenset(work.loaded))


async def all_of(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines concurrently, and return their results in order. Raises the first error once
    all of them have ended.
    """
    outcomes = await asyncio.gather(*work, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [one for one in outcomes if not isinstance(one, BaseException)]


def may_refer(value: Any) -> bool:
    texts = value if isinstance(value, list) else [value]
    return any(isinstance(text, str) and _reference.fullmatch(text) for text in texts)


class ReferenceLoader:
    """Loads the files in one call's arguments, up to a total size."""

    def __init__(self, loader: Loader, addresses: frozenset[str]) -> None:
        self.loader = loader
        self.addresses = addresses
        self.loaded: set[str] = set()
        self.files = 0
        self.bytes = 0

    async def argument(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return await self.element(name, name, value)
        return await all_of(
            self.element(name, f"{name}[{number}]", item) for number, item in enumerate(value)
        )

    async def element(self, name: str, place: str, value: Any) -> Any:
        """Return the content of the file if `value` is a file reference, otherwise `value` itself.
        Raises `InvalidParameter` about the argument path `place` if the file cannot be loaded.
        """
        try:
            reference = read_reference(value) if isinstance(value, str) else None
            if reference is None:
                return value
            if reference.prefix == "url" or name in self.addresses:
                return reference.url
            return await self.content(name, reference)
        except QuickAppError as error:
            raise InvalidParameter(place, str(error)) from error

    async def content(self, name: str, reference: FileReference) -> str:
        """Return the content of a file in the encoding of the reference's prefix. Raises
        `QuickAppError` if it cannot be loaded.
        """
        self.files += 1
        if self.files > MOST_FILES:
            raise FileRefused(f"The call refers to too many files; the limit is {MOST_FILES}.")
        file = await self.loader.load(reference.url)
        is_text = reference.prefix == "text"
        content = decoded_text(file.content) if is_text else base64.b64encode(file.content).decode()
        if reference.prefix == "data":
            content = f"data:{file.type.replace(' ', '')};base64,{content}"
        self.loaded.add(name)
        self.bytes += len(content)
        if self.bytes > MOST_BYTES:
            problem = (
                f"The files of one call are too large; the limit is {MOST_BYTES:,} bytes in total."
            )
            raise FileRefused(f"{problem} Use fewer files at once.")
        return content


def decoded_text(content: bytes) -> str:
    """Decode UTF-8 with or without a byte order mark. Raises `FileRefused` for binary content."""
    for kind, signatures in _signatures.items():
        if content.startswith(signatures):
            raise FileRefused(f"File appears to be binary ({kind}). {INSTEAD}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"File is not UTF-8 text (byte {error.start} is not valid)"
        raise FileRefused(f"{problem}. {INSTEAD}") from error
    if "\0" in text:
        raise FileRefused(f"File appears to be binary (NUL bytes). {INSTEAD}")
    return text
