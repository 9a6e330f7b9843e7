import json
import re
from collections.abc import Iterable
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.catalog.application_files import parts
from apps.catalog.application_files.exporter import exported_files, write_files
from apps.catalog.application_files.row_import import import_directories
from apps.catalog.models import Application, ApplicationSource, empty_manifest
from apps.catalog.own_skills import skills_of
from apps.catalog.review.manifests import review_manifest
from apps.manifest.credentials import CredentialLocation, find_credentials
from apps.workspace.local.models import Deployment, Secret
from tests.catalog.credentials.documents import tracking
from tests.catalog.rows import make_application

pytestmark = pytest.mark.django_db

TRAVEL = """\
# The travel desk
title: Travel  # shown on top
manifest:
    orchestrator:
        deployment: {deployment_id: gpt}
        system_prompt: {type: custom, variables: {}}
        max_iterations: 3  # few
    contexts: []
    tool_sets: []
"""
SKILL = "---\nname: tone\ndescription: How we write.\n---\n\nShort sentences.\n"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    Deployment.objects.create(deployment_id="gpt", display_name="GPT", provider="demo")
    put(tmp_path, "application.yaml", TRAVEL)
    put(tmp_path, "prompt.md", "You plan journeys.\n")
    put(tmp_path, "skills/tone/SKILL.md", SKILL)
    put(tmp_path, "skills/tone/words/good.txt", "please\n")
    return tmp_path


def put(directory: Path, file: str, text: str) -> None:
    path = directory / "application" / "travel" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def tree(directory: Path) -> dict[str, bytes]:
    found = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in found}


def exported() -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for application in Application.objects.all():
        found |= exported_files(application)
    return found


def printed(*arguments: object, command: str = "import_content") -> str:
    output = StringIO()
    call_command(command, *map(str, arguments), stdout=output, stderr=output, no_color=True)
    return output.getvalue()


def examples(root: Path) -> list[dict[str, Any]]:
    """Return the manifests in the documentation. Parts of a manifest are inserted into the smallest
    one."""
    found = []
    for page in sorted(root.glob("*.md")):
        text = page.read_text()
        indented = re.findall(r"(?:^    .*\n|^\n)+", text, re.MULTILINE)
        fenced = [block.partition("```")[0] for block in text.split("```json\n")[1:]]
        for block in (*indented, *fenced):
            with suppress(ValueError, TypeError):  # not JSON, or not an object
                written = json.loads(block)
                part = {"tool_sets": [written]} if "type" in written else written
                manifest = {**empty_manifest(), **part}
                if not review_manifest(manifest, secrets_may_be_missing=True).errors:
                    found.append(manifest)
    return [one for one in found if are_references(find_credentials(one))]


def are_references(places: Iterable[CredentialLocation]) -> bool:
    return all(place.kind == "reference" for place in places)


@pytest.mark.slow("writes and reads every shipped application")
def test_every_shipped_application_and_every_example_comes_back_byte_by_byte(settings, tmp_path):
    import_directories(settings.PREDEFINED_DIR)
    shipped = Application.objects.count()
    manifests = examples(settings.BASE_DIR / "docs")
    for number, manifest in enumerate(manifests):
        make_application(slug=f"example-{number}", title="Example", manifest=manifest)
    first = exported()
    before = list(Application.objects.order_by("slug").values("slug", "title", "manifest"))
    write_files(tmp_path, first)

    Application.objects.all().delete()
    import_directories(tmp_path)

    assert (shipped > 2, len(manifests) > 60) == (True, True)
    assert exported() == first
    assert list(Application.objects.order_by("slug").values("slug", "title", "manifest")) == before


def test_a_folder_of_people_comes_back_as_they_wrote_it(directory, tmp_path):
    import_directories(directory)

    assert exported() == tree(directory)
    row = Application.objects.get()
    assert row.manifest["orchestrator"]["system_prompt"]["content"] == "You plan journeys."
    assert skills_of(row.pk) == {"tone": {"SKILL.md": SKILL, "words/good.txt": "please\n"}}
    assert [line.split()[0] for line in printed(directory).splitlines()] == ["unchanged"]


def test_what_was_changed_in_the_admin_changes_its_line_of_the_export(directory):
    import_directories(directory)
    row = Application.objects.get()
    row.manifest["orchestrator"]["max_iterations"] = 9
    row.save()

    document = exported()["application/travel/application.yaml"].decode()

    assert document == TRAVEL.replace("max_iterations: 3", "max_iterations: 9")


