"""Input files: what the model names must be an attachment of the conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from apps.agent.messages import Message
from apps.capabilities.interpreter.engines import InterpreterFailed

UNMATCHED = "no matching attachment found in conversation"


@dataclass(frozen=True, slots=True)
class InputFile:
    """`name` is what the code calls it, `url` the whole address of the attachment."""

    name: str
    url: str


class FileProblems:
    """Tells the model what is wrong with all files at once."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, name: str, problem: str) -> None:
        self.lines.append(f"- {name}: {problem}")

    def check(self) -> None:
        """Raises `InterpreterFailed`."""
        if self.lines:
            raise InterpreterFailed("\n".join(["Failed to prepare input files:", *self.lines]))


def match_files(
    wanted: Sequence[str], messages: Sequence[Message], problems: FileProblems
) -> list[InputFile]:
    """The attachments that are meant; unknown files and names that clash become problems."""
    urls = list(dict.fromkeys(attachment_urls(messages)))
    found: dict[str, InputFile] = {}
    for text in wanted:
        name = name_of(text)
        url = match(text, urls) if name else None
        if url is None:
            problems.add(name or repr(text[:80]), UNMATCHED)
        elif name in found and found[name].url != url:
            problems.add(name, "two of the files have this name; use one of them at a time")
        else:
            found[name] = InputFile(name, url)
    return list(found.values())


def attachment_urls(messages: Sequence[Message]) -> Iterator[str]:
    """The newest first: a name that was used twice means the later file."""
    for message in reversed(messages):
        for attachment in message.attachments:
            if attachment.url:
                yield attachment.url


def match(text: str, urls: Sequence[str]) -> str | None:
    """The first URL that ends in the text, as it is or with its spaces encoded."""
    endings = (text, text.replace(" ", "%20"))
    whole = next((url for url in urls if url in endings), None)
    return whole or next((url for url in urls if url.endswith(endings)), None)


def name_of(url: str) -> str:
    """The last part of a URL's path, decoded; "" when that is no name of a file."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    name = unquote(path.rpartition("/")[2]).rpartition("/")[2]
    return "" if name in {"", ".", ".."} or not name.isprintable() else name
