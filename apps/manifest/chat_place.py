"""A place that people chat from: a part of the host's product, with a prompt and tools of its own.

---
title: Orders
tools: [orders, get_weather]
---
The person works through the list of orders …
"""

from dataclasses import dataclass

from apps.manifest.front_matter import FrontMatterInvalid, read_front_matter
from apps.manifest.problems import DocumentInvalid, Problem, cut, join
from apps.manifest.skill_fields import SkillFields

LONGEST_TITLE = 100
KEYS = frozenset({"title", "tools"})


class ChatPlaceInvalid(DocumentInvalid): ...


@dataclass(frozen=True, slots=True)
class ChatPlace:
    """`tools` are the names of toolsets and tools to which the manifest's are narrowed; None: all.

    A place never adds a tool, because whoever asks may name any place.
    """

    slug: str
    title: str
    prompt: str = ""
    tools: tuple[str, ...] | None = None


def read_chat_place(slug: str, text: str) -> ChatPlace:
    """Raises `ChatPlaceInvalid` with all that is wrong."""
    try:
        front = read_front_matter(text)
    except FrontMatterInvalid as error:
        raise ChatPlaceInvalid(error.problems) from None
    fields = SkillFields(front.values)
    place = ChatPlace(
        slug=slug,
        title=fields.text("title", title_problem) or "",
        prompt=front.body.strip(),
        tools=(fields.words("tools") or ()) if "tools" in front.values else None,
    )
    unknown = (
        Problem(join("", key), "is no key of a place; write title or tools")
        for key in sorted(front.values.keys() - KEYS)
    )
    if problems := [*fields.problems, *unknown]:
        raise ChatPlaceInvalid(cut(problems))
    return place


def title_problem(text: str) -> str:
    if len(text) <= LONGEST_TITLE:
        return ""
    return f"has {len(text):,} characters; shorten it to {LONGEST_TITLE}"
