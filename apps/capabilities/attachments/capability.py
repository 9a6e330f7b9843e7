"""Sends attachments to the application's model.

A second capability loads their content on demand, if the application enables this. It is separate
because its steps run at another position in `settings.CAPABILITIES`.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace

from msgspec import structs

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.attachments.contents import (
    URL,
    ContentOffer,
    replace_refused,
    without_contents,
)
from apps.capabilities.attachments.policies import TOOL_NAME
from apps.capabilities.attachments.promotion import promotion
from apps.capabilities.attachments.view import AttachmentView
from apps.capabilities.contexts.entries import available
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.internal import (
    PlatformTool,
    internal_tool,
    parameters,
    text_parameter,
)
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.errors import InitializationIssue, QuickAppError
from apps.manifest.manifest import Manifest
from apps.manifest.orchestrator import AttachmentStrategy
from apps.manifest.toolsets.attachments import AttachmentFilter

OLDER_URL = "context_url"
"""The old name of the parameter `attachment_url`, which stored conversations still contain."""
PARAMETERS = parameters({URL: text_parameter("The URL of the file, exactly as listed.")}, URL)
DESCRIPTION = (
    "Shows you the content of a file: an attachment of the user, or a file that was listed as "
    "available. The contents of files that came with the newest question are already in the "
    "conversation."
)
NOTHING = Contribution()


def prepare(manifest: Manifest) -> Open:
    deployment_id = manifest.orchestrator.deployment.id
    strategy = manifest.orchestrator.attachment_strategy

    def open_attachments(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        if any(message.attachments for message in opening.conversation.messages):
            return open_with_attachments(opening)
        return nullcontext(
            Contribution(view=(AttachmentView(opening, deployment_id, strategy, {}),))
        )

    @asynccontextmanager
    async def open_with_attachments(opening: Opening) -> AsyncIterator[Contribution]:
        try:
            promoted = await promotion(opening, deployment_id)
        except QuickAppError:
            yield NOTHING  # the run reports why its model cannot be called
            return
        view = AttachmentView(opening, deployment_id, strategy, promoted.problems)
        history = (promoted.step,) if promoted.files else ()
        yield Contribution(history=history, view=(view,), issues=promoted.issues)

    return open_attachments


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
            "Reading a file",
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


SERVES = frozenset({"orchestrator.attachment_strategy", f"tool_sets.internal.{TOOL_NAME}"})
attachments = Capability("attachments", frozenset(), prepare)
attachment_contents = Capability("attachment content", SERVES, prepare_contents)
