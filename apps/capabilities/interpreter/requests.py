"""Parses the arguments of interpreter calls, and finds the files that they name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from apps.agent.messages import ModelMessage
from apps.errors import InvalidParameter, ToolError

MOST_CODE_CHARACTERS = 64_000
"""The length limit for the code, in characters. Models write far less code in one call."""
MOST_FILES = 20
MOST_PAGE = 1_000_000_000


class DataSample(BaseModel):
    model_config = ConfigDict(extra="ignore")

    sample_data: bool = True
    page: int = Field(default=0, ge=0, le=MOST_PAGE)
    page_size: int = Field(default=3000, ge=1, le=MOST_PAGE)


class Request(BaseModel):
    """The arguments of an interpreter call."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    code: str = Field(max_length=MOST_CODE_CHARACTERS)
    title: str | None = None
    display_title: str | None = None
    attachment_urls: list[str] | None = Field(default=None, max_length=MOST_FILES)
    data_sample_config: DataSample | None = None
    open_session: bool | None = None
    """True to discard the state of earlier calls."""

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.attachment_urls or ()))

    @property
    def sample(self) -> DataSample | None:
        """Return the page of the output that the model requested, or None for all output."""
        sample = self.data_sample_config
        return sample if sample is not None and sample.sample_data else None


def read_request(arguments: Mapping[str, Any]) -> Request:
    """Parse the arguments of a call. Raises `InvalidParameter` if an argument is invalid."""
    try:
        return Request.model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidParameter(place, f"{first['msg']}.") from error


UNMATCHED = "no matching attachment found in conversation"


class InterpreterFailed(ToolError):
    """Raised if the code cannot be run. The model receives the message as an ordinary result."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that the code can read."""

    name: str
    """The file name in the working directory."""
    url: str
    """The full URL of the attachment."""


class FileProblems:
    """Collects problems with input files, to report them to the model together."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, name: str, problem: str) -> None:
        self.lines.append(f"- {name}: {problem}")

    def check(self) -> None:
        """Raise `InterpreterFailed` with all problems, if there are any."""
        if self.lines:
            raise InterpreterFailed("\n".join(["Failed to prepare input files:", *self.lines]))


def match_files(
    wanted: Sequence[str], messages: Sequence[ModelMessage], problems: FileProblems
) -> list[InputFile]:
    """Find the attachments that the arguments name. Unknown files and duplicate names are added to
    `problems`.
    """
    urls = list(dict.fromkeys(attachment_urls(messages)))
    found: dict[str, InputFile] = {}
    for text in wanted:
        name = url_file_name(text)
        url = match(text, urls) if name else None
        if url is None:
            problems.add(name or repr(text[:80]), UNMATCHED)
        elif name in found and found[name].url != url:
            problems.add(name, "two of the files have this name; use one of them at a time")
        else:
            found[name] = InputFile(name, url)
    return list(found.values())


def attachment_urls(messages: Sequence[ModelMessage]) -> Iterator[str]:
    """Yield the URLs of attachments, newest first, so that a name refers to the latest file."""
    for message in reversed(messages):
        for attachment in message.attachments:
            if attachment.url:
                yield attachment.url


def match(text: str, urls: Sequence[str]) -> str | None:
    """Return the first URL that equals or ends with the text, or None. Spaces may be
    percent-encoded.
    """
    endings = (text, text.replace(" ", "%20"))
    whole = next((url for url in urls if url in endings), None)
    return whole or next((url for url in urls if url.endswith(endings)), None)


def url_file_name(url: str) -> str:
    """Return the last part of a URL's path, decoded, or "" if it is not a file name."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    name = unquote(path.rpartition("/")[2]).rpartition("/")[2]
    return "" if name in {"", ".", ".."} or not name.isprintable() else name
