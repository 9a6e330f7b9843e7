"""Skills in the admin: SKILL.md and further files, each with a path and a text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from apps.catalog.content.installed import installed_content
from apps.catalog.content.models import ContentItem
from apps.console.admin.content.skill_files import SkillFile
from apps.manifest.markdown.skill_files import MOST_BYTES, MOST_FILES, TEXT_ENDINGS
from tests.console.pages import browser_of, staff_account

pytestmark = pytest.mark.django_db

LIST = "/admin/catalog/contentitem/"
ADD = f"{LIST}add/"
PAGE = f"{LIST}item/skill/sail/"
SAIL = "---\nname: sail\ndescription: How to sail.\n---\nHoist.\n"
ENDINGS = " ".join(sorted(TEXT_ENDINGS))


@pytest.fixture(autouse=True)
def _one_layer(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 0.0)
    settings.PREDEFINED_DIR = tmp_path
    settings.PREDEFINED_EXTRA_PATHS = []


def built_in(folder: Path, **files: str) -> None:
    """Return the skill `sail` of the directory; `rope_md` becomes rope.md."""
    skill = folder / "skills" / "sail"
    skill.mkdir(parents=True)
    for name, text in {"SKILL_md": SAIL, **files}.items():
        (skill / name.replace("_", ".")).write_text(text)


def typed(*files: tuple[str, str], text: str = SAIL, **rest: str) -> dict[str, Any]:
    """Return what a browser sends of the form."""
    return {
        "kind": "skill",
        "name": "sail",
        "text": text,
        "files-path": [path for path, _ in files],
        "files-text": [text for _, text in files],
        **rest,
    }


def change_url(row: ContentItem) -> str:
    return f"{LIST}{row.pk}/change/"


def test_a_skill_is_saved_with_its_files_and_in_force_at_once(admin_client):
    files = (("knots/bowline.md", "A loop.\r\nIt holds.\r\n"), ("", ""), (" rope.txt ", "Hemp"))

    answer = admin_client.post(ADD, typed(*files))

    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    saved = {"knots/bowline.md": "A loop.\nIt holds.\n", "rope.txt": "Hemp"}
    assert ContentItem.objects.get().files == saved
    assert installed_content().items["skill"]["sail"].value == {"SKILL.md": SAIL, **saved}


def test_files_are_added_renamed_changed_and_removed(admin_client):
    files = {"a.md": "A", "b.md": "B", "c.md": "C"}
    row = ContentItem.objects.create(kind="skill", name="sail", text=SAIL, files=files)
    changed = typed(("a.md", "A"), ("bee.md", "B"), ("d.md", "D"), ("c.md", ""), seen_version="1")

    admin_client.post(change_url(row), changed)

    row.refresh_from_db()
    assert row.files == {"a.md": "A", "bee.md": "B", "c.md": "", "d.md": "D"}
    admin_client.post(change_url(row), typed(seen_version="2"))
    row.refresh_from_db()
    assert row.files == {}


UNFIT = [
    ([("logo.png", "x")], [f"logo.png: must end with one of {ENDINGS}."]),
    ([("a.md", "1"), ("a.md", "2")], ["a.md: occurs twice; change one of the paths."] * 2),
    ([("", "x")],
     ["A file: has no path; enter one, such as 'examples/letter.md', or clear its text."]),
    ([("../a.md", "x")], ["../a.md: is hidden; remove the dot at the beginning of its name."]),
    ([("/a.md", "x")], ["/a.md: is not a path in a skill; use a path such as 'folder/name.md'."]),
    ([("skill.md", "x")],
     ["skill.md: is the name of the skill's document; rename the file."]),
    ([("a.md", "é" * (MOST_BYTES // 2 + 1))],
     ["a.md: is 262,146 bytes; the limit is 262,144."]),
    ([(f"{n}.md", "") for n in range(MOST_FILES + 1)],
     ["There are 201 files; the limit is 200."]),
    ([(f"{n}.md", "x" * 250_000) for n in range(9)],
     [f"The item is {9 * 250_000 + len(SAIL):,} bytes in total; the limit is 2,097,152."]),
]  # fmt: skip
"""Files of a skill, and their errors."""


def test_what_cannot_be_saved_is_told_with_its_path_and_comes_back_as_typed(admin_client, subtests):
    for files, problems in UNFIT:
        with subtests.test(problems[0]):
            answer = admin_client.post(ADD, typed(*files))

            form = answer.context["adminform"].form
            assert (answer.status_code, ContentItem.objects.count()) == (200, 0)
            assert form.errors == {"files": problems}
            assert form["files"].value() == [SkillFile(*file) for file in files]
            assert form["text"].value() == SAIL


def test_a_mistake_stands_beside_its_file_which_is_open(admin_client):
    files = [(f"{n}.md", "x") for n in range(4)] + [("a.png", "<b>& more</b>\n")]

    answer = admin_client.post(ADD, typed(*files)).text

    shown = answer.partition("<ol data-files>")[2].partition("</ol>")[0]
    rows = re.findall(r"<li data-file>.*?</li>", shown, re.DOTALL)
    assert [("<details open>" in row, 'aria-invalid="true"' in row) for row in rows] == [
        *[(False, False)] * 4,
        (True, True),
    ]
    assert "&lt;b&gt;&amp; more&lt;/b&gt;\n</textarea>" in rows[-1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Hoist.", "SKILL.md: front matter: is missing; begin the text with a line '---', "),
        (SAIL.replace("sail\n", "Sail Boat\n", 1), "SKILL.md: name: cannot be 'Sail Boat'; use "),
        (SAIL.replace("sail\n", "row\n", 1), "SKILL.md: name: is 'row', but its row is named 'sail'"),
        (SAIL.replace("How to sail.", ""), "SKILL.md: description: is missing; write "),
        (" ", "the file is empty."),
    ],
)  # fmt: skip
def test_a_document_that_is_no_skill_is_told_at_the_text(admin_client, text, problem):
    answer = admin_client.post(ADD, typed(("a.md", "A"), text=text))

    form = answer.context["adminform"].form
    assert list(form.errors) == ["text"]
    assert form.errors["text"][0].startswith(problem)
    assert (form["text"].value(), form["files"].value()) == (text, [SkillFile("a.md", "A")])


def test_mistakes_in_the_document_and_in_files_are_told_at_once(admin_client):
    form = admin_client.post(ADD, typed(("a.png", "A"), text="Hoist.")).context["adminform"].form

    assert sorted(form.errors) == ["files", "text"]


def test_other_kinds_have_no_files(admin_client):
    answer = admin_client.post(ADD, {**typed(("a.md", "A"), text="Be kind."), "kind": "prompt"})

    assert answer.context["adminform"].form.errors == {"files": ["Only skills have files."]}


def test_a_new_skill_begins_with_its_front_matter(admin_client):
    form = admin_client.get(f"{ADD}?kind=skill&name=sail").context["adminform"].form

    assert form.initial["text"] == "---\nname: sail\ndescription:\n---\n\n"
    assert (form.fields["text"].label, form["files"].value()) == ("SKILL.md", [])


def test_an_override_begins_with_all_files_and_is_compared_file_by_file(admin_client, tmp_path):
    built_in(tmp_path, rope_md="Hemp.\n", sail_md="White.\n")
    form = admin_client.get(f"{ADD}?kind=skill&name=sail").context["adminform"].form
    assert form["files"].value() == [
        SkillFile("rope.md", "Hemp.\n"),
        SkillFile("sail.md", "White.\n"),
    ]

    admin_client.post(ADD, typed(("rope.md", "Hemp.\n"), ("sail.md", "Red.\n")))

    layer, below = admin_client.get(PAGE).context["layers"]
    assert [(line.kind, line.text) for line in layer.lines if line.kind != "place"] == [
        ("same", "Hemp."),
        ("same", ""),
        ("same", "sail.md:"),
        ("removed", "White."),
        ("added", "Red."),
    ]
    assert below.lines is None


def test_a_preview_shows_the_skill_as_the_model_meets_it(admin_client):
    text = SAIL.replace("How to sail.", "How to sail: <fast>").replace(
        "---\nHoist", "mast: 2\n---\nHoist"
    )

    found = admin_client.post(
        f"{LIST}preview/", typed(("knots/bowline.md", "A loop."), text=text)
    ).json()

    assert found["problems"] == []
    odd, told, read, file = [(block["title"], block["text"]) for block in found["blocks"]]
    assert odd == (
        "Warnings",
        (
            "description: has a colon; quote the text\nmast: is not a key of skills and is "
            "ignored; move it to 'metadata'"
        ),
    )
    assert told[1].endswith(
        "<available_skills>\n  <skill>\n    <name>sail</name>\n"
        "    <description>How to sail: &lt;fast&gt;</description>\n  </skill>\n</available_skills>"
    )
    inventory = "<skill_files>\n  <file>knots/bowline.md</file>\n</skill_files>"
    assert read[1] == f"{text.strip()}\n\n{inventory}"
    assert file == ("knots/bowline.md", "A loop.")


def test_nothing_is_lost_when_somebody_else_saves_meanwhile(admin_client):
    row = ContentItem.objects.create(kind="skill", name="sail", text=SAIL, files={"a.md": "A"})
    row.save()
    mine = typed(("a.md", "Mine"), ("b.md", "B"), seen_version="1", base_version="1")

    answer = admin_client.post(change_url(row), mine)

    form = answer.context["adminform"].form
    assert "Another user saved this predefined item" in form.errors["__all__"][0]
    assert form["files"].value() == [SkillFile("a.md", "Mine"), SkillFile("b.md", "B")]
    admin_client.post(change_url(row), {**mine, "seen_version": "2"})
    row.refresh_from_db()
    assert row.files == {"a.md": "Mine", "b.md": "B"}


def test_edits_of_two_people_become_one(admin_client):
    row = ContentItem.objects.create(kind="skill", name="sail", text=SAIL, files={"a.md": "A"})
    url, theirs = change_url(row), typed(("a.md", "A"), ("b.md", "B"))
    admin_client.post(url, {**theirs, "seen_version": "1", "base_version": "1"})
    mine = typed(("a.md", "A"), text=SAIL.replace("Hoist", "Reef"), base_version="1")
    admin_client.post(url, {**mine, "seen_version": "1"})

    admin_client.post(url, {**mine, "seen_version": "2", "_merge": "1"})

    row.refresh_from_db()
    assert ("Reef" in row.text, row.files) == (True, {"a.md": "A", "b.md": "B"})


def test_who_may_only_look_sees_the_files(admin_client):
    reader = browser_of(staff_account("staff", "view_contentitem"))
    files = {"a.md": "<b>bold</b>"}
    row = ContentItem.objects.create(kind="skill", name="sail", text=SAIL, files=files)

    page = reader.get(change_url(row)).text

    assert '"&lt;b&gt;bold&lt;/b&gt;"' in page
    assert "<b>bold" not in page
