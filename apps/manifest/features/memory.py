"""Defines the feature that lets an application remember facts about its users."""

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import Node

CATEGORY_CHARACTERS = 60


class MemoryPruning(Node):
    """Limits beyond which memories are deleted. The limits are checked when a memory is stored."""

    after_days: Annotated[float, Field(gt=0)] | None = None
    """Delete memories that are older than this number of days. If `below_importance` is also set,
    only memories that meet both conditions are deleted. Null: no limit.
    """
    below_importance: Annotated[float, Field(ge=0, le=1)] | None = None
    """Delete memories whose importance is below this value, from 0 to 1. If `after_days` is also
    set, only memories that meet both conditions are deleted. Null: no limit.
    """
    at_most: Annotated[int, Field(gt=0)] | None = None
    """The maximum number of memories per user. The least important memories are deleted first.
    Among equally important memories, the oldest are deleted first. Null: 10000, or 1000 in DIAL.
    """


class Memory(Node):
    """Facts about a user that the model stores and reads in later conversations."""

    enabled: bool = False
    """Give the model tools that store, search, change and delete the user's memories. Visitors have
    no memories.
    """
    scope: Literal["application", "user"] = "application"
    """`application`: memories belong to this application. `user`: if the user allows sharing,
    applications with this scope share their memories. In DIAL, memories are always separate.
    """
    prime: int = Field(default=0, ge=0, le=50)
    """The number of memories, most important first, that the model gets at the start of a
    conversation. 0: none, so the model can only search.
    """
    categories: tuple[str, ...] | None = Field(default=None, min_length=1)
    """The allowed categories. Null: any category. A memory without a category gets `general`."""
    deduplicate: bool = True
    """Merge similar memories, at most once a day. The user can undo a merge for 30 days."""
    prune: MemoryPruning | None = None
    """Limits beyond which memories are deleted. Null: none."""
    embedding_deployment_id: str | None = None
    """The ID of the embedding deployment. Null: the installation's embedding model."""
    source_names: bool = False
    """Name the search tool `search_memory`, with the parameters `query` and `top_k`, as older
    prompts expect. False: the tool is named `search_memories`, with the parameters `query` and
    `limit`.
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
