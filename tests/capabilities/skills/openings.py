"""Skills in their written form, and the capability opened with them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from apps.accounts.caller import Caller
from apps.agent.messages import ModelMessage
from apps.agent.stages import silent
from apps.capabilities.registry import (
    ContinuedConversation,
    Contribution,
    Opening,
    PredefinedContent,
)
from apps.capabilities.skills.capability import skills
from apps.manifest.markdown.skill_document import InstalledSkill, read_skill_document
from apps.manifest.validation.validation import read_manifest
from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.port import Workspace
from tests.manifest.documents import manifest

CALLER = Caller("user-7")
FIRST = "tool-call-file-parameter-formatting"


def text_of(name: str, body: str = "Do it.", description: str = "") -> str:
    return f"---\nname: {name}\ndescription: {description or f'About {name}.'}\n---\n{body}"


def installed(name: str, body: str = "Do it.", **files: str) -> InstalledSkill:
    """Install skills: `a_md="A"` is the file `a.md`."""
    text = text_of(name, body)
    beside = {path.replace("_", "."): content for path, content in files.items()}
    return InstalledSkill(read_skill_document(text), text, beside)


def question(text: str = "Hello", *urls: str) -> ModelMessage:
    extra = {"skills": [{"url": url} for url in urls]} if urls else {}
    return ModelMessage("user", text, extra=extra)


@asynccontextmanager
async def opened(
    *predefined: InstalledSkill,
    configured: Sequence[dict[str, str]] = (),
    messages: Sequence[ModelMessage] = (),
    workspace: Workspace | None = None,
    **rest: Any,
) -> AsyncIterator[tuple[Opening, Contribution]]:
    document = read_manifest(manifest(skills=list(configured), **rest))
    opener = skills.prepare(document)
    assert opener is not None
    opening = Opening(
        workspace or LocalWorkspace(CALLER),
        CALLER,
        silent,
        ContinuedConversation(messages),
        predefined=PredefinedContent(predefined),
    )
    async with opener(opening) as contribution:
        yield opening, contribution


async def through(
    contribution: Contribution, messages: Sequence[ModelMessage]
) -> Sequence[ModelMessage]:
    """Return the conversation as the model gets it."""
    for step in contribution.history:
        messages = await step(messages)
    return messages


def soft(contribution: Contribution) -> list[str]:
    """Return the issues, which are all soft and under one heading."""
    assert {(i.section, i.is_hard) for i in contribution.issues} <= {("Skill loading", False)}
    return [issue.message for issue in contribution.issues]
