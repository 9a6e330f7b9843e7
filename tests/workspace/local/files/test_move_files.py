"""Files are moved into a bucket and back while the site is running."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.workspace.local import installation
from apps.workspace.local.files import files
from apps.workspace.local.models import StoredFile

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]


def move(source: str, target: str) -> str:
    written = StringIO()
    call_command("move_files", source, target, stdout=written, stderr=written)
    return written.getvalue()


@pytest.mark.slow("the first one starts SeaweedFS")
@pytest.mark.full
def test_files_go_into_a_bucket_and_come_back(bucket, settings, tmp_path):
    settings.FILES_URL = ""
    installation.register_process()
    first = files.keep("user-1", "a.txt", b"Oslo", "text/plain")

    said = move("directory", bucket)
    late = files.keep("user-1", "b.txt", b"Bergen", "text/plain")
    settings.FILES_URL = bucket
    said_again = move("directory", bucket)

    assert said == (
        "1 copied; 4 bytes copied\n"
        f"{tmp_path} was copied to {bucket.partition('?')[0]}; nothing was deleted there.\n"
        "Now set FILES_URL to the target, restart all processes, and run this command again.\n"
    )
    assert said_again == (
        "1 copied, 1 there already; 6 bytes copied\n"
        f"{tmp_path} was copied to {bucket.partition('?')[0]}; nothing was deleted there.\n"
    )
    assert [files.read("user-1", one.path).content for one in (first, late)] == [b"Oslo", b"Bergen"]
    assert installation.problems() == []

    settings.MEDIA_ROOT = tmp_path / "new"
    move(bucket, "directory")
    settings.FILES_URL = ""
    assert [files.read("user-1", one.path).content for one in (first, late)] == [b"Oslo", b"Bergen"]
    assert installation.problems() == []


@pytest.mark.slow("the first one starts SeaweedFS")
@pytest.mark.full
def test_files_of_another_installation_are_left_alone(bucket, settings):
    settings.FILES_URL = ""
    installation.register_process()
    settings.FILES_URL = bucket
    call_command("adopt_files", stdout=StringIO())
    installation.Installation.objects.update(uuid="00000000-0000-0000-0000-000000000000")

    with pytest.raises(CommandError, match="contains the files of another installation"):
        move("directory", bucket)


@pytest.mark.parametrize("address", ["", "s3://", "s3://b", "/srv/files", "s3://files?zone=x"])
def test_what_is_no_storage_is_refused(address, tmp_path: Path):
    installation.register_process()

    with pytest.raises(
        CommandError, match="is not the URL of a storage location; use directory, or s3://bucket"
    ):
        move("directory", address)


def test_an_outage_stops_the_command_and_says_how_to_continue(settings):
    installation.register_process()
    settings.FILES_ACCESS_KEY_ID = settings.FILES_SECRET_ACCESS_KEY = "any"

    with pytest.raises(CommandError, match="Run the command again to continue"):
        move("directory", "s3://files?endpoint=http://127.0.0.1:1&region=us-east-1")

    assert not StoredFile.objects.exists()
