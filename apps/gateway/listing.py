"""The applications as OpenAI's models and DIAL's deployments, and the form of one's starters."""

from __future__ import annotations

from typing import Any

from apps.catalog.models import Application
from apps.manifest.manifest import Manifest
from apps.manifest.starters import ConversationStarters, Starter

OWNER = "quickapps"
STARTER = "starter"
"""The property of the form under which the chosen button comes back."""


def listed(application: Application) -> dict[str, Any]:
    """One entry that clients of either kind can read; times in seconds since 1970."""
    return {
        "id": application.slug,
        "object": "model",
        "model": application.slug,
        "owned_by": OWNER,
        "owner": OWNER,
        "display_name": application.title,
        "description": application.description,
        "status": "succeeded",
        "created": int(application.created_at.timestamp()),
        "created_at": int(application.created_at.timestamp()),
        "updated_at": int(application.updated_at.timestamp()),
        "features": {"configuration": True, "tools": True},
    }


def starters_of(manifest: Manifest) -> ConversationStarters | None:
    """The starters, also when they are written as the plain texts of earlier manifests."""
    if manifest.conversation_starters is not None or not manifest.starters:
        return manifest.conversation_starters
    return ConversationStarters(
        starters=tuple(Starter(title=text, text=text) for text in manifest.starters)
    )


def configuration_form(starters: ConversationStarters | None) -> dict[str, Any]:
    """The JSON schema of the form that a chat shows before the first question."""
    if starters is None:
        return {"type": "object", "properties": {}}
    buttons = [
        {
            "const": number,
            "title": starter.title,
            "dial:widgetOptions": {
                "populateText": starter.text,
                "submit": starters.auto_submit,
                "confirmationMessage": None,
            },
        }
        for number, starter in enumerate(starters.starters, start=1)
    ]
    return {
        "type": "object",
        "dial:chatMessageInputDisabled": starters.chat_message_input_disabled,
        "properties": {
            STARTER: {
                "type": "integer",
                "description": starters.intro_text,
                "dial:widget": "buttons",
                "oneOf": buttons,
            }
        },
    }
