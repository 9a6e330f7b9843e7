from __future__ import annotations

import asyncio
import json

import pytest

from apps.errors import FileChanged, FileMissing, FileRefused, ServiceFailed
from apps.workspace.stored_files import FileInfo, FolderInfo
from tests.capabilities.service import Reply, json_reply
from tests.workspace.dial.callers import called, scripted, workspace
from tests.workspace.openai.service import CHUNKED, HOLD, frame, service


def paths(entries):
    return [entry.path for entry in entries]


async def test_what_an_application_makes_is_kept_where_its_user_can_read_it(fake):
    with called(fake, "applications/b7/Trip planner") as own:
        kept = await own.files.keep("charts/100% of it.txt", b"all", "text/plain")
        found = await own.files.read(kept.path)
        home = await own.files.home()

    assert home == f"files/{fake.keys.past[0].appdata}/"
    assert kept.updated_at is not None
    assert kept == info_like(kept, f"{home}charts/100%25%20of%20it.txt")
    assert (found.content, found.info.path, found.info.etag) == (b"all", kept.path, kept.etag)
    assert found.info.content_type == "text/plain"
    asked = [request.path for request in fake.requests]
    assert asked.count("/v1/bucket") == 1
    reader = workspace(fake.url)
    assert (await reader.files.read(kept.path)).content == b"all"


def info_like(kept, path):
    return FileInfo(path, "text/plain", 3, kept.etag, kept.updated_at)


async def test_the_home_of_a_key_that_lasts_is_its_bucket(fake):
    own = workspace(fake.url)

    home = await own.files.home()

    assert home == f"files/{fake.keys.holder('dial-demo-key').bucket}/"


async def test_a_file_is_named_by_its_path_or_by_its_address(fake):
    own = workspace(fake.url)
    kept = await own.files.keep("a b.txt", b"text", "text/plain")

    for name in (kept.path, kept.path.replace("%20", " "), f"{fake.url}/v1/{kept.path}"):
        assert (await own.files.read(name)).content == b"text"
        assert (await own.files.info(name)) == kept
    with pytest.raises(FileMissing):
        await own.files.read(f"http://127.0.0.1.evil.example/v1/{kept.path}")


async def test_a_write_is_refused_when_the_file_is_not_as_it_was(fake):
    own = workspace(fake.url)
    first = await own.files.keep("note.txt", b"1", "text/plain")

    second = await own.files.write(first.path, b"22", "text/plain", etag=first.etag)

    with pytest.raises(FileChanged, match="was changed in the meantime"):
        await own.files.write(first.path, b"333", "text/plain", etag=first.etag)
    with pytest.raises(FileChanged, match="already exists"):
        await own.files.write(first.path, b"333", "text/plain", is_new=True)
    assert (await own.files.read(first.path)).content == b"22"
    assert second.etag != first.etag


async def test_a_folder_is_listed_flat_or_deep(fake):
    own = workspace(fake.url)
    home = await own.files.home()
    for name in ("b.txt", "dir/a.txt", "dir/deeper/c.txt"):
        await own.files.keep(name, b"x", "text/plain")

    assert paths(await own.files.list(home)) == [f"{home}b.txt", f"{home}dir/"]
    assert isinstance((await own.files.list(home))[1], FolderInfo)
    assert paths(await own.files.list(f"{home}dir", is_deep=True)) == [
        f"{home}dir/a.txt",
        f"{home}dir/deeper/c.txt",
    ]
    assert await own.files.list(f"{home}none/") == []


async def test_all_pages_of_a_listing_are_asked_for(settings):
    def page(number, token):
        items = [{"nodeType": "ITEM", "url": f"files/b7/{number}.txt", "contentLength": 1}]
        return json_reply(json.dumps({"nodeType": "FOLDER", "items": items, "nextToken": token}))

    pages = (page(1, "t 1"), page(2, "t 2"), page(3, None))
    async with scripted(settings, *pages) as (service, own):
        found = await own.files.list("files/b7/", is_deep=True)

    assert paths(found) == ["files/b7/1.txt", "files/b7/2.txt", "files/b7/3.txt"]
    assert service.targets == [
        "GET /v1/metadata/files/b7/?limit=1000&recursive=true",
        "GET /v1/metadata/files/b7/?limit=1000&recursive=true&token=t+1",
        "GET /v1/metadata/files/b7/?limit=1000&recursive=true&token=t+2",
    ]


async def test_a_listing_that_goes_round_in_circles_is_refused(settings):
    reply = json_reply(json.dumps({"items": [], "nextToken": "again"}))
    async with scripted(settings, reply) as (service, own):
        with pytest.raises(FileRefused, match="too many entries"):
            await own.files.list("files/b7/")

    assert len(service.seen) == 2


