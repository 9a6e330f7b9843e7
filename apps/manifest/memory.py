"""What an application remembers of the people who use it, from one conversation to the next."""

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import Node

CATEGORY_CHARACTERS = 60


class MemoryPruning(Node):
    """Memories that are given up by themselves, after a memory was stored."""

    after_days: Annotated[float, Field(gt=0)] | None = None
    """Give up memories that are older than so many days; with `below_importance` only those that
    are less important than that. Null: no age is too old."""
    below_importance: Annotated[float, Field(ge=0, le=1)] | None = None
    """Give up memories that are less important than that, from 0 to 1; with `after_days` only those
    that are older than that. Null: none is too unimportant."""
    at_most: Annotated[int, Field(gt=0)] | None = None
    """How many memories of one person are kept; the least important ones give way, the oldest first.
    Null: as many as there is room for, which is 10000, or 1000 in DIAL."""


class Memory(Node):
    """What the model remembers of a person, in later conversations too."""

    enabled: bool = False
    """Give the model tools that store, search, change and delete what it remembers of the person
    who asks. Visitors who are not signed in are not remembered."""
    scope: Literal["application", "user"] = "application"
    """`application`: what this application remembers is its own. `user`: it is shared with the other
    applications here that say so, for people who have switched that on. DIAL keeps it apart for
    each application."""
    prime: int = Field(default=0, ge=0, le=50)
    """How many memories, the most important ones, the model knows from the start of a conversation.
    0: it knows what it searches."""
    categories: tuple[str, ...] | None = Field(default=None, min_length=1)
    """The only categories that memories may have. Null: any; `general` for one that names none."""
    deduplicate: bool = True
    """Merge memories that say much the same, once a day at most. The person can undo it for 30
    days."""
    prune: MemoryPruning | None = None
    """Memories that are given up by themselves. Null: none."""
    embedding_deployment_id: str | None = None
    """Id of the deployment that makes texts comparable. Null: that of the installation."""
    source_names: bool = False
    """Name the tool for searching `search_memory`, with the parameters `query` and `top_k`, as
    older prompts know it; else it is `search_memories` with `query` and `limit`."""

    @field_validator("categories")
    @classmethod
    def _are_short_names(cls, categories: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for category in categories or ():
            if not category.strip() or len(category) > CATEGORY_CHARACTERS:
                raise PydanticCustomError(
                    "memory_categories",
                    f"{category[:CATEGORY_CHARACTERS]!r} is no category; "
                    f"write 1 to {CATEGORY_CHARACTERS} characters",
                )
        return categories