def test_a_changed_file_is_told_first_and_saved_then(directory):
    import_directories(directory)
    put(directory, "application.yaml", TRAVEL.replace(": 3", ": 4"))
    put(directory, "prompt.md", "You plan journeys.\nAsk for the dates.\n")
    put(directory, "skills/tone/words/good.txt", "thank you\n")

    told = printed(directory, "--dry-run")
    before = Application.objects.get().version
    said = printed(directory)

    assert told == (
        "updated   application travel\n"
        "    manifest.orchestrator.system_prompt.content:\n"
        "        @@ -1 +1,2 @@\n"
        "        You plan journeys.\n"
        "      + Ask for the dates.\n"
        "    manifest.orchestrator.max_iterations: 3 → 4\n"
        '    skills.tone["words/good.txt"]:\n'
        "        @@ -1 +1 @@\n"
        "      - please\n"
        "      + thank you\n"
        "Nothing was saved.\n"
    )
    assert said == "updated   application travel\n"
    row = Application.objects.get()
    assert (row.version, row.manifest["orchestrator"]["max_iterations"]) == (before + 1, 4)
    assert exported() == tree(directory)


def test_what_an_operator_has_changed_stays_with_its_skills_and_text(directory):
    import_directories(directory)
    Application.objects.update(title="Mine")
    put(directory, "application.yaml", TRAVEL.replace("Travel", "Theirs"))
    put(directory, "skills/tone/words/good.txt", "thank you\n")

    kept = printed(directory)
    source = ApplicationSource.objects.get().text
    overwritten = printed(directory, "--overwrite")

    assert kept.startswith("kept      application travel (changed since")
    assert source == TRAVEL
    assert overwritten == "updated   application travel\n"
    assert exported() == tree(directory)


def test_a_skill_alone_makes_a_new_version_of_its_application(directory):
    import_directories(directory)
    before = Application.objects.get().version
    put(directory, "skills/tone/words/good.txt", "thank you\n")

    assert printed(directory) == "updated   application travel\n"
    assert Application.objects.get().version == before + 1


def test_secrets_are_exported_by_their_names_and_never_as_they_are(directory, tmp_path):
    Secret.objects.create(name="shop", value="s3cret")
    manifest = {**empty_manifest(), "tool_sets": [tracking({"$secret": "shop"})]}
    row = make_application(slug="shop", title="Shop", manifest=manifest)
    found = exported()
    row.manifest["tool_sets"] = [tracking("s3cret")]
    row.save()

    assert b"s3cret" not in b"".join(found.values())
    assert b"$secret: shop" in found["application/shop/application.yaml"]
    with pytest.raises(CommandError, match="is a plain credential"):
        printed(tmp_path / "out", command="export_content")
    assert not (tmp_path / "out").exists()


def test_the_command_writes_what_is_asked_for_and_removes_what_is_gone(directory, tmp_path):
    written = tree(directory)
    import_directories(directory)
    out = tmp_path / "out"
    said = printed(out, "travel", command="export_content")
    first = tree(out)
    Application.objects.get().skills.all().delete()
    (out / "application/travel/README.md").write_text("Ours.")
    printed(out, command="export_content")

    assert said == "exported  application travel\n"
    assert first == written
    assert set(tree(out)) == {*exported(), "application/travel/README.md"}
    with pytest.raises(CommandError, match="Unknown application: 'nobody'"):
        printed(out, "nobody", command="export_content")


def test_cases_go_into_files_and_come_back(directory, monkeypatch):
    kept: dict[str, dict[str, Any]] = {}

    def save(application, document, overwrite):
        if "name" not in document:
            raise ValueError("name: required; enter a text")
        kept[document["name"]] = dict(document)

    monkeypatch.setattr(
        parts.case_documents, "connected", {"": lambda application, real: list(kept.values())}
    )
    monkeypatch.setattr(parts.case_savers, "connected", {"": save})
    put(
        directory,
        "cases/greeting.yaml",
        "name: Greeting\nmessages:\n  - role: user\n    text: Hi\n",
    )

    import_directories(directory)

    assert kept == {"Greeting": {"name": "Greeting", "messages": [{"role": "user", "text": "Hi"}]}}
    assert exported() == tree(directory)
    put(directory, "cases/other.yaml", "title: x\n")
    with pytest.raises(CommandError) as caught:
        printed(directory)
    assert "application/travel/cases/other.yaml: name: required; enter a text" in str(caught.value)
