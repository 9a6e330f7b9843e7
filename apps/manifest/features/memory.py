"""The memories of an application about its users across conversations."""

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import Node

CATEGORY_CHARACTERS = 60


class MemoryPruning(Node):
    """Limits after which memories are deleted. The limits are checked when a memory is stored."""

    after_days: Annotated[float, Field(gt=0)] | None = None
    """Delete memories older than this number of days. With `below_importance`, delete only memories
    that are also less important than that. Null: no limit.
    """
    below_importance: Annotated[float, Field(ge=0, le=1)] | None = None
    """Delete memories that are less important than this, from 0 to 1. With `after_days`, delete
    only memories that are also older than that. Null: no limit.
    """
    at_most: Annotated[int, Field(gt=0)] | None = None
    """The maximum number of memories per user. The least important are deleted first; among equally
    important ones, the oldest. Null: 10000, or 1000 in DIAL.
    """


class Memory(Node):
    """Facts about a user that the model stores and reads in later conversations."""

    enabled: bool = False
    """Give the model tools that store, search, change and delete memories of the user. Visitors
    have no memories."""
    scope: Literal["application", "user"] = "application"
    """`application`: memories belong to this application. `user`: for users who enabled sharing,
    they are shared with other applications with this scope. In DIAL, memories are always separate.
    """
    prime: int = Field(default=0, ge=0, le=50)
    """The number of memories, most important first, that the model gets at the start of a
    conversation. 0: none; the model can only search.
    """
    categories: tuple[str, ...] | None = Field(default=None, min_length=1)
    """The only categories that memories may have. Null: any; a memory without a category gets
    `general`.
    """
    deduplicate: bool = True
    """Merge similar memories, at most once a day. The user can undo a merge for 30 days."""
    prune: MemoryPruning | None = None
    """Limits after which memories are deleted. Null: none."""
    embedding_deployment_id: str | None = None
    """The ID of the embedding deployment. Null: the installation's."""
    source_names: bool = False
    """Name the search tool `search_memory`, with the parameters `query` and `top_k`, as older
    prompts expect. False: the tool is `search_memories`, with `query` and `limit`.
    """

    @field_validator("categories")
    @classmethod
    def _are_short_names(cls, categories: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for category in categories or ():
            if not category.strip() or len(category) > CATEGORY_CHARACTERS:
                raise PydanticCustomError(
                    "memory_categories",
                    f"{category[:CATEGORY_CHARACTERS]!r} is not a category; use 1 to "
                    f"{CATEGORY_CHARACTERS} characters",
                )
        return categories
