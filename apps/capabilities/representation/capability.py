"""How an answer is presented: the model puts files and links beside it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext

from django.conf import settings

from apps.agent.tools import ToolSpec
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.representation.additions import TITLE, URL, add_attachment
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import Wishes, wrapped
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.manifest.manifest import Manifest
from apps.manifest.parameters import FunctionParameters, SimpleParameter

TOOL_NAME = "internal_representation_add_attachment"
DESCRIPTION = (
    "Adds a file or a link to the attachments of your answer, where the user can open it. "
    "Use it for what the user should see, once for each URL."
)
PARAMETERS = FunctionParameters(
    type="object",
    properties={
        URL: SimpleParameter(
            type="string",
            description="The path of a file (files/…), a path relative to your own folder, "
            "an http(s) URL or a data: URI.",
        ),
        TITLE: SimpleParameter(
            type="string", description="What the user reads; without it, the name of the file."
        ),
    },
    required=(URL,),
)


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.representation_tooling if manifest.features is not None else None
    if wanted is None or not wanted.add_attachment:
        return None
    tool = attachment_tool(manifest)

    def open_representation(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        return nullcontext(Contribution((tool.bind(opening),)))

    return open_representation


def attachment_tool(manifest: Manifest) -> PreparedTool:
    arguments = read_arguments(PARAMETERS)
    spec = ToolSpec(TOOL_NAME, DESCRIPTION, arguments.schema)
    wishes = Wishes(
        arguments,
        display_of(manifest, "Add attachment", parameters=PARAMETERS),
        manifest.tool_defaults.timeout_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS,
        addresses=frozenset({URL, TITLE}),
    )
    return wrapped(PreparedTool(spec, add_attachment), wishes)


representation = Capability(
    "representation", frozenset({"features.representation_tooling"}), prepare
)
