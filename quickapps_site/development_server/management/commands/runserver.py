"""Daphne's `runserver`, which says what it leaves out: it does not know ASGI's `lifespan`."""

from typing import Any

from daphne.management.commands.runserver import Command as DaphneCommand

NOTICE = (
    "runserver does no work in the background: schedules, alarms and subscriptions do not fire, attached "
    "files are not indexed, and interrupted answers are not resumed. `make run` serves with all of it."
)


class Command(DaphneCommand):  # type: ignore[misc]  # Daphne has no types
    def inner_run(self, *args: Any, **options: Any) -> None:
        self.stderr.write(self.style.WARNING(NOTICE))
        super().inner_run(*args, **options)
