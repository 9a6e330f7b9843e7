"""Resources that the processes of an installation must share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.catalog.checks import installation_is_shared
from apps.workspace.local import installation
from apps.workspace.local.files.leftovers import delete_leftovers
from apps.workspace.local.installation import FILES, KEYS, Installation

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.usefixtures("storage")]

NO_MARKER = FILES.format(problem="the file installation.id does not exist")


@pytest.fixture
def other_folder(tmp_path: Path, settings: Any) -> Path:
    """Register a first process, and give the next one a folder of its own."""
    assert installation.register_process() == []
    settings.MEDIA_ROOT = tmp_path / "other"
    return tmp_path / "other"


def test_the_first_process_leaves_its_id_and_no_key(tmp_path, settings):
    settings.SECRET_KEY = "a-secret-key-that-nobody-else-has"

    assert installation.register_process() == []

    row = Installation.objects.get()
    assert (tmp_path / "installation.id").read_text() == f"{row.uuid}\n"
    assert len(row.key_fingerprint) == 64
    assert settings.SECRET_KEY not in row.key_fingerprint


def test_a_process_with_the_same_files_and_key_shares_all():
    assert (
        installation.register_process()
        == installation.register_process()
        == installation.problems()
        == []
    )


def test_a_process_with_other_files_is_told_what_to_share(other_folder):
    assert installation.register_process() == installation.problems() == [NO_MARKER]
    assert [found.msg for found in installation_is_shared()] == [NO_MARKER]


def test_files_of_another_installation_are_named_and_left_alone(other_folder):
    other_folder.mkdir()
    (other_folder / "installation.id").write_text("another\n")
    stray = other_folder / "ab" / ("c" * 32)
    stray.parent.mkdir()
    stray.write_text("bytes of the other installation")

    [problem] = installation.problems()

    assert problem == FILES.format(problem="installation.id has the ID of another installation")
    assert delete_leftovers() == 0
    assert stray.exists()


def test_moved_files_can_be_adopted(other_folder, capsys):
    call_command("adopt_files")

    assert installation.problems() == []
    assert capsys.readouterr().out == f"The files belong to {Installation.objects.get()}.\n"


@pytest.mark.parametrize("name", ["SECRET_KEY", "SALT_KEY"])
def test_a_process_with_another_key_is_told_what_to_share(settings, name):
    installation.register_process()
    setattr(settings, name, "another" if name == "SECRET_KEY" else ["another"])

    assert installation.register_process() == [KEYS]

    call_command("adopt_files", "--keys")
    assert installation.problems() == []


def test_after_a_rotation_processes_with_the_old_key_alone_share_no_key(settings):
    old = settings.SECRET_KEY
    installation.register_process()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", [old]

    assert installation.register_process() == []

    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = old, []
    assert installation.register_process() == [KEYS]


def test_nothing_is_claimed_by_a_check(tmp_path):
    assert installation_is_shared() == []

    assert not Installation.objects.exists()
    assert list(tmp_path.iterdir()) == []
