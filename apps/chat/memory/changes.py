"""Edits, exports and imports a user's memories."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

from django import forms
from django.utils.translation import gettext_lazy

from apps.accounts.caller import Caller
from apps.catalog.resolve import resolve_application
from apps.errors import ApplicationBroken, ApplicationNotFound, QuickAppError
from apps.runs.explanations import error_text
from apps.runs.workspaces import open_workspace
from apps.workspace.embeddings.port import Embedder
from apps.workspace.local.memories.memories import LocalMemories, memories_of
from apps.workspace.local.models import MemoryCollection, StoredMemory
from apps.workspace.memories import operations
from apps.workspace.memories.errors import MemoryRefused
from apps.workspace.memories.limits import MERGED_CHARACTERS, MOST_TOPICS, NAME_CHARACTERS
from apps.workspace.memories.port import MemoryItem


async def update(
    caller: Caller, row: MemoryCollection, number: int, fields: Mapping[str, Any]
) -> MemoryItem:
    """Change a memory's fields. `number` identifies the memory in the collection. Raises
    `QuickAppError` if the change is rejected.
    """
    embedder = await embedder_of(caller, row.application)
    return await operations.update(memories_of(row), embedder, number, fields)


async def forget_memory(row: MemoryCollection, number: int) -> None:
    await operations.forget_memory(memories_of(row), number)


async def delete_all(rows: Iterable[MemoryCollection]) -> None:
    for row in rows:
        await operations.delete_all(memories_of(row))


async def undo(caller: Caller, row: MemoryCollection, merge: int) -> None:
    await operations.undo(memories_of(row), await embedder_of(caller, row.application), merge)


async def export(row: MemoryCollection) -> bytes:
    return await operations.export(memories_of(row))


async def import_file(caller: Caller, application: str, content: bytes) -> int:
    """Import memories from JSON, and return the number of new memories. `application` is the slug
    of the application that gets them, or "" for the memories that all applications share. Raises
    `QuickAppError` if the content is rejected.
    """
    store = LocalMemories(caller.bucket, application)
    embedder = await embedder_of(caller, application)
    return await operations.import_(store, embedder, content)


async def embedder_of(caller: Caller, application: str) -> Embedder:
    """Return the embedder that the application's manifest selects, or the installation's default if
    it selects none. `application` is a slug.
    """
    wanted = None
    try:
        features = (
            (await resolve_application(application)).manifest.features if application else None
        )
    except (ApplicationBroken, ApplicationNotFound):
        features = None
    if features is not None and features.memory is not None:
        wanted = features.memory.embedding_deployment_id
    return await open_workspace(caller).embedder(wanted)


class MemoryForm(forms.Form):
    content = forms.CharField(
        label=gettext_lazy("Memory"),
        max_length=MERGED_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 5, "dir": "auto"}),
    )
    category = forms.CharField(
        label=gettext_lazy("Category"),
        required=False,
        max_length=NAME_CHARACTERS,
        help_text=gettext_lazy("The type of fact, such as preferences or work."),
    )
    importance = forms.FloatField(
        label=gettext_lazy("Importance"),
        min_value=0,
        max_value=1,
        help_text=gettext_lazy(
            "Enter a number from 0 to 1: for example, 1 for facts about who you are, or 0.3 for things that will change soon."
        ),
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    topics = forms.CharField(
        label=gettext_lazy("Topics"),
        required=False,
        max_length=MOST_TOPICS * (NAME_CHARACTERS + 2),
        help_text=gettext_lazy("A few words that describe the memory, separated by commas."),
    )

    @classmethod
    def of(cls, memory: StoredMemory, data: Mapping[str, Any] | None) -> Self:
        initial = {
            "content": memory.content,
            "category": memory.category,
            "importance": f"{memory.importance:g}",
            "topics": ", ".join(memory.topics),
        }
        return cls(data, initial=initial, label_suffix="")

    def changes(self, memory: StoredMemory) -> dict[str, Any]:
        """Return the form fields that differ from the stored memory."""
        given = dict(self.cleaned_data)
        given["content"] = given["content"].replace("\r\n", "\n")  # Browsers send \r\n.
        given["topics"] = [one.strip() for one in given["topics"].split(",") if one.strip()]
        changed = {name: one for name, one in given.items() if one != getattr(memory, name)}
        return {name: tuple(one) if name == "topics" else one for name, one in changed.items()}

    def refuse(self, error: QuickAppError) -> None:
        field = error.field if isinstance(error, MemoryRefused) else ""
        text = error_text(error)
        self.add_error(field if field in self.fields else None, text[:1].upper() + text[1:])
