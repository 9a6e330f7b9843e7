"""Rights to read a file that was uploaded for one application, for each kind of caller and door."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import unquote

import pytest
from asgiref.sync import sync_to_async
from django.core.files.base import ContentFile
from django.test import Client as Browser

from apps.accounts.caller import Caller, caller_in
from apps.catalog.application_uploads import copy_uploads, reader_for, store_upload
from apps.catalog.models import Application
from apps.errors import FileMissing, QuickAppError
from apps.runs.workspaces import open_workspace
from apps.workspace.local.files import files
from apps.workspace.local.models import SharedFile
from tests.access.askers import USABLE, Asker, make_askers
from tests.access.doors import (
    Answer,
    Door,
    House,
    caller_of_key,
    open_house,
    request,
)
from tests.catalog.rows import make_application
from tests.console.pages import browser_of, staff_account, words

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage"), pytest.mark.postgres]

EDITORS_OF_DISABLED = {
    "grantee",
    "accessor of all",
    "accessor of all by a group",
    "superuser",
    "key of the grantee",
    "key of a superuser",
}
SECRET = "salaries"
MISSING = "files/public/applications/0123456789abcdef/gone.txt"


@sync_to_async
def shown(house: House, asker: Asker, path: str) -> Answer:
    answer: Any = Browser(headers={**asker.headers}).get(f"/{path}")
    return answer.status_code, "" if answer.streaming else answer.text


async def download(house: House, asker: Asker, path: str) -> Answer:
    return await request(house, asker, f"/v1/{path}")


async def metadata(house: House, asker: Asker, path: str) -> Answer:
    return await request(house, asker, f"/v1/metadata/{path}")


async def folder(house: House, asker: Asker, path: str) -> Answer:
    return await request(house, asker, f"/v1/metadata/{folder_of(path)}/")


async def run(house: House, asker: Asker, path: str) -> Answer:
    """Run a tool of another application for the caller."""
    try:
        workspace = open_workspace(await caller_of_key(asker)).inside("another")
        return 200, (await workspace.files.read(path)).content.decode()
    except QuickAppError as error:
        return 404, str(error)


PAGE_FILES: dict[str, Door] = {"page": shown}
KEY_FILES: dict[str, Door] = {
    "file": download,
    "metadata": metadata,
    "folder": folder,
    "run": run,
}
FILES = {"page": PAGE_FILES, "key": KEY_FILES}
NEEDS_KEY = {"file", "metadata", "folder", "folder above"}


async def above(house: House, asker: Asker, paths: Collection[str]) -> set[str]:
    """List the folder of all applications' files. Return the paths whose folders it has."""
    _, text = await request(house, asker, "/v1/metadata/files/public/applications/")
    return {path for path in paths if f'"{folder_of(path)}/"' in text}


async def listed(house: House, asker: Asker, paths: Collection[str]) -> set[str]:
    """List the shared files in a run of another application for the caller."""
    try:
        workspace = open_workspace(await caller_of_key(asker)).inside("another")
        found = await workspace.files.list("files/public/", is_deep=True)
    except QuickAppError:
        return set()
    return {one.path for one in found} & {*paths}


LISTS = {"folder above": above, "list in a run": listed}


def folder_of(path: str) -> str:
    return path.rsplit("/", 1)[0]


@pytest.fixture
def askers() -> Mapping[str, Asker]:
    return make_askers()


def upload(row: Application, name: str = "payroll.txt") -> str:
    return store_upload(row, name, ContentFile(SECRET.encode()), "text/plain").path


def without_names(answer: Answer, path: str) -> Answer:
    varying = r'nonce="[^"]*"|value="[A-Za-z0-9]{64}"'
    text = unquote(answer[1])
    for part in (path, folder_of(path).removeprefix("files/"), path.rsplit("/", 1)[-1]):
        text = text.replace(part, "")
    return answer[0], re.sub(varying, "", text)


async def readable(house: House, door: Door, asker: Asker, paths: Mapping[str, str]) -> list[str]:
    """Return the applications whose files the door serves. It answers for the others as for a file
    of a missing application."""
    missing = without_names(await door(house, asker, MISSING), MISSING)
    found = []
    for slug, path in paths.items():
        answer = await door(house, asker, path)
        if answer[0] == 200:
            found.append(slug)
        else:
            assert without_names(answer, path) == missing
    return sorted(found)


def expected(name: str, askers: Mapping[str, Asker]) -> dict[str, list[str]]:
    return {
        who: sorted({*USABLE[who], *(("disabled",) if who in EDITORS_OF_DISABLED else ())})
        if one.has_key or name not in NEEDS_KEY
        else []
        for who, one in askers.items()
    }


