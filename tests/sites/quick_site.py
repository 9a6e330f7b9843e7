"""The site as tests serve it, without caches that last a second, and with a shell.

Changes of the database apply from the next request on, and retries of models are immediate.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from apps import process_state
from apps.agent.answers import replies
from quickapps_site import serve
from tests.sites.shell import fork_shell


def hurry() -> None:
    """Remove the delays. Call this before the rest of the site is imported."""
    process_state.MAX_AGE_SECONDS = 0.0
    replies.BACKOFF = replace(replies.BACKOFF, initial_delay=0.01)


def main(arguments: Sequence[str] = ()) -> int:
    hurry()
    set_django_up = serve.set_django_up

    def set_up() -> None:
        set_django_up()
        fork_shell()

    serve.set_django_up = set_up
    return serve.main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
