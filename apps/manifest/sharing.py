"""Who may read conversations that people share."""

from apps.manifest.nodes import Node


class Sharing(Node):
    """Links with which people let others read a conversation as it is then."""

    with_anyone: bool = False
    """Let people make links that open without signing in, where the installation allows it
    (`SHARES_FOR_ANYONE`). Switched off, those that there are open for nobody but people who are
    signed in."""
