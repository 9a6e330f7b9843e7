import re
import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from apps.manifest.markdown.skill_document import SkillDocument, SkillInvalid, read_skill_document
from apps.manifest.markdown.skill_files import (
    MOST_BYTES,
    MOST_FILES,
    SkillFiles,
    bundle_files,
    is_offered,
)
from apps.manifest.problems import Problem
from tests.contract import proves
from tests.tables import each_row

FULL = """---
name: tone-of-voice
description: How we write.
license: MIT
compatibility: Any model.
metadata:
  author: Ann
  version: 1.10
  since: 2026-01-01
allowed-tools: Bash(git add:*) Read, internal_file_list
---

# Be kind

Always.
"""


def problems_of(text: str) -> dict[str, str]:
    with pytest.raises(SkillInvalid) as refused:
        read_skill_document(text)
    return {problem.path: problem.message for problem in refused.value.problems}


def written(front: str, body: str = "Do it.") -> str:
    return f"---\n{front}\n---\n{body}\n"


# --- What can be read --------------------------------------------------------------------------


@proves("15")
def test_everything_that_a_skill_says_is_read_as_it_was_written():
    assert read_skill_document(FULL) == SkillDocument(
        name="tone-of-voice",
        description="How we write.",
        license="MIT",
        compatibility="Any model.",
        metadata={"author": "Ann", "version": "1.10", "since": "2026-01-01"},
        allowed_tools=("Bash(git add:*)", "Read", "internal_file_list"),
        body="# Be kind\n\nAlways.",
    )


@proves("m1.14")
@pytest.mark.parametrize(
    "text",
    [
        "\ufeff---\nname: a\ndescription: d\n---\nx",
        "---\r\nname: a\r\ndescription: d\r\n---\r\nx\r\n",
        "---\rname: a\rdescription: d\r---\rx",
        "\n \n  ---\nname: a\ndescription: d\n---\nx",
        "---  \nname: a\ndescription: d\n--- \t\nx",
        "-----\nname: a\ndescription: d\n----\n\n\nx\n\n",
        "---\n\nname:   a  \ndescription: 'd '\nlicense:\nmetadata: ~\nallowed-tools: []\n---\nx",
    ],
    ids=["BOM", "CRLF", "CR", "leading blank", "blank after fences", "long fences", "nothing said"],
)
def test_what_can_only_be_meant_in_one_way_is_read_in_that_way(text):
    assert read_skill_document(text) == SkillDocument("a", "d", body="x")


@proves("m1.14")
def test_a_text_with_a_colon_is_read_without_quotes_and_told():
    text = written("name: a\ndescription: Use when: it's asked\nlicense: see: LICENSE")

    assert read_skill_document(text) == SkillDocument(
        "a",
        "Use when: it's asked",
        license="see: LICENSE",
        body="Do it.",
        warnings=(
            Problem("description", "has a colon; quote the text"),
            Problem("license", "has a colon; quote the text"),
        ),
    )


def test_hyphens_in_the_body_belong_to_the_body():
    text = written("name: a\ndescription: d", "one\n\n---\n\ntwo\n---")

    assert read_skill_document(text).body == "one\n\n---\n\ntwo\n---"


@proves("15")
def test_tools_can_be_a_list():
    text = written("name: a\ndescription: d\nallowed-tools: [Read, 'Bash(ls -l)']")

    assert read_skill_document(text).allowed_tools == ("Read", "Bash(ls -l)")


@proves("m1.14")
def test_what_was_hardly_meant_is_told():
    text = written("name: a\ndescription: d\nallowed_tools: Read\nversion: 2", "")

    assert read_skill_document(text).warnings == (
        Problem("allowed_tools", "is ignored; use 'allowed-tools'"),
        Problem("version", "is not a key of skills and is ignored; move it to 'metadata'"),
        Problem("front matter", "is not followed by instructions; add them below it"),
    )


# --- What cannot -------------------------------------------------------------------------------


