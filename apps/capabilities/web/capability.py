"""The model reads the Web: one tool, which an application may only have where fetching is on."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext

from django.conf import settings

from apps.agent.tools import Invocation, ToolResult, ToolSpec
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.web.fetching import SAVE_PATH, URL, Fetch
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import Wishes, wrapped
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.errors import InitializationIssue
from apps.manifest.features import WebFetch
from apps.manifest.manifest import Manifest
from apps.manifest.parameters import FunctionParameters, SimpleParameter
from apps.workspace.egress.fetch import POLICIES
from apps.workspace.loading.rules import rules_of

TOOL_NAME = "internal_web_fetch"
DESCRIPTION = (
    "Fetches a page or a file from the Web by its URL. Text comes back at once, pages as Markdown. "
    "With save_path, a file of any type is kept in your own folder instead."
)
GRACE_SECONDS = 1.0
"""A fetch that takes too long tells more than the time-out around every tool, so it comes first."""
PARAMETERS = FunctionParameters(
    type="object",
    properties={
        URL: SimpleParameter(type="string", description="The http(s) URL."),
        SAVE_PATH: SimpleParameter(
            type="string",
            description="Where to keep it: a path relative to your own folder, such as "
            "pages/report.pdf. An existing file is not replaced.",
        ),
    },
    required=(URL,),
)


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.web_fetch if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    if wish := rules_of(manifest).policy.judge_switches():
        raise InitializationIssue(
            f"features.web_fetch: the tool '{TOOL_NAME}' is left out. {POLICIES[wish]}"
        )
    tool = web_tool(manifest, wanted)

    def open_web(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        return nullcontext(Contribution((tool.bind(opening),)))

    return open_web


def web_tool(manifest: Manifest, wanted: WebFetch) -> PreparedTool:
    arguments = read_arguments(PARAMETERS)
    spec = ToolSpec(TOOL_NAME, DESCRIPTION, arguments.schema)
    most_bytes = most_inline(wanted)

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        return await Fetch(opening, most_bytes).answer(invocation)

    wishes = Wishes(
        arguments,
        display_of(manifest, "Fetch from the Web", parameters=PARAMETERS),
        rules_of(manifest).seconds + GRACE_SECONDS,
        addresses=frozenset({URL, SAVE_PATH}),
    )
    return wrapped(PreparedTool(spec, work), wishes)


def most_inline(wanted: WebFetch) -> int:
    """Bytes; the installation's limit of results where the application has none of its own."""
    if "max_inline_size" in wanted.model_fields_set:
        return wanted.max_inline_size
    return int(settings.TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD)


web = Capability("web", frozenset({"features.web_fetch"}), prepare)