async def test_a_file_is_copied_and_moved_within_core(fake):
    own = workspace(fake.url)
    home = await own.files.home()
    first = await own.files.keep("a.txt", b"1", "text/plain")
    await own.files.keep("taken.txt", b"2", "text/plain")

    await own.files.copy(first.path, f"{home}b.txt")
    await own.files.move(first.path, f"{home}c.txt")

    for operation in (own.files.copy, own.files.move):
        with pytest.raises(FileChanged, match="already exists"):
            await operation(f"{home}b.txt", f"{home}taken.txt")
    await own.files.copy(f"{home}b.txt", f"{home}taken.txt", overwrite=True)
    await own.files.move(f"{home}b.txt", f"{home}b.txt")
    assert paths(await own.files.list(home)) == [f"{home}{n}.txt" for n in ("b", "c", "taken")]
    assert (await own.files.read(f"{home}taken.txt")).content == b"1"
    with pytest.raises(FileMissing):
        await own.files.copy(first.path, f"{home}d.txt")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "Can't copy resource files/b7/a to files/b7/b, because destination resource "
            "already exists",
            FileChanged,
        ),
        ("Source resource does not exist: files/b7/a", FileMissing),
        ("Copying folders is not supported", FileRefused),
    ],
)
async def test_core_tells_only_in_words_why_it_does_not_copy(settings, text, error):
    async with scripted(settings, Reply(400, text.encode())) as (service, own):
        with pytest.raises(FileRefused) as caught:
            await own.files.copy("files/b7/a", "files/b7/b")

    assert caught.type is error
    assert json.loads(service.seen[0].body) == {
        "sourceUrl": "files/b7/a",
        "destinationUrl": "files/b7/b",
        "overwrite": False,
    }


async def test_a_file_is_deleted(fake):
    own = workspace(fake.url)
    kept = await own.files.keep("a.txt", b"1", "text/plain")

    await own.files.delete(kept.path)

    for ask in (own.files.read, own.files.info):
        with pytest.raises(FileMissing, match=r"The file .* does not exist"):
            await ask(kept.path)


async def test_the_files_of_others_are_as_if_missing(fake):
    other = "files/someoneelse/secret.txt"
    fake.put(other, b"secret")

    with called(fake) as own:
        for ask in (own.files.read, own.files.info, own.files.list):
            with pytest.raises(FileMissing):
                await ask(other)
        for change in (own.files.delete(other), own.files.write(other, b"x", "text/plain")):
            with pytest.raises(FileRefused, match="You don’t have permission to write to"):
                await change


async def test_a_path_leads_nowhere_but_to_files(fake):
    own = workspace(fake.url)

    for path in ("files/../openai/models", "files/b7/%2e%2e/x", "prompts/b7/x", "files/b7/dir/"):
        with pytest.raises(FileMissing):
            await own.files.read(path)
    for name in ("../x.txt", "", "a//b", "a\nb"):
        with pytest.raises(FileRefused, match="can’t be named"):
            await own.files.keep(name, b"", "text/plain")
    assert all(request.path == "/v1/bucket" for request in fake.requests)


async def test_no_more_is_read_than_the_limit(fake, settings):
    own = workspace(fake.url)
    kept = await own.files.keep("a.txt", b"12345", "text/plain")

    assert (await own.files.read(kept.path, limit=5)).content == b"12345"
    with pytest.raises(FileRefused, match="too large; the limit is 4 bytes"):
        await own.files.read(kept.path, limit=4)
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 4
    with pytest.raises(FileRefused, match="is 5 bytes; the limit is 4"):
        await own.files.keep("a.txt", b"12345", "text/plain")


async def test_a_file_that_does_not_say_how_large_it_is_is_cut_off(settings):
    endless = [CHUNKED, frame(b"x" * 10_000), HOLD]
    async with service(endless) as running:
        settings.DIAL_URL = running.url
        with pytest.raises(FileRefused, match="too large; the limit is 9,999 bytes"):
            await workspace(running.url).files.read("files/b7/a", limit=9_999)
        await asyncio.wait_for(running.left.wait(), 60)


@pytest.mark.parametrize(("status", "error"), [(413, FileRefused), (500, ServiceFailed)])
async def test_what_core_does_not_take_is_told(settings, status, error):
    async with scripted(settings, Reply(status, b"no")) as (service, own):
        with pytest.raises(error):
            await own.files.write("files/b7/a", b"x", "text/plain")

    assert len(service.seen) == 1
