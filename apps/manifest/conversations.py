"""What becomes of the conversations that people have with an application on the page."""

from pydantic import Field

from apps.manifest.nodes import Node


class Retention(Node):
    """How long the conversations of people are kept at most."""

    days: int | None = Field(default=None, ge=1, le=3650)
    """After how many days in which nobody wrote in it, renamed it or moved it a conversation is
    deleted, with its files. Null: it stays as long as its person wishes."""
    keep_pinned: bool = False
    """True: conversations that their person has pinned stay."""


class Sharing(Node):
    """Links with which people let others read a conversation as it is then."""

    with_anyone: bool = False
    """Let people make links that open without signing in, where the installation allows it
    (`SHARES_FOR_ANYONE`). Switched off, those that there are open for nobody but people who are
    signed in."""


class Titles(Node):
    """Titles of conversations on the page, written by a model beside the first answer."""

    enabled: bool = True
    """Ask a model for the title. False: the title is the beginning of the question."""
    deployment_id: str | None = None
    """Id of the deployment that writes titles; a small, quick one will do. Null: the one that
    answers, unless that is an application or the built-in demo."""
