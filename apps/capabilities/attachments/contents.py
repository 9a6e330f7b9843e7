"""Loads attachment content on demand, and later removes it from the conversation."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from django.utils.translation import gettext_lazy
from msgspec import structs

from apps.agent.injection import Injection, insert_pair
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.attachments.policies import TOOL_NAME, content_calls, is_accepted, is_offered
from apps.capabilities.attachments.promotion import (
    is_fetched_by_deployment,
    promotion,
    user_attachments,
)
from apps.capabilities.contexts.entries import ContextEntry, available
from apps.capabilities.registry import NOTHING, Contribution, Open, Opening, PreparedTool
from apps.capabilities.wrappers.internal import (
    PlatformTool,
    internal_tool,
    parameters,
    plain_result,
    text_parameter,
)
from apps.capabilities.wrappers.value_texts import one_line
from apps.errors import InitializationIssue, InvalidParameter, ModelFailed, QuickAppError
from apps.manifest.manifest import Manifest
from apps.manifest.orchestrator import AttachmentStrategy
from apps.manifest.toolsets.attachments import AttachmentFilter
from apps.workspace.egress.fetch import redact_url
from apps.workspace.loading.file_locations import locate_file
from apps.workspace.port import DeploymentInfo

URL = "attachment_url"
OLDER_URL = "context_url"
"""The old name of the parameter `attachment_url`, which stored conversations still contain."""
PARAMETERS = parameters({URL: text_parameter("The URL of the file, exactly as listed.")}, URL)
DESCRIPTION = (
    "Shows you the content of a file: an attachment of the user, or a file that was listed as "
    "available. The contents of files that came with the newest question are already in the "
    "conversation."
)
CONTENT_PARTS = frozenset({"orchestrator.attachment_strategy", f"tool_sets.internal.{TOOL_NAME}"})
"""The parts of a manifest that configure loading on demand."""
REFUSALS = frozenset({400, 413, 415, 422})
"""The HTTP statuses with which a service rejects the content of a request."""
REFUSED = (
    "Error: the model does not accept this attachment, so its content cannot be shown. Do not ask "
    "for it again; answer without it, and tell the user that it could not be read."
)


@dataclass(frozen=True, slots=True)
class ContentOffer:
    """The operator's and the user's files whose content the model may request."""

    strategy: AttachmentStrategy
    info: DeploymentInfo
    entries: Sequence[ContextEntry]

    def is_needed(self, messages: Sequence[ModelMessage]) -> bool:
        return any(is_offered(a, self.strategy, self.info) for a in self.all(messages))

    def can_show(self, attachment: Attachment) -> bool:
        """Return True if the model can see the attachment's content without fetching the file
        first.
        """
        if not is_offered(attachment, self.strategy, self.info):
            return False
        is_foreign = locate_file(attachment.url or "").kind == "external"
        return not is_foreign or is_fetched_by_deployment(attachment, self.info)

    def all(self, messages: Sequence[ModelMessage]) -> list[Attachment]:
        files = [Attachment(e.type, e.title, url=e.url) for e in self.entries if not e.is_folder]
        return [*files, *user_attachments(messages)]

    def find(self, url: str, messages: Sequence[ModelMessage]) -> Attachment:
        """Return the attachment with this URL. Raises `InvalidParameter` if the model may not
        request it.
        """
        wanted = normalized_url(url)
        there = (a for a in self.all(messages) if a.url and normalized_url(a.url) == wanted)
        found = next(there, None)
        if found is None:
            raise InvalidParameter(
                URL,
                f"{redact_url(url)!r} is neither an attachment of the user nor a file of this "
                "application. Use a URL exactly as it is listed.",
            )
        if not is_accepted(found.type, self.strategy, self.info):
            types = self.strategy.accepted_types or self.info.input_attachment_types
            raise InvalidParameter(
                URL,
                f"{one_line(found.title)!r} has the type {found.type}, which you cannot read. "
                f"Supported types: {', '.join(types)}.",
            )
        return found

    async def get(self, opening: Opening, invocation: Invocation) -> ToolResult:
        """Return the content of the attachment that the model requested. Raises `InvalidParameter`
        if the model may not request it, or if the file cannot be fetched.
        """
        found = self.find(str(invocation.arguments[URL]), invocation.messages)
        if not is_fetched_by_deployment(found, self.info):
            try:
                info = await opening.loader.promote(found.url or "")
            except QuickAppError as error:
                raise InvalidParameter(URL, str(error)) from error
            found = replace(found, url=info.path)
        return replace(plain_result(invocation, result_text(found)), attachments=(found,))

    async def show_newest(self, messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
        """Add the contents of the newest question's attachments, as if the model had requested
        them.
        """
        asked = [place for place, message in enumerate(messages) if message.role == "user"]
        newest = messages[asked[-1]].attachments if asked else ()
        if not newest:
            return messages
        there = (a for m in contents_in(messages[asked[-1] :]) for a in m.attachments)
        shown_already = {normalized_url(a.url or "") for a in there}
        for attachment in newest:
            key = normalized_url(attachment.url or "")
            if key not in shown_already and self.can_show(attachment):
                shown_already.add(key)
                messages = with_content(messages, attachment)
        return messages


def prepare_contents(manifest: Manifest) -> Open | None:
    strategy = manifest.orchestrator.attachment_strategy
    if strategy is None:
        return None
    deployment_id = manifest.orchestrator.deployment.id

    @asynccontextmanager
    async def open_contents(opening: Opening) -> AsyncIterator[Contribution]:
        offer = await content_offer(manifest, strategy, deployment_id, opening)
        if isinstance(offer, Contribution):
            yield offer
            return
        promoted = await promotion(opening, deployment_id)
        steps = Contribution(
            history=(offer.show_newest,), recoveries=(replace_refused,), tidying=(without_contents,)
        )
        if offer.is_needed(promoted.apply(opening.conversation.messages)):
            tool = content_tool(manifest, offer)
            yield structs.replace(steps, tools=(tool.bind(opening),))
        else:
            yield steps

    return open_contents


async def content_offer(
    manifest: Manifest, strategy: AttachmentStrategy, deployment_id: str, opening: Opening
) -> ContentOffer | Contribution:
    """Return the files whose content the model may request.

    If the deployment accepts no attachments or is unavailable, return a contribution without tools
    instead.
    """
    try:
        info = await opening.workspace.facts(deployment_id)
    except QuickAppError:
        return NOTHING  # the run reports why its model cannot be called
    if not info.input_attachment_types:
        problem = (
            f"orchestrator.attachment_strategy: the deployment {deployment_id!r} declares no "
            "input_attachment_types, so attachments cannot be shown to it on demand."
        )
        issue = InitializationIssue(problem, section="Attachments", is_hard=False)
        return Contribution(issues=(issue,))
    found = await available(manifest, opening)
    return ContentOffer(strategy, info, found.entries)


def content_tool(manifest: Manifest, offer: ContentOffer) -> PreparedTool:
    tool = internal_tool(
        manifest,
        PlatformTool(
            TOOL_NAME,
            DESCRIPTION,
            PARAMETERS,
            gettext_lazy("Reading a file"),
            "read-only",
            addresses=frozenset({URL}),
        ),
        offer.get,
        attachment=AttachmentFilter(propagate_types_to_choice=()),
    )

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        given = dict(invocation.arguments)
        if OLDER_URL in given:
            given.setdefault(URL, given.pop(OLDER_URL))
        return await tool.work(opening, structs.replace(invocation, arguments=given))

    return replace(tool, work=work)


def with_content(
    messages: Sequence[ModelMessage], attachment: Attachment
) -> Sequence[ModelMessage]:
    text = result_text(attachment)
    said = Injection(TOOL_NAME, {URL: attachment.url}, text, "always", attachments=(attachment,))
    earlier = sum(c.id.startswith(said.prefix) for m in messages for c in m.tool_calls)
    return insert_pair(messages, len(messages), said, text, earlier)


def result_text(attachment: Attachment) -> str:
    return f"The content of {one_line(attachment.title)!r} ({attachment.type}) is attached."


def normalized_url(url: str) -> str:
    text = url.strip()
    return text[1:] if text.startswith("/") and not text.startswith("//") else text


def contents_in(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    ids = set(content_calls(messages))
    return [m for m in messages if m.role == "tool" and m.tool_call_id in ids and m.attachments]


def without_contents(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    """Remove the calls to the content tool and their results from old messages.

    The model can request the contents again.
    """
    ids = set(content_calls(messages))
    if not ids:
        return messages
    left: list[ModelMessage] = []
    for message in messages:
        if message.role == "tool" and message.tool_call_id in ids:
            continue
        calls = tuple(call for call in message.tool_calls if call.id not in ids)
        if len(calls) == len(message.tool_calls):
            left.append(message)
        elif calls:
            left.append(replace(message, tool_calls=calls))
    return left


async def replace_refused(
    failure: ModelFailed, messages: Sequence[ModelMessage]
) -> Sequence[ModelMessage] | None:
    """Replace rejected attachments with an error text, so that the model call can be retried.
    Return None if the model's service did not reject attachments.
    """
    if failure.status not in REFUSALS:
        return None
    refused = {
        m.tool_call_id for m in contents_in(unanswered_messages(messages)) or contents_in(messages)
    }
    if not refused:
        return None
    return [
        replace(message, content=REFUSED, attachments=())
        if message.role == "tool" and message.tool_call_id in refused
        else message
        for message in messages
    ]


def unanswered_messages(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    """Return the messages since the newest question or answer.

    Calls that QuickApps injected do not count as answers.
    """
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        calls = message.tool_calls
        is_ours = bool(calls) and all(call.id.startswith("synth") for call in calls)
        if message.role == "user" or (message.role == "assistant" and not is_ours):
            return messages[place:]
    return messages