@pytest.mark.slow("tries every door for every caller")
@pytest.mark.parametrize("kind", FILES)
async def test_a_file_of_an_application_is_read_by_those_who_may_use_or_edit_it(
    kind, askers, subtests
):
    rows = Application.objects.order_by("slug")
    paths = {row.slug: await sync_to_async(upload)(row) async for row in rows}
    those = {who: one for who, one in askers.items() if one.has_browser == (kind == "page")}
    house = open_house()
    for name, door in FILES[kind].items():
        found = {who: await readable(house, door, one, paths) for who, one in those.items()}

        with subtests.test(name):
            assert found == expected(name, those)


async def test_a_list_has_the_files_of_applications_that_the_caller_may_use_or_edit(
    askers, subtests
):
    rows = Application.objects.order_by("slug")
    slugs = {(await sync_to_async(upload)(row)): row.slug async for row in rows}
    those = {who: one for who, one in askers.items() if not one.has_browser}
    house = open_house()
    for name, list_of in LISTS.items():
        found = {
            who: sorted(slugs[path] for path in await list_of(house, one, slugs))
            for who, one in those.items()
        }

        with subtests.test(name):
            assert found == expected(name, those)


async def test_a_run_reads_the_files_of_its_own_application_for_any_caller():
    desk = await sync_to_async(make_application)("desk", is_shared=False)
    path = await sync_to_async(upload)(desk)
    outside: Any = open_workspace(Caller("session-7"))

    inside = outside.inside("desk")
    nested = inside.inside("helper")

    assert (await inside.files.read(path)).content == SECRET.encode()
    assert (await nested.files.info(path)).path == path  # the outer application passes it on
    assert [one.path for one in await inside.files.list("files/public/", is_deep=True)] == [path]
    for other in (outside, outside.inside("helper")):
        with pytest.raises(FileMissing):
            await other.files.read(path)
        with pytest.raises(FileMissing):
            await other.files.copy(path, "files/session-7/mine.txt")
        assert await other.files.list("files/public/", is_deep=True) == []


def test_a_file_stays_with_its_application_when_others_take_its_slug(
    django_capture_on_commit_callbacks,
):
    desk = make_application("desk", is_shared=False)
    path = upload(desk)
    desk.slug = "counter"
    desk.save()
    other = make_application("desk", is_shared=True)
    user = staff_account("olga")
    reader = reader_for(Caller("user-1", "user", user_id=user.pk))

    with pytest.raises(FileMissing):
        files.read(reader, path)
    desk.owner = user
    desk.save()
    assert files.read(reader, path).content == SECRET.encode()
    assert upload(other) != path
    with django_capture_on_commit_callbacks(execute=True):
        desk.delete()
    with pytest.raises(FileMissing):
        files.read("public", path)


def test_an_upload_that_belongs_to_no_application_is_read_by_nobody():
    files.share("applications/desk/old.txt", ContentFile(b"x"), "text/plain")
    files.share("Applications/desk/new.txt", ContentFile(b"y"), "text/plain")
    reader = reader_for(Caller("key-1", "key"))

    with pytest.raises(FileMissing):
        files.read(reader, "files/public/applications/desk/old.txt")
    assert files.read(reader, "files/public/Applications/desk/new.txt").content == b"y"


def test_a_copy_of_an_application_has_the_files_that_its_maker_may_read():
    desk, private = make_application("desk"), make_application("private", is_shared=False)
    maker = staff_account("olga")
    path, hidden = upload(desk), upload(private)
    copy, other = make_application("copy", is_shared=False), make_application("other")

    copy_uploads(desk, copy, caller_in(maker.pk))
    copy_uploads(private, other, caller_in(maker.pk))

    desk.delete()  # the copy keeps its file
    reader = reader_for(Caller("key-1", "key"))
    assert files.read(reader, path).content == SECRET.encode()
    assert {
        one.slug for one in Application.objects.filter(uploads__file__name__contains="pay")
    } == {
        "copy",
        "private",
    }
    assert hidden.startswith("files/public/applications/")


def test_the_admin_lists_files_of_applications_for_their_editors_alone(admin_client):
    owner = staff_account("olga", "view_sharedfile", "change_sharedfile", "delete_sharedfile")
    make_application("desk", is_shared=False, owner=owner), make_application("hotel")
    upload(Application.objects.get(slug="desk"), "desk.txt")
    upload(Application.objects.get(slug="hotel"), "hotel.txt")
    files.share("all.txt", ContentFile(b"x"), "text/plain")
    listing = "/admin/workspace/sharedfile/"
    other = SharedFile.objects.get(name__endswith="hotel.txt")

    seen = words(browser_of(owner).get(listing))
    every = words(admin_client.get(listing))
    pages = [
        browser_of(owner).get(f"{listing}{other.pk}/{part}/").status_code
        for part in ("change", "delete", "history")
    ]

    assert [name in seen for name in ("desk.txt", "hotel.txt", "all.txt")] == [True, False, True]
    assert [name in every for name in ("desk.txt", "hotel.txt", "all.txt")] == [True, True, True]
    assert 200 not in pages
