"""What `manage.py check`, and with it every start, says about predefined content."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError

from apps.catalog.content.installed import directories
from apps.catalog.content.layers import Content, read_layers
from apps.catalog.content.review import content_problems, mapping_problems, missing_problems
from apps.catalog.content.rows import read_rows

HINT = "Applications that use it go on without it, or stop if it is their prompt. Mend it."
WHERE = "Create the directory, or take it out of PREDEFINED_EXTRA_PATHS."


@register(Tags.files)
def content_is_usable(**options: Any) -> list[CheckMessage]:
    """A warning for each mistake: one broken file is no reason to keep the others from starting.

    A layer that is missing as a whole is one: applications would run on what it was to replace.
    """
    content = read_layers(directories())
    return [
        *(Error(problem, hint=WHERE, id="quickapps.E002") for problem in missing_problems(content)),
        *warnings(content),
    ]


@register(Tags.files, Tags.database)
def rows_are_usable(databases: Any = None, **options: Any) -> list[CheckMessage]:
    """What only rows are to blame for; databases are looked into only when that is asked for."""
    if not databases:
        return []
    try:
        rows = read_rows()
    except DatabaseError:
        return []  # not migrated yet, and then there are none
    if not rows.known:
        return []
    told = {warning.msg for warning in warnings(read_layers(directories()))}
    return [w for w in warnings(read_layers(directories(), rows)) if w.msg not in told]


def warnings(content: Content) -> list[CheckMessage]:
    problems = (*content_problems(content), *mapping_problems(content))
    missing = set(missing_problems(content))
    return [Warning(p, hint=HINT, id="quickapps.W003") for p in problems if p not in missing]
