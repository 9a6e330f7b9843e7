"""Skills of all layers: those that applications are offered, and the problems of the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from apps.catalog.checks import content_is_usable
from apps.catalog.content.installed import directories, installed_content
from apps.catalog.content.layers import read_layers
from apps.catalog.content.review import content_problems
from apps.catalog.content.skills import installed_skills
from apps.catalog.models import ContentItem
from apps.manifest.markdown.skill_document import SkillDocument
from apps.manifest.markdown.skill_files import MOST_BYTES
from tests.contract import proves

pytestmark = pytest.mark.django_db


def text_of(name: str, body: str = "Do it.") -> str:
    return f"---\nname: {name}\ndescription: About {name}.\n---\n{body}"


def put(layer: Path, name: str, **files: str | bytes) -> None:
    """Write `SKILL.md` for `SKILL_md="…"`. Two underscores separate the folders of a path."""
    for written, content in files.items():
        path = layer / "skills" / name / written.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@proves("15")
def test_skills_that_can_be_used_are_read_with_their_files(tmp_path):
    put(tmp_path, "tone", SKILL_md=text_of("tone"), refs__a_md="A", logo_png=b"\x89PNG")
    put(tmp_path, "tone", _hidden_md="no", bad_txt=b"\xff")

    [tone] = installed_skills(read_layers([tmp_path]))

    assert tone.document == SkillDocument("tone", "About tone.", body="Do it.")
    assert (tone.text, tone.files) == (text_of("tone"), {"refs/a.md": "A"})


def test_skills_are_read_once_for_each_content(tmp_path):
    put(tmp_path, "tone", SKILL_md=text_of("tone"))
    content = read_layers([tmp_path])

    assert installed_skills(content) is installed_skills(content)


@proves("15")
def test_what_is_wrong_is_told_with_file_and_key_and_the_skill_is_left_out(tmp_path):
    put(tmp_path, "empty", SKILL_md=" ")
    put(tmp_path, "free", SKILL_md="Be kind.")
    put(tmp_path, "large", SKILL_md=text_of("large"), much_md="x" * (MOST_BYTES + 1))
    put(tmp_path, "long", SKILL_md="x" * (MOST_BYTES + 1))
    put(tmp_path, "odd", SKILL_md="---\nname: Odd\nmetadata: [a]\n---\n")
    put(tmp_path, "other", SKILL_md=text_of("another"))
    content = read_layers([tmp_path])

    assert [line.removeprefix(f"{tmp_path}/skills/") for line in content_problems(content)] == [
        "empty: the file is empty.",
        "free: SKILL.md: front matter: is missing; begin the text with a line '---', then "
        "'name: …' and 'description: …', then another line '---'",
        "large: much.md: is 262,145 bytes; the limit is 262,144",
        "long: SKILL.md: is 262,145 bytes; the limit is 262,144",
        (
            "odd: SKILL.md: name: cannot be 'Odd'; use lowercase letters a-z, digits and single "
            "hyphens between them"
        ),
        "odd: SKILL.md: description: is missing; write 'description: …' in the front matter",
        "odd: SKILL.md: metadata: must be an object with texts as its values, not a list",
        "other: SKILL.md: name: is 'another', but its directory is named 'other'; give both the "
        "same name",
    ]
    assert [skill.document.name for skill in installed_skills(content)] == ["large"]


@proves("15")
def test_a_row_replaces_the_skill_of_a_directory_with_all_its_files(tmp_path, settings):
    settings.PREDEFINED_DIR = tmp_path
    put(tmp_path, "tone", SKILL_md=text_of("tone"), a_md="A")
    put(tmp_path, "zeal", SKILL_md=text_of("zeal"))
    ContentItem.objects.create(
        kind="skill", name="tone", text=text_of("tone", "Be bold."), files={"b.md": "B"}
    )

    tone, zeal = installed_skills(installed_content())

    assert (tone.document.body, tone.files) == ("Be bold.", {"b.md": "B"})
    assert zeal.document.name == "zeal"


@proves("15")
def test_a_row_that_cannot_be_used_leaves_nothing_in_its_place(tmp_path, settings):
    settings.PREDEFINED_DIR = tmp_path
    put(tmp_path, "tone", SKILL_md=text_of("tone"))
    ContentItem.objects.create(kind="skill", name="tone", text=text_of("other"))

    assert installed_skills(installed_content()) == ()
    assert content_problems(installed_content()) == [
        "database: skill/tone: SKILL.md: name: is 'other', but its row is named 'tone'; "
        "give both the same name"
    ]


@proves("15")
def test_starts_and_the_command_tell_broken_skills(tmp_path, settings):
    settings.PREDEFINED_DIR = tmp_path
    put(tmp_path, "tone", SKILL_md="---\nname: tone\n---\nDo it.")
    line = (
        f"{tmp_path}/skills/tone: SKILL.md: description: is missing; write 'description: …' in "
        "the front matter"
    )

    assert [warning.msg for warning in content_is_usable()] == [line]
    with pytest.raises(CommandError) as failed:
        call_command("check_content")
    assert str(failed.value) == line


def test_every_built_in_skill_can_be_used():
    content = read_layers(directories()[:1])

    found = installed_skills(content)

    assert [skill.document.name for skill in found] == list(content.items["skill"])
    assert [(skill.document.name, skill.document.warnings) for skill in found] == [
        ("dial-memory", ()),
        ("tool-call-file-parameter-formatting", ()),
    ]
