"""The form in which a user edits a memory."""

from collections.abc import Mapping
from typing import Any, Self

from django import forms
from django.utils.translation import gettext_lazy

from apps.errors import QuickAppError
from apps.runs.explanations import error_text
from apps.workspace.local.models import StoredMemory
from apps.workspace.memories.errors import MemoryRefused
from apps.workspace.memories.limits import MERGED_CHARACTERS, MOST_TOPICS, NAME_CHARACTERS


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
            "Enter a number from 0 to 1, for example 1 for facts about who you are and 0.3 for things that change soon."
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
