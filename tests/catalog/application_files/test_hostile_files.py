"""Files of strangers: each is refused with its name and place, and nothing of it is kept."""

import stat
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from apps.catalog.application_files.archives import applications_in, archive, unpacked
from apps.catalog.application_files.folders import MOST_BYTES, FilesRefused
from apps.catalog.application_files.reader import read_application
from apps.catalog.models import Application, ApplicationSkill, ApplicationSource
from apps.catalog.row_files import ContentInvalid
from apps.catalog.row_import import import_directories
from apps.workspace.local.models import Deployment

TRAVEL = b"""\
title: Travel
manifest:
  orchestrator:
    deployment: {deployment_id: demo}
    system_prompt: {type: custom, variables: {}}
  contexts: []
  tool_sets: []
"""
WHOLE = {"application.yaml": TRAVEL, "prompt.md": b"Plan.\n"}


def zipped(*entries: tuple[str, bytes], links: tuple[str, ...] = ()) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in entries:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            if name in links:
                entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            target.writestr(entry, content)
    return stream.getvalue()


def lying(content: bytes) -> bytes:
    """A zip file whose directory says that its entry is small."""
    whole = zipped(("application.yaml", content))
    size = len(content).to_bytes(4, "little")
    return whole.replace(size, (10).to_bytes(4, "little"))


def test_an_archive_comes_back_and_is_the_same_for_the_same_files():
    files = {f"application/travel/{name}": content for name, content in WHOLE.items()}

    assert unpacked(archive(files)) == files
    assert archive(files) == archive(dict(reversed(files.items())))
    assert applications_in(files) == {"travel": WHOLE}
    assert applications_in(WHOLE, "mine") == {"mine": WHOLE}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK nothing", "this is no zip file that can be read"),
        (zipped(("../evil.yaml", b"")), "../evil.yaml: leads out of the zip file."),
        (zipped(("/etc/passwd", b"")), "/etc/passwd: leads out of the zip file."),
        (zipped(("C:/x.yaml", b"")), "C:/x.yaml: leads out of the zip file."),
        (zipped(("a/b", b"x"), links=("a/b",)), "a/b: is a link; put the file itself"),
        (zipped(("a.yaml", b"1"), ("A.yaml", b"2")), "A.yaml: is in the zip file twice."),
        (zipped(("a.yaml", b"0" * 3_000_000)), "a.yaml: the file has 3,000,000 bytes; at most"),
        (lying(b"0" * 3_000_000), "this is no zip file that can be read"),
        (zipped(*((f"{n}.md", b"0" * 2_000_000) for n in range(9))), f"more than {MOST_BYTES:,} b"),
        (zipped(*((f"{n}.md", b"") for n in range(501))), "the zip file has more than 500 files."),
    ],
)
def test_a_hostile_archive_is_refused(content, message):
    with pytest.raises(FilesRefused) as caught:
        unpacked(content)

    assert message in str(caught.value)


