from pathlib import Path

import pytest
from django.core.exceptions import ValidationError

from apps.catalog.actions.save_rules import check_row
from apps.catalog.application_files import managed_files
from apps.catalog.application_files.models import managed_directory_of, managed_refusal
from apps.catalog.application_files.row_files import ContentInvalid
from apps.catalog.application_files.row_import import import_directories
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.resolve import resolve_application
from apps.workspace.local.models import Deployment
from tests.catalog.rows import store_application
from tests.console.admin.rows.test_races import ON_POSTGRESQL, at_once

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

TRAVEL = """\
title: Travel
manifest:
  orchestrator:
    deployment: {deployment_id: demo}
    max_iterations: 3
  contexts: []
  tool_sets: []
"""


@pytest.fixture
def directory(tmp_path: Path, settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    Deployment.objects.create(deployment_id="demo", display_name="Demo", provider="demo")
    settings.CONTENT_PATHS = [str(tmp_path)]
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 0)
    managed_files.forget_files()
    put(tmp_path, TRAVEL)
    return tmp_path


def put(directory: Path, document: str, slug: str = "travel") -> Path:
    file = directory / "application" / slug / "application.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(document)
    return file


def versions() -> int:
    return ApplicationVersion.objects.count()


async def test_a_changed_file_answers_from_the_next_look_on(directory):
    first = await resolve_application("travel")
    again = await resolve_application("travel")
    put(directory, TRAVEL.replace(": 3", ": 14"))
    changed = await resolve_application("travel")

    found = [one.manifest.orchestrator.max_iterations for one in (first, again, changed)]
    assert (found, first.number, changed.number) == ([3, 3, 14], 1, 2)
    assert (first is again, managed_files.last_problems()) == (True, ())


def test_a_mistake_names_file_line_and_path_and_leaves_the_running_version_alone(directory, caplog):
    managed_files.refresh()
    file = put(directory, TRAVEL.replace(": 3", ": many"))
    put(directory, TRAVEL, "other")
    managed_files.refresh()
    managed_files.refresh()

    assert managed_files.last_problems() == (
        f"{file}: line 5: manifest.orchestrator.max_iterations: expected an integer, found the "
        'string "many"',
    )
    assert caplog.text.count("max_iterations") == 1
    assert Application.objects.get(slug="travel").manifest["orchestrator"]["max_iterations"] == 3
    assert Application.objects.filter(slug="other").exists()


def test_another_process_finds_nothing_to_do(directory):
    managed_files.refresh()
    before = Application.objects.get().version, versions()

    managed_files.forget_files()
    managed_files.refresh()

    assert (Application.objects.get().version, versions()) == before


def test_nobody_else_changes_it(directory):
    managed_files.refresh()
    row = Application.objects.get()

    with pytest.raises(ValidationError, match=r"is managed by files in .* duplicate it"):
        check_row(row)
    elsewhere = directory / "elsewhere"
    put(elsewhere, TRAVEL.replace("Travel", "Mine"))
    report = import_directories(elsewhere, overwrite=True)

    assert [outcome.action for outcome in report.outcomes] == ["kept"]
    assert Application.objects.get().title == "Travel"


def test_an_application_of_an_operator_is_not_taken_over(directory):
    row = store_application(slug="travel", title="Mine")
    managed_files.refresh()

    assert managed_files.last_problems() == (
        f"{directory}/application/travel/application.yaml: an operator has created or changed an "
        "application with the slug 'travel'; delete it, or rename one of the two.",
    )
    row.refresh_from_db()
    assert (row.title, managed_directory_of(row.pk)) == ("Mine", "")


def test_two_directories_cannot_have_the_same_application(directory, settings):
    other = directory / "other"
    put(other, TRAVEL.replace("Travel", "Other"))
    settings.CONTENT_PATHS = [str(directory), str(other)]
    managed_files.refresh()

    assert managed_files.last_problems() == (
        f"{other}/application/travel/application.yaml: 'travel' is already in {directory}; remove one of them.",
    )
    assert Application.objects.get().title == "Travel"


def test_an_application_whose_files_go_stays_and_can_be_edited_and_comes_back(directory):
    managed_files.refresh()
    file = directory / "application" / "travel" / "application.yaml"
    file.unlink()
    file.parent.rmdir()
    managed_files.refresh()
    released = managed_refusal(Application.objects.get().pk)
    put(directory, TRAVEL.replace("Travel", "Again"))
    managed_files.refresh()

    assert released == ""
    assert Application.objects.get().title == "Again"
    assert managed_directory_of(Application.objects.get().pk) == str(directory)


def test_a_directory_that_is_missing_for_a_while_changes_nothing(directory, settings):
    managed_files.refresh()
    directory.rename(moved := directory.with_name("moved"))
    managed_files.refresh()
    problems = managed_files.last_problems()

    assert problems == (f"{directory}: the directory does not exist.",)
    assert managed_directory_of(Application.objects.get().pk) == str(directory)
    moved.rename(directory)


def test_a_process_that_read_before_another_one_wrote_writes_nothing(directory):
    folder = directory / "application" / "travel"
    managed_files.load_folder(folder, directory, None)
    before = Application.objects.get().version, versions()

    managed_files.load_folder(folder, directory, None)
    put(directory, TRAVEL.replace("Travel", "New"))
    managed_files.load_folder(folder, directory, (str(directory), "what another process had read"))

    assert before == (1, 1)
    assert (Application.objects.get().title, versions()) == ("New", 2)


async def test_skills_belong_to_their_application_and_to_the_version_they_came_with(directory):
    file = directory / "application" / "travel" / "skills" / "tone" / "SKILL.md"
    file.parent.mkdir(parents=True)
    text = "---\nname: tone\ndescription: How we write.\n---\n\nShort.\n"
    file.write_text(text)
    put(directory, TRAVEL, "other")
    first = await resolve_application("travel")
    file.write_text(text.replace("Short", "Long"))
    changed = await resolve_application("travel")
    former, other = await resolve_application("travel@1"), await resolve_application("other")

    found = [
        [skill.text for skill in one.predefined.skills if skill.document.name == "tone"]
        for one in (first, changed, former, other)
    ]
    assert found == [[text], [text.replace("Short", "Long")], [text], []]


@ON_POSTGRESQL
@pytest.mark.django_db(transaction=True)
def test_processes_that_load_a_new_directory_at_once_make_each_application_once(directory, caplog):
    for number in range(5):
        put(directory, TRAVEL, f"travel-{number}")
    caplog.set_level("INFO")

    at_once(*(lambda: managed_files.look((directory,)) for _ in range(3)))
    managed_files.refresh()

    slugs = [f"travel-{number}" for number in range(5)]
    assert sorted(Application.objects.values_list("slug", flat=True)) == ["travel", *slugs]
    assert versions() == 6
    assert managed_files.last_problems() == ()
    assert not [one for one in caplog.records if one.levelname == "ERROR"]


@ON_POSTGRESQL
@pytest.mark.django_db(transaction=True)
def test_imports_at_once_make_each_row_once(directory):
    def attempt() -> str:
        try:
            (outcome,) = import_directories(directory).outcomes
        except ContentInvalid as error:
            return str(error)
        return outcome.action

    actions = at_once(*(attempt for _ in range(3)))

    assert set(actions) <= {"created", "unchanged", "refused", "kept"}, actions
    assert actions.count("created") == 1
    assert versions() == 1
