"""Builds the messages for a deployment, including files and earlier calls to the same tool."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.agent.tools import Invocation
from apps.capabilities.deployment.parameters import FILES, QUERY, SESSION
from apps.capabilities.deployment.targets import Target
from apps.capabilities.wrappers.arguments import recorded_arguments
from apps.capabilities.wrappers.file_references import all_of, bare, load_references
from apps.capabilities.wrappers.value_texts import value_text
from apps.errors import FileRefused, InvalidParameter
from apps.workspace.egress.fetch import redact_url
from apps.workspace.loading.file_locations import locate_file
from apps.workspace.loading.files import LoadedFile, as_data
from apps.workspace.loading.loader import Loader, last_segment
from apps.workspace.port import DeploymentInfo

logger = logging.getLogger(__name__)
MOST_FILES = 50
POSSIBLE = "Use paths of files (files/…), http(s) URLs or data: URIs."


@dataclass(frozen=True, slots=True)
class OutgoingFiles:
    """Converts file URLs to attachments that a deployment can read."""

    info: DeploymentInfo
    loader: Loader
    query: str = QUERY
    """The name of the tool's question argument, for error messages."""

    async def attach_all(self, urls: Sequence[str]) -> tuple[Attachment, ...]:
        """Return the attachments for the URLs, in order. Raises `InvalidParameter` if there are too
        many URLs, or if a file cannot be attached.
        """
        if len(urls) > MOST_FILES:
            raise refusal(f"there are {len(urls)} files; the limit is {MOST_FILES}.")
        return tuple(await all_of(map(self.attach, urls)))

    async def attach(self, url: str) -> Attachment:
        """Return the attachment for a URL. Raises `InvalidParameter` if the deployment does not
        accept the file.
        """
        if self.info.files == "none":
            raise refusal(
                f"the deployment {self.info.id!r} does not accept files. Put the necessary "
                f"information into {self.query}."
            )
        try:
            address = bare(url.strip())
            kind = locate_file(address).kind
            if kind == "unsupported":
                raise refusal(f"{redact_url(address)!r} is not a file that can be sent. {POSSIBLE}")
            if kind == "external" and self.info.features.get("url_attachments"):
                # The deployment fetches the URL itself.
                await self.loader.distrust(address)
                return Attachment("*/*", last_segment(address), url=address, reference_url=address)
            if self.info.files == "data":
                file = await self.load(address)
                return Attachment(file.type, file.name, data=as_data(file))
            if kind in {"external", "data"}:
                await self.load(address)  # A file of a rejected type is not stored.
            return await self.stored(address)
        except FileRefused as error:
            raise refusal(str(error)) from error

    async def stored(self, url: str) -> Attachment:
        """Copy the file to the caller's files if necessary, and return an attachment with its path.

        Raises `FileRefused` if the file cannot be stored.
        """
        info = await self.loader.promote(url)
        title = last_segment(info.path)
        self.check_type(title, info.content_type)
        return Attachment(info.content_type, title, url=info.path)

    async def load(self, url: str) -> LoadedFile:
        """Load a file, and check its type. Raises `FileRefused` if it cannot be loaded, and
        `InvalidParameter` if the deployment does not accept its type.
        """
        file = await self.loader.take(url)
        self.check_type(file.name, file.type)
        return file

    def check_type(self, title: str, content_type: str) -> None:
        if self.info.reads(content_type) is not False:
            return
        accepted = ", ".join(self.info.input_attachment_types)
        abilities = f"accepts files of the types {accepted}" if accepted else "cannot read it"
        raise refusal(
            f"the deployment {self.info.id!r} {abilities}; {title!r} has the type {content_type}."
        )


def refusal(problem: str) -> InvalidParameter:
    return InvalidParameter(FILES, problem)


async def earlier_messages(
    target: Target, invocation: Invocation, files: OutgoingFiles
) -> list[ModelMessage]:
    """Return the earlier messages of the continued conversation, or [] for a new conversation."""
    session = session_of(target, invocation)
    if session is None and not target.pools_history:
        return []
    said: list[ModelMessage] = []
    for call, result in earlier_calls(target.name, invocation.messages):
        arguments = recorded_arguments(call)
        if session is None or session in (call.id, arguments.get(SESSION)):
            said += await replay(target, call, arguments, result, files)
    return said


def session_of(target: Target, invocation: Invocation) -> str | None:
    """Return the ID of the conversation to continue, or None for a new conversation."""
    if not target.is_resumable:
        return None
    return value_text(invocation.arguments.get(SESSION)).strip() or None


def session_line(call_id: str) -> str:
    """Return the last line of a conversation's first answer. It contains the ID with which the
    model can continue the conversation.
    """
    return f"\n\n[session_id: {call_id}]"


def earlier_calls(
    tool_name: str, messages: Sequence[ModelMessage]
) -> Iterator[tuple[ToolCall, ModelMessage]]:
    """Yield the calls to a tool that have a result, each with its result."""
    results = {m.tool_call_id: m for m in messages if m.role == "tool"}
    for message in messages:
        for call in message.tool_calls:
            if call.name == tool_name and call.id in results:
                yield call, results[call.id]


async def replay(
    target: Target,
    call: ToolCall,
    arguments: Mapping[str, Any],
    result: ModelMessage,
    files: OutgoingFiles,
) -> list[ModelMessage]:
    answer = ModelMessage(
        "assistant",
        result.text.removesuffix(session_line(call.id)),
        attachments=result.attachments,
        state=result.state,
    )
    try:
        resolved = await load_references(arguments, files.loader, {FILES})
        asked = await question(target, resolved.arguments, files)
    except InvalidParameter as error:
        # A conversation can continue even if a file was deleted in the meantime.
        logger.warning("Repeated an earlier call without its files: %s", error)
        asked = ModelMessage("user", value_text(arguments.get(target.query)))
    return [asked, answer] if asked.content or asked.attachments else [answer]


async def question(
    target: Target, arguments: Mapping[str, Any], files: OutgoingFiles
) -> ModelMessage:
    """Build the message with the question and its files. Raises `InvalidParameter` if
    `attachment_urls` is not a list of URLs, or if a file cannot be sent.
    """
    urls = arguments.get(FILES) or ()
    if isinstance(urls, str):
        urls = (urls,)
    if not isinstance(urls, list | tuple) or not all(isinstance(url, str) for url in urls):
        raise InvalidParameter(FILES, "send a list of URLs.")
    attachments = await files.attach_all([url for url in urls if url.strip()])
    return ModelMessage("user", value_text(arguments.get(target.query)), attachments=attachments)