def test_files_that_belong_to_no_application_are_refused():
    def problem(files: dict[str, bytes]) -> str:
        with pytest.raises(FilesRefused) as caught:
            applications_in(files)
        return str(caught.value)

    assert problem({"a.md": b""}) == "there is no application.yaml in the files."
    assert problem({"a/application.yaml": b"", "b.md": b""}) == (
        "b.md: is not in the folder of one application.yaml."
    )
    assert problem({"x/a/application.yaml": b"", "y/a/application.yaml": b""}) == (
        "y/a: an application 'a' is in the files already."
    )


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"application.yaml": None}, "application.yaml: there is no such file."),
        ({"application.yaml": b"title: \xff"}, "application.yaml: line 1: not UTF-8; save the file "
         "in this encoding."),
        ({"prompt.md": b"one\ntw\0o"}, "prompt.md: line 2: holds a NUL or half of a character pair, "
         "which cannot be stored."),
        ({"application.yaml": b"- a"}, "application.yaml: line 1: write keys and values, such as "
         "'title: Travel'."),
        ({"application.yaml": b"#" * 1_100_000}, "application.yaml: the file has 1,100,000 bytes; at "
         "most 1,048,576 are possible."),
        ({"application.yaml": TRAVEL + b"titel: x\n"}, "application.yaml: line 8: 'titel': there is "
         "no such key; did you mean 'title'?"),
        ({"application.yaml": b"slug: other\n" + TRAVEL}, "application.yaml: line 1: slug: is "
         "'other', its folder 'travel'."),
        ({"application.yaml": TRAVEL.replace(b"{type: custom, variables: {}}", b"null")},
         "prompt.md: the orchestrator in application.yaml has no system_prompt of the type 'custom'; "
         "write system_prompt: {type: custom, variables: {}} there."),
        ({"run.sh": b""}, "run.sh: is no part of an application; possible are application.yaml, "
         "prompt.md, an icon.svg, icon.png or icon.webp, skills/<name>/SKILL.md with files beside it, "
         "and cases/<name>.yaml."),
        ({"icon.png": b"GIF89a"}, "icon.png: This is no SVG, PNG or WebP."),
        ({"icon.png": b"<svg/>"}, "icon.png: its content is of another type; call it icon.svg."),
        ({"icon.svg": b"<svg/>", "application.yaml": b"icon: \xf0\x9f\xa6\x8a\n" + TRAVEL},
         "icon.svg: application.yaml has an icon, too; keep one of them."),
        ({"icon.svg": b"<svg>" + b" " * 65_536},
         "icon.svg: The picture has 65,541 bytes; at most 65,536 are possible."),
        ({"skills/tone/a.md": b""}, "skills/tone: there is no SKILL.md in the folder."),
        ({"skills/tone/SKILL.md": b"---\nname: other\ndescription: x\n---\n\nText.\n"},
         "skills/tone/SKILL.md: name: is 'other', its folder 'tone'."),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_file_and_line(changes, problem):
    files = {name: text for name, text in {**WHOLE, **changes}.items() if text is not None}

    with pytest.raises(ContentInvalid) as caught:
        read_application("travel", files)

    assert caught.value.problems == (f"application/travel/{problem}",)


def put(directory: Path, name: str, document: bytes = TRAVEL) -> Path:
    folder = directory / "application" / name
    folder.mkdir(parents=True)
    (folder / "application.yaml").write_bytes(document)
    (folder / "prompt.md").write_text("Plan.\n")
    return folder


@pytest.mark.django_db
def test_nothing_is_half_saved(tmp_path):
    Deployment.objects.create(deployment_id="demo", display_name="Demo", provider="demo")
    skill = put(tmp_path, "good") / "skills" / "tone"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: tone\ndescription: x\n---\n\nText.\n")
    put(tmp_path, "loop", TRAVEL.replace(b"demo", b"loop"))
    put(tmp_path, "wrong", TRAVEL.replace(b"tool_sets: []", b"tool_sets: 3"))

    with pytest.raises(ContentInvalid) as caught:
        import_directories(tmp_path)

    assert caught.value.problems == (
        "application/loop/application.yaml: line 4: manifest.orchestrator.deployment.deployment_id: "
        "an application cannot call itself: loop → loop.",
        "application/wrong/application.yaml: line 7: manifest.tool_sets: expected a list, found the "
        "integer 3",
    )
    saved = Application, ApplicationSkill, ApplicationSource
    assert [model.objects.count() for model in saved] == [0, 0, 0]


@pytest.mark.django_db
def test_links_out_of_the_directory_and_circles_of_links_are_refused(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "secret.md"
    outside.write_text("secret")
    folder = put(inside, "travel")
    (folder / "prompt.md").unlink()
    (folder / "prompt.md").symlink_to(outside)
    loop = put(inside, "loop")
    (loop / "skills").symlink_to(loop)

    with pytest.raises(ContentInvalid) as caught:
        import_directories(inside)

    assert caught.value.problems == (
        "application/loop: skills: folders are nested deeper than 8 levels.",
        "application/travel: prompt.md: is a link that leads out of the directory.",
    )
