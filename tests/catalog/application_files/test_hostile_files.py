"""Hostile files are refused with their name and location, and nothing of them is stored."""

import stat
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from apps.catalog.application_files.archives import applications_in, archive, unpack_archive
from apps.catalog.application_files.folders import MOST_BYTES, FilesRefused
from apps.catalog.application_files.reader import read_application
from apps.catalog.application_files.row_files import ContentInvalid
from apps.catalog.application_files.row_import import import_directories
from apps.catalog.models import Application, ApplicationSkill, ApplicationSource
from apps.workspace.local.models import Deployment
from tests.documents.raw_names import raw_archive

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
    """Return a zip file whose directory understates the size of its entry."""
    whole = zipped(("application.yaml", content))
    size = len(content).to_bytes(4, "little")
    return whole.replace(size, (10).to_bytes(4, "little"))


def test_an_archive_comes_back_and_is_the_same_for_the_same_files():
    files = {f"application/travel/{name}": content for name, content in WHOLE.items()}

    assert unpack_archive(archive(files)) == files
    assert archive(files) == archive(dict(reversed(files.items())))
    assert applications_in(files) == {"travel": WHOLE}
    assert applications_in(WHOLE, "mine") == {"mine": WHOLE}


def test_names_are_read_as_macos_writes_them_and_composed():
    files = {"a/skills/Gro\u0308ße.md": b"x", "a/b\u202e.md": b"y"}

    read = {"a/skills/Größe.md": b"x", "a/b.md": b"y"}
    assert unpack_archive(zipped(*files.items())) == read
    assert unpack_archive(raw_archive(files).read()) == read


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK nothing", "this is not a readable ZIP file"),
        (
            zipped(("../evil.yaml", b"")),
            "../evil.yaml: is outside of the ZIP file; use a path inside it.",
        ),
        (
            zipped(("/etc/passwd", b"")),
            "/etc/passwd: is outside of the ZIP file; use a path inside it.",
        ),
        (
            zipped(("C:/x.yaml", b"")),
            "C:/x.yaml: is outside of the ZIP file; use a path inside it.",
        ),
        (
            zipped(("a/b", b"x"), links=("a/b",)),
            "a/b: is a link; add the file itself to the ZIP file.",
        ),
        (
            zipped(("a.yaml", b"1"), ("A.yaml", b"2")),
            "A.yaml: is in the ZIP file twice; remove one of the two.",
        ),
        (
            zipped(("ö.md", b"1"), ("o\u0308.md", b"2")),
            "ö.md: is in the ZIP file twice; remove one of the two.",
        ),
        (
            zipped(("a.md", b"1"), ("a\u200b.md", b"2")),
            "a.md: is in the ZIP file twice; remove one of the two.",
        ),
        (zipped(("a\n.md", b"1")), r"'a\n.md': control characters are not allowed."),
        (zipped(("a" * 60_000, b"1")), "the name has 60000 characters; the limit is 500"),
        (raw_archive({"ÿþ¤¦.md": "x"}, "latin-1").read(), "create the ZIP file with UTF-8 names."),
        (
            zipped(("a.yaml", b"0" * 3_000_000)),
            "a.yaml: the file is 3,000,000 bytes; the limit is",
        ),
        (lying(b"0" * 3_000_000), "this is not a readable ZIP file"),
        (
            zipped(*((f"{n}.md", b"0" * 2_000_000) for n in range(9))),
            f"the limit is {MOST_BYTES:,} bytes in total",
        ),
        (
            zipped(*((f"{n}.md", b"") for n in range(501))),
            ("the ZIP file has too many files; the limit is 500."),
        ),
    ],
)
def test_a_hostile_archive_is_refused(content, message):
    with pytest.raises(FilesRefused) as caught:
        unpack_archive(content)

    assert message in str(caught.value)


def test_files_that_belong_to_no_application_are_refused():
    def problem(files: dict[str, bytes]) -> str:
        with pytest.raises(FilesRefused) as caught:
            applications_in(files)
        return str(caught.value)

    assert problem({"a.md": b""}) == "the files contain no application.yaml; add one."
    assert problem({"a/application.yaml": b"", "b.md": b""}) == (
        "b.md: is not in a folder with an application.yaml; move it into one."
    )
    assert problem({"x/a/application.yaml": b"", "y/a/application.yaml": b""}) == (
        "y/a: the files contain the application 'a' twice; remove one of the two."
    )


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"application.yaml": None}, "application.yaml: the file does not exist."),
        ({"application.yaml": b"title: \xff"}, ("application.yaml: line 1: not UTF-8; save the "
                                               "file as UTF-8.")),
        ({"prompt.md": b"one\ntw\0o"}, "prompt.md: line 2: contains a NUL character or invalid Unicode, which cannot be stored; remove it."),
        ({"application.yaml": b"- a"}, "application.yaml: line 1: write keys and values, such as "
         "'title: Travel'."),
        ({"application.yaml": b"#" * 1_100_000}, ("application.yaml: the file is 1,100,000 "
                                                 "bytes; the limit is 1,048,576.")),
        ({"application.yaml": TRAVEL + b"titel: x\n"}, "application.yaml: line 8: 'titel': there is "
         "no such key; did you mean 'title'?"),
        ({"application.yaml": b"slug: other\n" + TRAVEL}, ("application.yaml: line 1: slug is "
                                                          "'other', but its folder is 'travel'.")),
        ({"application.yaml": TRAVEL.replace(b"{type: custom, variables: {}}", b"null")},
         "prompt.md: the orchestrator in application.yaml has no system_prompt of the type 'custom'; "
         "write system_prompt: {type: custom, variables: {}} there."),
        ({"run.sh": b""}, "run.sh: is not part of an application; allowed are application.yaml, "
         "prompt.md, an icon.svg, icon.png or icon.webp, skills/<name>/SKILL.md with files next to it, "
         "and cases/<name>.yaml."),
        ({"icon.png": b"GIF89a"}, "icon.png: This is not an SVG, PNG or WebP image."),
        ({"icon.png": b"<svg/>"}, "icon.png: the content has a different type; rename the file to icon.svg."),
        ({"icon.svg": b"<svg/>", "application.yaml": b"icon: \xf0\x9f\xa6\x8a\n" + TRAVEL},
         "icon.svg: application.yaml also has an icon; remove one of them."),
        ({"icon.svg": b"<svg>" + b" " * 65_536},
         "icon.svg: The image is 65,541 bytes; the limit is 65,536."),
        ({"skills/tone/a.md": b""}, "skills/tone: the folder contains no SKILL.md."),
        ({"skills/tone/SKILL.md": b"---\nname: other\ndescription: x\n---\n\nText.\n"},
         "skills/tone/SKILL.md: the name is 'other', but its folder is 'tone'."),
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
        "application/loop: skills: folders are nested too deeply; the limit is 8 levels.",
        "application/travel: prompt.md: is a link to a file outside of the directory; replace it with the file itself.",
    )
