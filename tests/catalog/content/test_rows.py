"""Content in the database overrides all directories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from apps.catalog.checks import content_is_usable, rows_are_usable
from apps.catalog.content.installed import expire_content, installed_content, installed_now
from apps.catalog.content.layers import ContentRows
from apps.catalog.content.models import ContentItem, row_stamp
from apps.catalog.management.commands import check_content
from tests.catalog.content.files import write
from tests.contract import proves
from tests.manifest.documents import rest_tool

pytestmark = pytest.mark.django_db

SHIP = rest_tool("ship", type="restapi-tool")


def make(kind: str, name: str, text: str, **fields: Any) -> ContentItem:
    return ContentItem.objects.create(kind=kind, name=name, text=text, **fields)


@pytest.fixture
def layer(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 0.0)
    settings.PREDEFINED_DIR = write(tmp_path / "built in", prompt__polite="Be polite.")
    settings.PREDEFINED_EXTRA_PATHS = []
    return tmp_path


@proves("m4.2")
def test_directories_lie_above_each_other_and_rows_above_them(layer, settings):
    second = write(layer / "2", prompt__polite="Be brief.", tool__ship=SHIP)
    third = write(layer / "3", prompt__polite="Be kind.")
    settings.PREDEFINED_EXTRA_PATHS = [str(second), str(third)]
    make("prompt", "polite", "Be quick.\n")

    found = installed_content()

    assert [item.value for item in found.stacks["prompt"]["polite"]] == [
        "Be polite.",
        "Be brief.",
        "Be kind.",
        "Be quick.",
    ]
    top = found.items["prompt"]["polite"]
    assert (top.layer, top.location, top.is_row) == ("database", "database: prompt/polite", True)
    assert found.items["tool"]["ship"].location == f"{second}/tool/ship.json"


@proves("m4.1")
def test_skills_are_their_files_by_path(layer):
    folder = layer / "built in" / "skills" / "sail"
    (folder / "notes").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: sail\n---\nHoist.")
    (folder / "notes" / "knots.md").write_text("Bowline.")
    (folder / "picture.png").write_bytes(b"\x89PNG\xff")
    (folder / ".hidden").write_text("no")
    (layer / "built in" / "skills" / "empty").mkdir()
    (layer / "built in" / "skills" / "loose.md").write_text("ignored")
    make("skill", "row", "# Row", files={"a/b.md": "B"})

    skills = installed_content().items["skill"]

    assert {name: (item.value, item.problem) for name, item in skills.items()} == {
        "empty": (None, "the directory contains no SKILL.md."),
        "row": ({"SKILL.md": "# Row", "a/b.md": "B"}, ""),
        "sail": ({"SKILL.md": "---\nname: sail\n---\nHoist.", "notes/knots.md": "Bowline."}, ""),
    }


def test_a_changed_file_of_a_skill_is_seen(layer):
    folder = layer / "built in" / "skills" / "sail"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("Hoist.")
    before = installed_content()
    (folder / "more.md").write_text("More.")

    assert installed_content() is not before
    assert installed_content().items["skill"]["sail"].value == {
        "SKILL.md": "Hoist.",
        "more.md": "More.",
    }


@proves("m4.2")
def test_every_change_of_a_row_is_seen_and_nothing_else_is_read_again(layer):
    before = installed_content()
    polite = before.items["prompt"]["polite"]
    row = make("prompt", "row", "One.")
    assert installed_content().items["prompt"]["row"].value == "One."
    assert installed_content().items["prompt"]["polite"] is polite

    row.text = "Two."
    row.save()
    assert installed_content().items["prompt"]["row"].value == "Two."

    ContentItem.objects.all().delete()
    make("prompt", "row", "Three.")
    assert installed_content().items["prompt"]["row"].value == "Three."

    ContentItem.objects.all().delete()
    assert list(installed_content().items["prompt"]) == ["polite"]
    assert installed_content() is installed_content()


def test_no_two_states_of_the_table_have_one_stamp():
    seen = [row_stamp()]
    first, second = make("prompt", "a", "A"), make("prompt", "b", "B")
    seen.append(row_stamp())
    first.save()
    seen.append(row_stamp())
    second.delete()
    seen.append(row_stamp())
    make("prompt", "b", "B")
    seen.append(row_stamp())
    first.delete()
    seen.append(row_stamp())

    assert len(set(seen)) == len(seen)


def test_a_look_costs_one_query_and_a_recent_one_none(layer, monkeypatch):
    make("prompt", "row", "One.")
    installed_content()
    with CaptureQueriesContext(connection) as looking:
        installed_content()
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 600.0)
    with CaptureQueriesContext(connection) as recent:
        installed_content()
    expire_content()
    with CaptureQueriesContext(connection) as again:
        installed_content()

    assert [len(found) for found in (looking, recent, again)] == [1, 0, 1]


@pytest.mark.django_db
async def test_nothing_is_blocked_by_a_look(layer):
    await ContentItem.objects.acreate(kind="prompt", name="row", text="One.")

    assert (await installed_now()).items["prompt"]["row"].value == "One."


REFUSED: list[tuple[dict[str, Any], dict[str, list[str]]]] = [
    ({"text": ""}, {"text": ["This field cannot be blank."]}),
    ({"text": "  \n"}, {"text": ["the file is empty."]}),
    ({"text": "a\0b"}, {"text": ["contains a NUL character or invalid Unicode, which cannot be stored; remove it."]}),
    ({"name": "../x"}, {"name": [r"Use only letters, digits, hyphens, underscores and dots."]}),
    ({"name": "x\n"}, {"name": [r"Use only letters, digits, hyphens, underscores and dots."]}),
    ({"kind": "tool"}, {"text": ["Line 1, column 1: not valid JSON: Expecting value."]}),
    ({"kind": "tool", "text": "[]"}, {"text": ["$: expected an object, found a list."]}),
    ({"files": {"a.md": "A"}}, {"files": ["Only skills have files."]}),
    ({"kind": "skill", "files": {"../a": "A"}}, {"files": [("../a: is hidden; remove the dot at "
                                                           "the beginning of its name")]}),
    ({"kind": "skill", "files": {"SKILL.md": "A"}}, {"files": [("SKILL.md: is the name of the skill's document; rename the file")]}),
    ({"kind": "skill", "files": {"a": 5}}, {"files": [("Enter an object with paths as keys and "
                                                      "texts as values.")]}),
    ({"kind": "skill", "files": {"a": "\0"}}, {"files": ["a: contains a NUL character or invalid Unicode, which cannot be stored; remove it."]}),
    ({"kind": "song"}, {"kind": ["Value 'song' is not a valid choice."]}),
]  # fmt: skip


def test_what_cannot_be_an_item_is_refused_at_its_field(subtests: pytest.Subtests):
    for fields, errors in REFUSED:
        with subtests.test(fields=fields):
            row = ContentItem(
                **{"kind": "prompt", "name": "polite", "text": "Be polite.", **fields}
            )

            with pytest.raises(ValidationError) as refused:
                row.full_clean()

            assert refused.value.message_dict == errors


def test_there_is_one_row_for_a_kind_and_name():
    make("prompt", "polite", "Be polite.")
    ContentItem(kind="prompt", name="brief", text="Be brief.").full_clean()

    with pytest.raises(ValidationError) as refused:
        ContentItem(kind="prompt", name="polite", text="Be brief.").full_clean()

    assert refused.value.messages == ["An item of this kind and name already exists."]


def test_broken_rows_are_named_by_the_command_and_by_the_check_of_the_database(layer):
    make("tool", "broken", "{")
    make("prompt", "fine", "Be fine.")

    line = "database: tool/broken: Line 1, column 2: not valid JSON: "
    with pytest.raises(CommandError) as failed:
        call_command("check_content")

    assert (str(failed.value).startswith(line), failed.value.returncode) == (True, 1)
    assert (content_is_usable(), rows_are_usable()) == ([], [])
    (found,) = rows_are_usable(databases=["default"])
    assert (found.id, found.msg.startswith(line)) == ("quickapps.W003", True)


def test_files_are_checked_without_a_database(layer, capsys, monkeypatch):
    def fail() -> ContentRows:
        raise OperationalError("no such table")

    monkeypatch.setattr(check_content, "read_rows", fail)

    call_command("check_content", no_color=True)

    said = capsys.readouterr()
    assert said.out == "prompt polite\n1 items, no problems.\n"
    assert said.err == "Warning: no rows were checked: no such table\n"


@proves("m4.2")
def test_a_layer_that_is_missing_stops_the_start(layer, settings):
    settings.PREDEFINED_EXTRA_PATHS = [str(layer / "gone")]

    (found,) = content_is_usable()

    assert (found.id, found.is_serious()) == ("quickapps.E002", True)
    assert found.msg == f"{layer}/gone: the directory does not exist."


def test_a_prompt_of_the_mapping_that_is_not_there_is_told(layer, settings):
    settings.CONFIG_PROMPT_MAPPING = {"polit": ("gpt",), "polite": ("claude",)}

    with pytest.raises(CommandError) as failed:
        call_command("check_content")

    assert str(failed.value) == (
        "CONFIG_PROMPT_MAPPING: There is no predefined prompt 'polit'; did you mean 'polite'?"
    )


@proves("m4.2")
def test_the_log_tells_what_each_layer_brings_and_replaces(layer, settings, caplog):
    second = write(layer / "2", prompt__polite="Be brief.", tool__ship=SHIP, tool__bad=b"{")
    settings.PREDEFINED_EXTRA_PATHS = [str(second)]
    make("tool", "ship", "{}")
    caplog.set_level("INFO", logger="apps.catalog.content.installed")

    installed_content()

    first = layer / "built in"
    told = [record.getMessage() for record in caplog.records]
    assert told[:4] == [
        f"Predefined content: {first}: 1 prompt",
        f"Predefined content: {second}: 1 prompt, 2 tools",
        f"Predefined content: {second}/prompt/polite.md replaces {first}/prompt/polite.md",
        f"Predefined content: database: tool/ship replaces {second}/tool/ship.json",
    ]
    assert [line.split(": ")[1] for line in told[4:]] == [f"{second}/tool/bad.json", "database"]
