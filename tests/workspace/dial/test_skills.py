from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from apps.errors import FileMissing, FileRefused
from apps.workspace.port import StoredSkill
from tests.capabilities.service import Reply, json_reply
from tests.contract import proves
from tests.workspace.dial.callers import scripted

SKILL = "skills/b7/tone of voice"
PLACE = "skills/b7/tone%20of%20voice"
MANIFEST = "---\nname: tone\n---\nBe kind."


def core(files, pages=None, listing_status=200):
    """A Core with one skill. `pages` are lists of names, by default a single page."""
    pages = [list(files)] if pages is None else pages

    async def answer(seen):
        parts = urlsplit(seen.target)
        if parts.path == f"/v2/metadata/{PLACE}/files":
            if listing_status != 200:
                return Reply(listing_status)
            number = int(parse_qs(parts.query).get("token", ["0"])[0])
            items = [{"nodeType": "ITEM", "url": f"{PLACE}/files/{name}"} for name in pages[number]]
            items.append({"nodeType": "FOLDER", "url": f"{PLACE}/files/refs/"})
            token = str(number + 1) if number + 1 < len(pages) else None
            return json_reply(json.dumps({"items": items, "nextToken": token}))
        name = parts.path.removeprefix(f"/v2/{PLACE}/files/")
        return Reply(200, files[name]) if name in files else Reply(404)

    return answer


@proves("15")
async def test_a_skill_is_its_manifest_and_the_text_files_beside_it(settings):
    files = {
        "SKILL.md": b"\xef\xbb\xbf" + MANIFEST.encode(),
        "refs/a%20b.MD": b"more",
        "data.csv": b"1,2",
        "logo.png": b"\x89PNG",
        ".hidden/x.md": b"no",
        "refs/.secret.txt": b"no",
        "run": b"no",
    }
    async with scripted(settings, answer=core(files)) as (service, own):
        assert await own.skill(SKILL) == StoredSkill(MANIFEST, ("data.csv", "refs/a b.MD"))
        assert await own.skill_file(SKILL, "refs/a b.MD") == "more"
        for name in ("logo.png", "refs/.secret.txt", "SKILL.md", "../x.md", "none.md"):
            with pytest.raises(FileRefused, match="is not a file of the skill"):
                await own.skill_file(SKILL, name)

    assert service.targets == [
        f"GET /v2/{PLACE}/files/SKILL.md",
        f"GET /v2/metadata/{PLACE}/files?limit=1000&recursive=true",
        f"GET /v2/{PLACE}/files/refs/a%20b.MD",
    ]


async def test_a_skill_that_is_not_there_is_missing(settings):
    async with scripted(settings, answer=core({})) as (_, own):
        with pytest.raises(FileMissing):
            await own.skill(SKILL)
        with pytest.raises(FileMissing):
            await own.skill("files/b7/tone")


async def test_a_skill_whose_files_cannot_be_listed_is_one_without_files(settings, caplog):
    answer = core({"SKILL.md": MANIFEST.encode()}, listing_status=403)
    async with scripted(settings, answer=answer) as (_, own):
        found = await own.skill(SKILL)

    assert found == StoredSkill(MANIFEST, (), "Its files cannot be listed.")
    assert "Failed to list the files of the skill" in caplog.text


async def test_no_more_files_and_pages_are_listed_than_the_settings_say(settings):
    settings.DIAL_SKILLS_MAX_FILES = 2
    settings.DIAL_SKILLS_LISTING_MAX_PAGES = 2
    files = {"SKILL.md": MANIFEST.encode()}
    for pages, expected in (
        ([["c.md", "a.md"]], StoredSkill(MANIFEST, ("a.md", "c.md"))),
        (
            [["c.md", "a.md", "b.md"]],
            StoredSkill(MANIFEST, ("a.md", "b.md"), "It has more files than the 2 listed."),
        ),
        (
            [["a.md"], [], ["b.md"]],
            StoredSkill(MANIFEST, ("a.md",), "It has more files than the 1 listed."),
        ),
    ):
        async with scripted(settings, answer=core(files, pages)) as (service, own):
            assert await own.skill(SKILL) == expected
        assert len(service.seen) <= 3


async def test_too_large_and_unreadable_files_are_refused(settings):
    settings.DIAL_SKILLS_FILE_MAX_BYTES = 40
    files = {"SKILL.md": MANIFEST.encode(), "big.md": b"x" * 41, "odd.txt": b"\xff\xfe"}
    async with scripted(settings, answer=core(files)) as (_, own):
        with pytest.raises(FileRefused, match="too large; the limit is 40 bytes"):
            await own.skill_file(SKILL, "big.md")
        with pytest.raises(FileRefused, match="is not text"):
            await own.skill_file(SKILL, "odd.txt")
    async with scripted(settings, answer=core({"SKILL.md": b"x" * 41})) as (_, own):
        with pytest.raises(FileRefused, match="too large; the limit is 40 bytes"):
            await own.skill(SKILL)
