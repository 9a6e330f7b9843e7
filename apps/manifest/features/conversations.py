"""Defines settings for users' conversations with an application on the chat page."""

from pydantic import Field

from apps.manifest.nodes import Node


class Retention(Node):
    """The maximum retention period for users' conversations."""

    days: int | None = Field(default=None, ge=1, le=3650)
    """The number of days after which an inactive conversation and its files are deleted. A new
    message, a new title or a move counts as activity. Null: the user's setting.
    """
    keep_pinned: bool = False
    """True: pinned conversations are not deleted."""


class Sharing(Node):
    """Links that users create to read-only copies of their conversations."""

    with_anyone: bool = False
    """Allow users to create links that open without signing in, if the installation allows this
    (`SHARES_FOR_ANYONE`). False: existing links open only for signed-in users.
    """


class Titles(Node):
    """Conversation titles on the page, written by a model in parallel with the first answer."""

    enabled: bool = True
    """Let a model write the title. False: the title is the beginning of the question."""
    deployment_id: str | None = None
    """The ID of the deployment that writes titles. A small, fast model is enough. Null: the
    deployment that answers. If this is an application or the built-in demo model, the title is the
    beginning of the question.
    """