@proves("m1.14")
@each_row(
    ("text", "message"),
    [
        ("Be kind.", "is missing; begin the text with a line '---'"),
        ("---\nname: a\ndescription: d\n", "does not end; add a line '---'"),
        ("---\n---\nBe kind.", "has no keys; add 'name: …'"),
        ("---\n- name\n---\n", "has no keys"),
        ("---\njust words\n---\n", "has no keys"),
        ("---\nname: [a\n---\n", "is not valid YAML: line "),
        ("---\nname: a\n\tb: c\n---\n", "is not valid YAML: line "),
        ("---\nname: a\x00\n---\n", "is not valid YAML: unacceptable character"),
        ("---\n? [a]\n: b\n---\n", "line 2: a key must be a string"),
        ("---\nname: a\nname: b\n---\n", "line 3: 'name' occurs twice; remove one"),
        ("---\nname: &n a\ndescription: *n\n---\n", "line 2: anchors and aliases"),
        ("---\nname: *n\n---\n", "is not valid YAML: line 2"),
        ("---\nname: " + "[" * 1000 + "\n---\n", "is not valid YAML: it is nested too deeply"),
        ("---\nname: " + "a" * 40_000 + "\n---\n", "has 40,006 characters; the limit is 32,768"),
    ],
)  # fmt: skip
def test_front_matter_that_cannot_be_read_is_told_with_what_to_do(text, message):
    assert message in problems_of(text)["front matter"]


@proves("m1.14")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; add front matter and instructions"),
        (" \n", "is empty; add front matter and instructions"),
        ("x" * (MOST_BYTES + 1), "is 262,145 bytes; the limit is 262,144"),
        ("\ud800", "is not UTF-8; save it as UTF-8"),
    ],
)
def test_a_text_of_no_bearable_size_is_refused(text, message):
    assert problems_of(text) == {"SKILL.md": message}


LETTERS = "use lowercase letters a-z, digits and single hyphens between them"


@proves("15")
@each_row(
    ("name", "message"),
    [
        ("", "is missing; write 'name: …' in the front matter"),
        ("Tone", f"cannot be 'Tone'; {LETTERS}"),
        ("-tone", f"cannot be '-tone'; {LETTERS}"),
        ("tone-", f"cannot be 'tone-'; {LETTERS}"),
        ("to--ne", f"cannot be 'to--ne'; {LETTERS}"),
        ("tone of", f"cannot be 'tone of'; {LETTERS}"),
        ("tön", f"cannot be 'tön'; {LETTERS}"),
        ('"a\\nb"', f"cannot be 'a\\nb'; {LETTERS}"),
        ("a" * 65, "has 65 characters; the limit is 64"),
        ("[a]", "must be a string, not a list"),
        ("{a: b}", "must be a string, not an object"),
    ],
)
def test_a_name_that_cannot_be_one_is_refused(name, message):
    assert problems_of(written(f"name: {name}\ndescription: d")) == {"name": message}


@proves("15")
def test_every_broken_rule_is_told_at_once():
    text = written(
        f"description: ' '\nlicense: [MIT]\ncompatibility: {'c' * 501}\n"
        "metadata: {author: {name: Ann}, tags: [a], ok: yes}\nallowed-tools: {a: b}"
    )

    assert problems_of(text) == {
        "name": "is missing; write 'name: …' in the front matter",
        "description": "is empty; describe what the skill is for and when to read it",
        "license": "must be a string, not a list",
        "compatibility": "has 501 characters; the limit is 500",
        "metadata.author": "must be a string, not an object",
        "metadata.tags": "must be a string, not a list",
        "allowed-tools": "must be a list of tool names, or a text with tool names separated by spaces",
    }


@proves("15")
@pytest.mark.parametrize(
    ("front", "problems"),
    [
        (f"description: {'d' * 1024}\ncompatibility: {'c' * 500}", {}),
        (f"description: {'d' * 1025}", {"description": ("has 1,025 characters; the limit is "
                                                       "1,024")}),
        ("description: d\nmetadata: text",
         {"metadata": "must be an object with texts as its values, not a text"}),
        ("description: d\nmetadata: [a]",
         {"metadata": "must be an object with texts as its values, not a list"}),
        ("license: MIT",
         {"description": "is missing; write 'description: …' in the front matter"}),
    ],
)  # fmt: skip
def test_what_is_said_has_its_limits(front, problems):
    text = written(f"name: {'a' * 64}\n{front}")

    if problems:
        assert problems_of(text) == problems
    else:
        assert read_skill_document(text).warnings == ()


# --- Whatever is written -----------------------------------------------------------------------

