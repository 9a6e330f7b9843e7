"""Adds a warning to Daphne's `runserver`: it runs no background work, because Daphne lacks ASGI's
`lifespan`.
"""

from typing import Any

from daphne.management.commands.runserver import Command as DaphneCommand

NOTICE = (
    "runserver does not run background work: schedules, alarms and subscriptions do not fire, attached "
    "files are not indexed, and interrupted answers are not resumed. Use `make run` for a server with background work."
)


class Command(DaphneCommand):  # type: ignore[misc]  # Daphne has no types
    def inner_run(self, *args: Any, **options: Any) -> None:
        self.stderr.write(self.style.WARNING(NOTICE))
        super().inner_run(*args, **options)
