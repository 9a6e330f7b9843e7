"""Skills as they are written, and the capability opened with them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from apps.accounts.caller import Caller
from apps.agent.messages import Message
from apps.agent.stages import silent
from apps.capabilities.registry import Contribution, Opening
from apps.capabilities.skills.capability import skills
from apps.manifest.skill_document import InstalledSkill, read_skill_document
from apps.manifest.validation import read
from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.port import Workspace
from tests.manifest.documents import manifest

CALLER = Caller("user-7")
FIRST = "tool-call-file-parameter-formatting"


def text_of(name: str, body: str = "Do it.", description: str = "") -> str:
    return f"---\nname: {name}\ndescription: {description or f'About {name}.'}\n---\n{body}"


def installed(name: str, body: str = "Do it.", **files: str) -> InstalledSkill:
    """`a_md="A"` is the file `a.md`."""
    text = text_of(name, body)
    beside = {path.replace("_", "."): content for path, content in files.items()}
    return InstalledSkill(read_skill_document(text), text, beside)


def question(text: str = "Hello", *urls: str) -> Message:
    extra = {"skills": [{"url": url} for url in urls]} if urls else {}
    return Message("user", text, extra=extra)


@asynccontextmanager
async def opened(
    *predefined: InstalledSkill,
    configured: Sequence[dict[str, str]] = (),
    messages: Sequence[Message] = (),
    workspace: Workspace | None = None,
    **rest: Any,
) -> AsyncIterator[tuple[Opening, Contribution]]:
    document = read(manifest(skills=list(configured), **rest))
    opener = skills.prepare(document)
    assert opener is not None
    opening = Opening(
        workspace or LocalWorkspace(CALLER), CALLER, silent, messages=messages, skills=predefined
    )
    async with opener(opening) as contribution:
        yield opening, contribution


async def through(contribution: Contribution, messages: Sequence[Message]) -> Sequence[Message]:
    """The conversation as the model gets it."""
    for step in contribution.history:
        messages = await step(messages)
    return messages


def soft(contribution: Contribution) -> list[str]:
    """The issues, which are all soft and told under one heading."""
    assert {(i.section, i.is_hard) for i in contribution.issues} <= {("Skill loading", False)}
    return [issue.message for issue in contribution.issues]
