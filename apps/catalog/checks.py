"""Django system checks of the configuration and the predefined content."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError, connections
from django.utils.module_loading import import_string

from apps.capabilities.registry import Capability
from apps.catalog.application_files.managed_files import file_problems
from apps.catalog.content.installed import directories
from apps.catalog.content.layers import Content, read_layers
from apps.catalog.content.models import read_rows
from apps.catalog.content.review import content_problems, mapping_problems, missing_problems
from apps.migration_history import upgrade_problem
from apps.workspace.local import installation

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})


@register(Tags.compatibility)
def capabilities_exist(**options: Any) -> list[CheckMessage]:
    hint = "settings.CAPABILITIES lists dotted paths of Capability values."
    return [
        Error(f"CAPABILITIES contains {path!r}{problem}.", hint=hint, id="quickapps.E001")
        for path in settings.CAPABILITIES
        if (problem := capability_problem(path))
    ]


def capability_problem(path: str) -> str:
    try:
        found = import_string(path)
    except ImportError as error:
        return f": {error}"
    if isinstance(found, Capability):
        return ""
    return f", which is not a Capability but a {type(found).__name__}"


@register(Tags.security, deploy=True)
def hosts_are_named(**options: Any) -> list[CheckMessage]:
    if not set(settings.ALLOWED_HOSTS) <= LOCAL_HOSTS:
        return []
    hint = "Set ALLOWED_HOSTS to the host names that users open, separated by commas."
    return [Warning("ALLOWED_HOSTS contains only local names.", hint=hint, id="quickapps.W001")]


@register(Tags.security, deploy=True)
def traffic_is_encrypted(**options: Any) -> list[CheckMessage]:
    if settings.HTTPS:
        return []
    hint = "Put a proxy with TLS in front, and set PUBLIC_URL to its https URL."
    return [
        Warning(
            "PUBLIC_URL does not use https: passwords are sent unencrypted.",
            hint=hint,
            id="quickapps.W002",
        )
    ]


@register(Tags.caches)
def processes_can_notify(**options: Any) -> list[CheckMessage]:
    """Warn if the web processes cannot notify each other of changes. The server also logs this
    warning at startup.
    """
    if settings.WEB_CONCURRENCY == 1 or settings.REDIS_URL:
        return []
    hint = "Set REDIS_URL. Without it, pages check for changes by other processes every 15 seconds."
    told = f"WEB_CONCURRENCY is {settings.WEB_CONCURRENCY}, and the processes cannot notify each other."
    return [Warning(told, hint=hint, id="quickapps.W004")]


@register(Tags.files, deploy=True)
def installation_is_shared(**options: Any) -> list[CheckMessage]:
    try:
        problems = installation.problems()
    except DatabaseError:
        return []  # The database is not migrated yet, or is unavailable.
    return [Error(problem, id="quickapps.E004") for problem in problems]


@register(Tags.files)
def content_is_usable(**options: Any) -> list[CheckMessage]:
    """Warn about each error in the predefined content. Such errors do not prevent startup.

    A missing directory is an error, because applications would run with items that the directory
    should replace.
    """
    content = read_layers(directories())
    hint = "Create the directory, or remove it from PREDEFINED_EXTRA_PATHS."
    return [
        *(Error(problem, hint=hint, id="quickapps.E002") for problem in missing_problems(content)),
        *content_warnings(content),
    ]


@register(Tags.files)
def managed_files_are_usable(**options: Any) -> list[CheckMessage]:
    """Warn about each managed file that cannot be read. The server checks a file's content when it
    loads it.
    """
    hint = "The previously loaded application stays in use. Fix the file."
    return [Warning(problem, hint=hint, id="quickapps.W005") for problem in file_problems()]


@register(Tags.files, Tags.database)
def rows_are_usable(databases: Any = None, **options: Any) -> list[CheckMessage]:
    """Warn about predefined content in the database that cannot be used. Runs only with a database,
    as in `manage.py check --database default`.
    """
    if not databases:
        return []
    try:
        rows = read_rows()
    except DatabaseError:
        return []  # The database is not migrated yet.
    if not rows.by_id:
        return []
    known = {warning.msg for warning in content_warnings(read_layers(directories()))}
    found = content_warnings(read_layers(directories(), rows))
    return [warning for warning in found if warning.msg not in known]


@register(Tags.database)
def databases_can_be_migrated(databases: Any = None, **options: Any) -> list[CheckMessage]:
    """Return an error if a database is too old to be upgraded. Runs first in `manage.py migrate`."""
    problems = (upgrade_problem(connections[name]) for name in databases or ())
    return [Error(problem, id="quickapps.E003") for problem in problems if problem]


def content_warnings(content: Content) -> list[CheckMessage]:
    hint = "Applications run without this item. If it is their prompt, they cannot run. Fix it."
    problems = (*content_problems(content), *mapping_problems(content))
    missing = set(missing_problems(content))
    return [Warning(p, hint=hint, id="quickapps.W003") for p in problems if p not in missing]