plain = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), max_size=40)
names = st.from_regex(r"[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,3}", fullmatch=True)


@given(name=names, description=plain.filter(str.strip), metadata=st.dictionaries(plain, plain))
def test_whatever_yaml_writes_is_read_back(name, description, metadata):
    values = {"name": name, "description": description, "metadata": metadata or None}

    found = read_skill_document(f"---\n{yaml.safe_dump(values, allow_unicode=True)}---\nDo it.")

    assert found == SkillDocument(
        name, description.strip(), metadata=metadata or None, body="Do it."
    )


@given(st.text())
@pytest.mark.parametrize("form", ["{}", "---\n{}\n---\nx", "---\nname: a\ndescription: {}\n---\nx"])
def test_any_text_is_a_skill_or_a_mistake(form, text):
    try:
        found = read_skill_document(form.replace("{}", text))
    except SkillInvalid as error:
        told = [(problem.path, problem.message) for problem in error.problems]
        assert told
        assert all(map(all, told))
    else:
        assert re.fullmatch(r"[a-z0-9-]{1,64}", found.name)
        assert found.description


@proves("m1.14")
def test_references_cannot_make_a_text_grow():
    levels = "\n".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, 30))
    began = time.monotonic()

    assert "anchors and aliases" in problems_of(written(f"l0: &l0 lol\n{levels}"))["front matter"]
    assert time.monotonic() - began < 30


# --- The files beside it -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    ["a.md", "refs/a b.MD", "deep/er/data.csv", "x.markdown", "run.sh", "ü.ts", "sub/SKILL.md"],
)
def test_text_files_are_offered(path):
    assert is_offered(path)


@each_row(
    ("path", "message"),
    [
        ("SKILL.md", "is the name of the skill's document; rename the file"),
        ("skill.MD", "is the name of the skill's document; rename the file"),
        ("", "is not a path in a skill; use a path such as 'folder/name.md'"),
        ("/a.md", "is not a path in a skill; use a path such as 'folder/name.md'"),
        ("a//b.md", "is not a path in a skill; use a path such as 'folder/name.md'"),
        ("a\\b.md", "is not a path in a skill; use a path such as 'folder/name.md'"),
        ("a\nb.md", "is not a path in a skill; use a path such as 'folder/name.md'"),
        ("../a.md", "is hidden; remove the dot at the beginning of its name"),
        (".git/a.md", "is hidden; remove the dot at the beginning of its name"),
        ("refs/.a.md", "is hidden; remove the dot at the beginning of its name"),
        ("a" * 260 + ".md", "has a path of 263 characters; the limit is 255"),
    ],
)
def test_other_files_are_not(path, message):
    assert not is_offered(path)
    assert bundle_files({path: "x"}) == SkillFiles({}, (Problem(path, message),))


@pytest.mark.parametrize("path", ["logo.png", "README", "a.md.exe", "Makefile"])
def test_what_is_no_text_by_its_ending_is_not_offered(path):
    [problem] = bundle_files({path: "x"}).problems

    assert problem.path == path
    assert problem.message.startswith("must end with one of .csv .html .ini .js .json")


@proves("15")
def test_files_that_cannot_be_read_are_told_and_the_others_kept():
    files: dict[str, str | bytes] = {
        "latin.txt": b"\xe4",
        "large.txt": b"x" * (MOST_BYTES + 1),
        "full.txt": "x" * MOST_BYTES,
        "half.txt": "\ud800",
        "bom.md": b"\xef\xbb\xbfx",
        "empty.md": "",
    }

    assert bundle_files(files) == SkillFiles(
        {"bom.md": "x", "empty.md": "", "full.txt": "x" * MOST_BYTES},
        (
            Problem("half.txt", "is not UTF-8; save it as UTF-8"),
            Problem("large.txt", "is 262,145 bytes; the limit is 262,144"),
            Problem("latin.txt", "is not UTF-8; save it as UTF-8"),
        ),
    )


@proves("15")
def test_a_skill_has_so_many_files():
    files: dict[str, str | bytes] = {f"{number:03}.md": "x" for number in range(MOST_FILES + 1)}

    found = bundle_files(files)

    assert len(found.files) == MOST_FILES
    assert found.problems == (Problem("200.md", "exceeds the limit of 200 files next to SKILL.md"),)
