"""Attachments on their way to the model that drives an application.

Two capabilities, because their steps have places of their own among those of others: what the
model sees of attachments always, and the contents that it asks for where an application wants so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace

from django.conf import settings

from apps.agent.tools import Invocation, ToolResult, ToolSpec
from apps.capabilities.attachments.contents import URL, Offer, take_back, without_contents
from apps.capabilities.attachments.policies import TOOL_NAME, policies
from apps.capabilities.attachments.promotion import promotion
from apps.capabilities.attachments.view import View
from apps.capabilities.contexts.entries import available
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import Wishes, wrapped
from apps.capabilities.wrappers.display import Display, display_of
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.errors import InitializationIssue, QuickAppError
from apps.manifest.attachments import AttachmentFilter
from apps.manifest.manifest import Manifest
from apps.manifest.orchestrator import AttachmentStrategy
from apps.manifest.parameters import FunctionParameters, SimpleParameter

OLDER_URL = "context_url"
"""What the parameter was called before."""
PARAMETERS = FunctionParameters(
    type="object",
    properties={
        URL: SimpleParameter(
            type="string",
            description="The URL of the file, exactly as it is listed.",
        )
    },
    required=[URL],
)
DESCRIPTION = (
    "Shows you the content of a file: of an attachment of the user, or of a file that was listed "
    "as available. The contents of what came with the newest question are there already."
)
NOTHING = Contribution()


def prepare(manifest: Manifest) -> Open:
    deployment_id = manifest.orchestrator.deployment.id
    wanted = policies(manifest.orchestrator.attachment_strategy)

    def open_attachments(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        if any(message.attachments for message in opening.messages):
            return open_with_attachments(opening)
        return nullcontext(Contribution(view=(View(opening, deployment_id, wanted, {}),)))

    @asynccontextmanager
    async def open_with_attachments(opening: Opening) -> AsyncIterator[Contribution]:
        try:
            promoted = await promotion(opening, deployment_id)
        except QuickAppError:
            yield NOTHING  # the run tells why its model cannot be asked
            return
        view = View(opening, deployment_id, wanted, promoted.problems)
        history = (promoted.step,) if promoted.files else ()
        yield Contribution(history=history, view=(view,), issues=promoted.issues)

    return open_attachments


def prepare_contents(manifest: Manifest) -> Open | None:
    strategy = manifest.orchestrator.attachment_strategy
    if strategy is None:
        return None
    deployment_id = manifest.orchestrator.deployment.id
    shown = display_of(manifest, "Reading a file", parameters=PARAMETERS)
    seconds = manifest.tool_defaults.timeout_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS

    @asynccontextmanager
    async def open_contents(opening: Opening) -> AsyncIterator[Contribution]:
        offer = await find_offer(manifest, strategy, deployment_id, opening)
        if isinstance(offer, Contribution):
            yield offer
            return
        promoted = await promotion(opening, deployment_id)
        steps = Contribution(
            history=(offer.show_newest,), recoveries=(take_back,), tidying=(without_contents,)
        )
        if offer.is_needed(promoted.apply(opening.messages)):
            tool = content_tool(offer, shown, seconds)
            yield replace(steps, tools=(tool.bind(opening),))
        else:
            yield steps

    return open_contents


async def find_offer(
    manifest: Manifest, strategy: AttachmentStrategy, deployment_id: str, opening: Opening
) -> Offer | Contribution:
    """A contribution where contents cannot be offered."""
    try:
        info = await opening.workspace.facts(deployment_id)
    except QuickAppError:
        return NOTHING  # the run tells why its model cannot be asked
    if not info.input_attachment_types:
        return Contribution(
            issues=(
                InitializationIssue(
                    "orchestrator.attachment_strategy: the deployment "
                    f"{deployment_id!r} does not say which types of attachments it takes "
                    "(input_attachment_types), so none can be shown to it on demand.",
                    section="Attachments",
                    is_hard=False,
                ),
            )
        )
    found = await available(manifest, opening)
    return Offer(strategy, info, found.entries)


def content_tool(offer: Offer, shown: Display, seconds: float) -> PreparedTool:
    arguments = read_arguments(PARAMETERS)
    wishes = Wishes(
        arguments,
        shown,
        seconds,
        attachment=AttachmentFilter(propagate_types_to_choice=()),
        addresses=frozenset({URL}),
    )
    spec = ToolSpec(TOOL_NAME, DESCRIPTION, arguments.schema)
    return with_older_name(wrapped(PreparedTool(spec, offer.get), wishes))


def with_older_name(tool: PreparedTool) -> PreparedTool:
    """Conversations that were begun before the parameter was renamed go on."""

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        given = dict(invocation.arguments)
        if OLDER_URL in given:
            given.setdefault(URL, given.pop(OLDER_URL))
        return await tool.work(opening, replace(invocation, arguments=given))

    return replace(tool, work=work)


SERVES = frozenset({"orchestrator.attachment_strategy", f"tool_sets.internal.{TOOL_NAME}"})
attachments = Capability("attachments", frozenset(), prepare)
attachment_contents = Capability("attachment contents", SERVES, prepare_contents)
