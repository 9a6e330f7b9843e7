from pathlib import Path

import pytest
from django.core.exceptions import ValidationError

from apps.catalog.application_files import managed
from apps.catalog.application_files.models import managed_directory_of, managed_refusal
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.resolve import resolve
from apps.catalog.row_import import import_directories
from apps.workspace.local.models import Deployment

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
def directory(tmp_path: Path, settings) -> Path:
    Deployment.objects.create(deployment_id="demo", display_name="Demo", provider="demo")
    settings.CONTENT_PATHS = [str(tmp_path)]
    settings.CATALOG_MAX_AGE_SECONDS = 0
    managed.forget()
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
    first = await resolve("travel")
    again = await resolve("travel")
    put(directory, TRAVEL.replace(": 3", ": 14"))
    changed = await resolve("travel")

    found = [one.manifest.orchestrator.max_iterations for one in (first, again, changed)]
    assert (found, first.number, changed.number) == ([3, 3, 14], 1, 2)
    assert (first is again, managed.known_problems()) == (True, ())


def test_a_mistake_names_file_line_and_path_and_leaves_the_running_version_alone(directory, caplog):
    managed.refresh()
    file = put(directory, TRAVEL.replace(": 3", ": many"))
    put(directory, TRAVEL, "other")
    managed.refresh()
    managed.refresh()

    assert managed.known_problems() == (
        f"{file}: line 5: manifest.orchestrator.max_iterations: expected an integer, found the "
        'string "many"',
    )
    assert caplog.text.count("max_iterations") == 1
    assert Application.objects.get(slug="travel").manifest["orchestrator"]["max_iterations"] == 3
    assert Application.objects.filter(slug="other").exists()


def test_another_process_finds_nothing_to_do(directory):
    managed.refresh()
    before = Application.objects.get().version, versions()

    managed.forget()
    managed.refresh()

    assert (Application.objects.get().version, versions()) == before


def test_nobody_else_changes_it(directory):
    managed.refresh()
    row = Application.objects.get()

    with pytest.raises(ValidationError, match=r"is kept in files, in .* duplicate it"):
        row.full_clean()
    elsewhere = directory / "elsewhere"
    put(elsewhere, TRAVEL.replace("Travel", "Mine"))
    report = import_directories(elsewhere, overwrite=True)

    assert [outcome.action for outcome in report.outcomes] == ["kept"]
    assert Application.objects.get().title == "Travel"


def test_an_application_of_an_operator_is_not_taken_over(directory):
    row = Application.objects.create(slug="travel", title="Mine")
    managed.refresh()

    assert managed.known_problems() == (
        f"{directory}/application/travel/application.yaml: there is an application 'travel' that an "
        "operator has made or changed; delete it or rename one of the two.",
    )
    row.refresh_from_db()
    assert (row.title, managed_directory_of(row.pk)) == ("Mine", "")


def test_two_directories_cannot_have_the_same_application(directory, settings):
    other = directory / "other"
    put(other, TRAVEL.replace("Travel", "Other"))
    settings.CONTENT_PATHS = [str(directory), str(other)]
    managed.refresh()

    assert managed.known_problems() == (
        f"{other}/application/travel/application.yaml: 'travel' is in {directory} already.",
    )
    assert Application.objects.get().title == "Travel"


def test_an_application_whose_files_go_stays_and_can_be_edited_and_comes_back(directory):
    managed.refresh()
    file = directory / "application" / "travel" / "application.yaml"
    file.unlink()
    file.parent.rmdir()
    managed.refresh()
    released = managed_refusal(Application.objects.get().pk)
    put(directory, TRAVEL.replace("Travel", "Again"))
    managed.refresh()

    assert released == ""
    assert Application.objects.get().title == "Again"
    assert managed_directory_of(Application.objects.get().pk) == str(directory)


def test_a_directory_that_is_missing_for_a_while_changes_nothing(directory, settings):
    managed.refresh()
    directory.rename(moved := directory.with_name("moved"))
    managed.refresh()
    problems = managed.known_problems()

    assert problems == (f"{directory}: there is no such directory.",)
    assert managed_directory_of(Application.objects.get().pk) == str(directory)
    moved.rename(directory)


def test_a_process_that_read_before_another_one_wrote_writes_nothing(directory):
    folder = directory / "application" / "travel"
    managed.load_folder(folder, directory, None)
    before = Application.objects.get().version, versions()

    managed.load_folder(folder, directory, None)
    put(directory, TRAVEL.replace("Travel", "New"))
    managed.load_folder(folder, directory, (str(directory), "what another process had read"))

    assert before == (1, 1)
    assert (Application.objects.get().title, versions()) == ("New", 2)


async def test_skills_belong_to_their_application_and_to_the_version_they_came_with(directory):
    file = directory / "application" / "travel" / "skills" / "tone" / "SKILL.md"
    file.parent.mkdir(parents=True)
    text = "---\nname: tone\ndescription: How we write.\n---\n\nShort.\n"
    file.write_text(text)
    put(directory, TRAVEL, "other")
    first = await resolve("travel")
    file.write_text(text.replace("Short", "Long"))
    changed = await resolve("travel")
    former, other = await resolve("travel@1"), await resolve("other")

    found = [
        [skill.text for skill in one.skills if skill.document.name == "tone"]
        for one in (first, changed, former, other)
    ]
    assert found == [[text], [text.replace("Short", "Long")], [text], []]
