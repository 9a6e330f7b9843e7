"""A backup of a site on SQLite is restored into PostgreSQL, with everything that the site stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from tests.databases.postgresql import address_of, create, drop
from tests.services import absence
from tests.site.operations.test_backup import newer, refusal, rewritten
from tests.sites.serving import Site, close_shell, empty_site, new_site

SECRET_KEY = "a key of tests that encrypts 0123456789"
FILL = """
from datetime import UTC, date, datetime
from decimal import Decimal
from django.contrib.auth.models import User
from apps.catalog.icons.models import IconImage
from apps.insights.models import Price
from apps.tasks.models import QueuedJob
from apps.workspace.local.files import files
from apps.workspace.local.models import Deployment, Secret

at = datetime(2026, 11, 28, 10, 30, 15, 123456, tzinfo=UTC)
anna = User.objects.create_user("anna", "anna@example.org", "a password of anna", last_login=at)
Secret.objects.create(name="stored", value="said-to-nobody")
files.keep("somebody", "first.txt", b"the first file", "text/plain")
IconImage.objects.create(name="icon.png", content=bytes(range(256)))
model = Deployment.objects.create(deployment_id="model")
Price.objects.create(
    deployment=model, valid_from=date(2026, 11, 28), currency="USD", input=Decimal("0.000125")
)
QueuedJob.objects.create(task="waits", arguments={"args": [1], "kwargs": {}}, run_after=at)
QueuedJob.objects.create(task="began", arguments={"args": [], "kwargs": {}}, status="running")
QueuedJob.objects.create(task="failed", status="failed")
"""
READ = """
from django.contrib.auth.models import User
from apps.catalog.icons.models import IconImage
from apps.insights.models import Price
from apps.workspace.local.files.storage import storage
from apps.workspace.local.models import Secret, StoredFile

anna = User.objects.get(username="anna")
[file] = StoredFile.objects.all()
with storage().open(file.storage_name) as content:
    stored = content.whole().decode()
result = [
    anna.check_password("a password of anna"), anna.last_login.isoformat(), anna.is_superuser,
    Secret.objects.get(name="stored").value, stored, file.name,
    bytes(IconImage.objects.get().content) == bytes(range(256)),
    float(Price.objects.get().input), Price.objects.get().valid_from.isoformat(),
]
later = User.objects.create(username="later")
result.append(later.pk > anna.pk)
"""


@contextmanager
def empty_postgresql(folder: Path) -> Iterator[Site]:
    if reason := absence("postgres"):
        pytest.skip(reason)
    name = f"site_{uuid4().hex[:12]}"
    create(name)
    folder.mkdir()
    site = empty_site(folder, SECRET_KEY=SECRET_KEY, DATABASE_URL=address_of(name))
    try:
        yield site
    finally:
        close_shell(site)
        drop(name)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    site = new_site(folder, SECRET_KEY=SECRET_KEY)
    site.shell(FILL)
    site.manage("backup", str(folder / "backup.tar"))
    close_shell(site)
    return folder / "backup.tar"


@pytest.mark.slow("creates the tables of a database")
def test_a_backup_of_sqlite_is_restored_into_postgresql(archive: Path, tmp_path: Path) -> None:
    with empty_postgresql(tmp_path / "there") as site:
        site.manage("restore", str(archive))
        found = site.shell(READ)
        jobs = site.shell(
            "from procrastinate.contrib.django.models import ProcrastinateJob\n"
            "from apps.tasks.models import QueuedJob\n"
            "rows = ProcrastinateJob.objects.order_by('pk').values_list('task_name', 'args', 'status')\n"
            "result = [[list(row) for row in rows], QueuedJob.objects.count()]"
        )

    assert found == [
        *(True, "2026-11-28T10:30:15.123456+00:00", False),
        *("said-to-nobody", "the first file", "first.txt"),
        *(True, 0.000125, "2026-11-28", True),
    ]
    assert jobs == [
        [
            ["waits", {"args": [1], "kwargs": {}}, "todo"],
            ["began", {"args": [], "kwargs": {}}, "todo"],
        ],
        0,
    ]


def test_a_backup_of_an_older_sqlite_database_is_not_restored_into_postgresql(
    archive: Path, tmp_path: Path
) -> None:
    older = rewritten(archive, tmp_path / "older.tar", newer(migrations=[]))

    with empty_postgresql(tmp_path / "there") as site:
        told = refusal(site, older)

    assert told == (
        "The archive's SQLite database has not been migrated to this version (a2a.0001_initial is "
        "missing). Upgrade the old installation to this version, and back it up again."
    )
