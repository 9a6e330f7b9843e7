"""Pictures and files of imported messages that the import did not have: a notice names them."""

from collections.abc import Mapping
from typing import Any

LEFT_OUT = "left_out"
"""The key of a message's state under which their names are stored."""
FOR_MODELS = "(This message had attachments that are not available: {names}.)"


def left_out_of(state: Mapping[str, Any]) -> list[str]:
    """The names for the page, such as `Picture “cat.png”`."""
    return list(state.get(LEFT_OUT, ()))


def text_for_models(text: str, state: Mapping[str, Any]) -> str:
    """The text, or what stands for it: services refuse messages that say nothing."""
    if text or not (names := left_out_of(state)):
        return text
    return FOR_MODELS.format(names=", ".join(names))
