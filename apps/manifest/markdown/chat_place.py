"""Parses the definition of a chat place: part of a product in which users chat, with its own prompt
and tools.

    ---
    title: Orders
    tools: [orders, get_weather]
    ---
    The user works through the list of orders …
"""

from dataclasses import dataclass

from apps.manifest.markdown.front_matter import FrontMatterInvalid, read_front_matter
from apps.manifest.markdown.skill_fields import SkillFields
from apps.manifest.problems import DocumentInvalid, Problem, cut_problems, join_path

LONGEST_TITLE = 100
KEYS = frozenset({"title", "tools"})


class ChatPlaceInvalid(DocumentInvalid): ...


@dataclass(frozen=True, slots=True)
class ChatPlace:
    """Part of a product in which users chat.

    A chat place can only restrict the manifest's tools, because any client may name any chat place.
    """

    slug: str
    title: str
    prompt: str = ""
    tools: tuple[str, ...] | None = None
    """The names of the toolsets and tools that the chat may use here, or None for all."""


def read_chat_place(slug: str, text: str) -> ChatPlace:
    """Parse the definition of a chat place. Raises `ChatPlaceInvalid` with all problems."""
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
        Problem(join_path("", key), "is not a key of a place; use title or tools")
        for key in sorted(front.values.keys() - KEYS)
    )
    if problems := [*fields.problems, *unknown]:
        raise ChatPlaceInvalid(cut_problems(problems))
    return place


def title_problem(text: str) -> str:
    if len(text) <= LONGEST_TITLE:
        return ""
    return f"has {len(text):,} characters; the limit is {LONGEST_TITLE}"
