"""Describes the capabilities of models as text, for the form and the list of deployments."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.utils.html import format_html

from apps.workspace.local.deployments.capabilities import known_capabilities, written_capabilities
from apps.workspace.local.deployments.deployment import Deployment
from apps.workspace.model_capabilities import FLAGS, LIMITS, ModelCapabilities

CAPABILITY_FIELDS = (
    ("tools", "text_tools"),
    ("parallel_tools", "structured_output"),
    ("vision", "documents"),
    ("audio_input", "audio_output"),
    ("reasoning", "caching"),
    ("context_window", "max_output_tokens"),
)
"""The capability fields in the deployment form, one group per row."""
WORDS: Mapping[str, str] = {
    "tools": "tools",
    "parallel_tools": "parallel tool calls",
    "vision": "pictures",
    "documents": "documents",
    "audio_input": "sound",
    "audio_output": "speech",
    "structured_output": "JSON schemas",
    "reasoning": "thinking",
    "caching": "caching",
}
ANSWERS: Mapping[bool | None, str] = {True: "yes", False: "no", None: "not known yet"}
NOT_KNOWN = "Not known yet"


def show_defaults(form: forms.ModelForm[Any], row: Deployment) -> None:
    """Show the default of each capability in the form, unless the form is read-only and therefore
    has no such fields.
    """
    if not form.fields.keys() >= {*FLAGS, *LIMITS}:
        return
    labels = default_labels(row)
    for name in FLAGS:
        widget: Any = form.fields[name].widget
        widget.choices = [("unknown", labels[name]), ("true", "Yes"), ("false", "No")]
    for name in LIMITS:
        field = form.fields[name]
        words = '{} <span data-known="{}">{}</span>.'
        field.help_text = format_html(words, field.help_text, name, labels[name])


def default_labels(row: Deployment) -> dict[str, str]:
    """Return the default of each capability as text, such as "Default: yes". Values that an
    operator has set are ignored.
    """
    known = written_capabilities(row).over(known_capabilities(row))
    words = {name: ANSWERS[getattr(known, name)] for name in FLAGS}
    for name in LIMITS:
        limit = getattr(known, name)
        words[name] = ANSWERS[None] if limit is None else f"{limit:,}"
    return {name: f"Default: {word}" for name, word in words.items()}


def summary(can: ModelCapabilities) -> str:
    """List the capabilities of a model as text, or return "" if no capability is known. If the
    model does not support tools, the list starts with "no tools".
    """
    able = [word for name, word in WORDS.items() if getattr(can, name)]
    return ", ".join(("no tools", *able) if can.tools is False else able)


def details(can: ModelCapabilities) -> str:
    return " ".join(detail_sentences(can))


def detail_sentences(can: ModelCapabilities) -> Iterator[str]:
    for value, answer in ANSWERS.items():
        words = [word for name, word in WORDS.items() if getattr(can, name) is value]
        if words:
            yield f"{answer.capitalize()}: {', '.join(words)}."
    if can.context_window is not None:
        yield f"Context window: {can.context_window:,} tokens."
    if can.max_output_tokens is not None:
        yield f"Maximum output: {can.max_output_tokens:,} tokens."
