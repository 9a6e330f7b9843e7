"""The tool that reads skills and their further files."""

from typing import Any

import pytest

from apps.agent.events import Event, StageClosed, StageOpened
from apps.capabilities.registry import Contribution
from apps.capabilities.skills.read_tool import SKILLS
from tests.capabilities.manifests import stage_text, timeless, use
from tests.capabilities.skills.openings import installed, opened, text_of
from tests.contract import proves
from tests.dial_core.core import KEY
from tests.tables import each_row
from tests.workspace.dial.callers import workspace

TONE = installed("tone", "Be kind.", words_md="kind", more_csv="a,b")
PLAIN = installed("plain")


async def read(found: Contribution, **arguments: Any) -> str:
    [tool] = found.tools
    return (await use(tool, **arguments)).content


@proves("15")
@pytest.mark.parametrize("path", [None, "", "  "])
async def test_a_skill_is_read_with_the_names_of_its_files(path):
    async with opened(TONE, PLAIN) as (_, found):
        assert await read(found, skill_name="plain", file_path=path) == PLAIN.text
        assert await read(found, skill_name=" tone ", file_path=path) == (
            f"{TONE.text}\n\n<skill_files>\n  <file>words.md</file>\n  <file>more.csv</file>\n"
            "</skill_files>"
        )


@proves("15")
async def test_a_file_that_is_listed_is_read():
    async with opened(TONE) as (_, found):
        assert await read(found, skill_name="tone", file_path="words.md") == "kind"
        assert await read(found, skill_name="tone", file_path="./more.csv") == "a,b"


@proves("15")
@each_row(
    ("arguments", "message"),
    [
        ({}, "Missing required parameter: skill_name"),
        ({"skill_name": None}, "Missing required parameter: skill_name"),
        ({"skill_name": "  "}, "Missing required parameter: skill_name"),
        ({"skill_name": "tune"}, "Skill 'tune' is not found. Available skills: tone, plain."),
        ({"skill_name": "../tone"}, "Skill '../tone' is not found. Available skills: tone, plain."),
        ({"skill_name": "tone", "file_path": "none.md"},
         "File 'none.md' is not available in skill 'tone'. Available files: words.md, more.csv."),
        ({"skill_name": "tone", "file_path": "SKILL.md"},
         "File 'SKILL.md' is not available in skill 'tone'. Available files: words.md, more.csv."),
        ({"skill_name": "tone", "file_path": "../plain/SKILL.md"},
         "File '../plain/SKILL.md' is not available in skill 'tone'. "
         "Available files: words.md, more.csv."),
        ({"skill_name": "plain", "file_path": "a.md"}, "Skill 'plain' has no bundled files."),
    ],
)  # fmt: skip
async def test_what_cannot_be_read_is_told_with_what_can(arguments, message):
    async with opened(TONE, PLAIN) as (_, found):
        assert message in await read(found, **arguments)


@proves("15")
async def test_the_call_is_shown_in_a_stage_of_its_own():
    events: list[Event] = []
    async with opened(TONE) as (_, found):
        [tool] = found.tools
        await use(tool, events.append, skill_name="tone", file_path="words.md")

    opening, *_, closing = timeless(events)
    assert (opening, closing) == (
        StageOpened("call-1", "Reading Skill: tone"),
        StageClosed("call-1", 0.0, failed=False),
    )
    assert "***file_path:*** words.md" in stage_text(events)
    assert "> #### Result:\n\n```\nkind\n```" in stage_text(events)


@proves("15")
async def test_files_of_a_skill_of_core_are_read_with_the_rights_of_the_caller(core):
    holder = core.keys.holder(KEY)
    assert holder is not None
    url = f"skills/{holder.bucket}/triage"
    files = {
        "SKILL.md": text_of("triage").encode(),
        "refs/a b.md": b"more",
        "bad.txt": b"\xff",
        ".git/config.md": b"x",
    }
    core.add_skill(url, files)
    configured = [{"type": "dial-skill", "url": url}]

    async with opened(configured=configured, workspace=workspace(core.url)) as (_, found):
        assert await read(found, skill_name="triage") == (
            f"{text_of('triage')}\n\n<skill_files>\n  <file>bad.txt</file>\n"
            "  <file>refs/a b.md</file>\n</skill_files>"
        )
        assert await read(found, skill_name="triage", file_path="refs/a b.md") == "more"
        assert "is not text." in await read(found, skill_name="triage", file_path="bad.txt")
        assert "is not available in skill 'triage'" in await read(
            found, skill_name="triage", file_path=".git/config.md"
        )


@proves("15")
async def test_a_skill_whose_files_cannot_be_listed_says_so(core, settings):
    settings.DIAL_SKILLS_MAX_FILES = 1
    holder = core.keys.holder(KEY)
    assert holder is not None
    url = f"skills/{holder.bucket}/triage"
    core.add_skill(url, {"SKILL.md": text_of("triage").encode(), "a.md": b"A", "b.md": b"B"})
    configured = [{"type": "dial-skill", "url": url}]

    async with opened(configured=configured, workspace=workspace(core.url)) as (_, found):
        assert (await read(found, skill_name="triage")).endswith(
            "<skill_files>\n  <file>a.md</file>\n"
            "  <note>It has more files than the 1 listed.</note>\n</skill_files>"
        )


@proves("15")
async def test_a_document_that_is_too_large_for_the_installation_drops_the_skill(core, settings):
    settings.DIAL_SKILLS_FILE_MAX_BYTES = 100
    holder = core.keys.holder(KEY)
    assert holder is not None
    url = f"skills/{holder.bucket}/triage"
    core.add_skill(url, {"SKILL.md": text_of("triage", "x" * 200).encode()})
    configured = [{"type": "dial-skill", "url": url}]

    async with opened(TONE, configured=configured, workspace=workspace(core.url)) as (own, found):
        assert list(own.findings[SKILLS].skills) == ["tone"]
        [issue] = found.issues

    assert "is too large; the limit is 100 bytes" in issue.message
