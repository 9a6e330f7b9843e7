"""Whole runs of an application with a scripted model and files of the caller."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.accounts.caller import Caller
from apps.agent.events import Event, StateSaved
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.tools import ToolSpec
from apps.catalog.resolved_application import ResolvedApplication
from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.port import DeploymentInfo
from tests.capabilities import runs
from tests.capabilities.manifests import PROMPT, manifest
from tests.fakes import FakeWorkspace, ScriptedModel

CALLER = Caller("user-7", "user", user_id=7)
PNG = b"\x89PNG picture"
PICTURE = Attachment("image/png", "A cat", url="files/user-7/cat.png")
PAPER = Attachment("application/pdf", "Terms & more", url="files/user-7/terms.pdf")


async def keep_files() -> None:
    files = LocalWorkspace(CALLER).files
    await files.keep("cat.png", PNG, "image/png")
    await files.keep("terms.pdf", b"%PDF-1", "application/pdf")
    await files.keep("note.txt", "Größe".encode(), "text/plain")


def application(strategy: Mapping[str, Any] | None = None, **rest: Any) -> ResolvedApplication:
    orchestrator = {
        "deployment": {"deployment_id": "gpt"},
        "system_prompt": PROMPT,
        "attachment_strategy": strategy,
    }
    features = {"timestamp": None, **rest.pop("features", {})}
    document = manifest(orchestrator=orchestrator, features=features, **rest)
    return runs.application(document)


async def answered(
    app: ResolvedApplication,
    model: ScriptedModel,
    *messages: ModelMessage,
    external: Mapping[str, ToolSpec] | None = None,
    **info: Any,
) -> list[Event]:
    """Return a run's answer. `external` are tools of its client, `info` describes its deployment."""
    workspace = FakeWorkspace(CALLER)
    workspace.models = {"gpt": model}
    workspace.infos = {"gpt": DeploymentInfo("gpt", "GPT", **info)}
    return await runs.events_in(workspace, app, *messages, external=external or {})


def seen(model: ScriptedModel, request: int = -1) -> Sequence[ModelMessage]:
    """Return the model's messages without the system message."""
    return model.asked[request].messages[1:]


def state(events: Sequence[Event]) -> Mapping[str, Any]:
    return next(event.state for event in events if isinstance(event, StateSaved))


def told(attachment: Attachment, *more: Attachment) -> str:
    """Return the block for attachments whose texts need no escaping."""
    lines = ["", "<attachments>"]
    for item in (attachment, *more):
        lines += ["  <attachment>", f"    <title>{item.title.replace('&', '&amp;')}</title>"]
        lines += [f"    <type>{item.type}</type>"]
        lines += [f"    <url>{item.url}</url>"] if item.url else []
        if item.reference_url:
            lines += [f"    <reference_url>{item.reference_url}</reference_url>"]
        lines += ["  </attachment>"]
    return "\n".join([*lines, "</attachments>"])
