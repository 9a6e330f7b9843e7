"""A program can download the files of its answers with the key of the request."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from asgiref.sync import sync_to_async
from django.core.files.base import ContentFile

from apps.accounts.authentication import settle_uses
from apps.accounts.models import ApiKey
from apps.workspace.local.files import files
from apps.workspace.local.files.caller_files import LocalFiles
from apps.workspace.local.files.storage import storage as storage_of_files
from apps.workspace.local.installation import register_process
from apps.workspace.local.models import StoredFile
from tests.gateway.scripts import Answer, Client, router
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]

FORM = "multipart/form-data; boundary=edge"
CSV = b"Oslo,7\n"


class Program:
    """A program with its own key."""

    def __init__(self, row: ApiKey, key: str) -> None:
        self.bucket = f"key-{row.prefix}"
        self.key = key
        self.files = LocalFiles(self.bucket)

    async def send(
        self, method: str, path: str, body: bytes = b"", *, query: str = "", **headers: Any
    ) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        client = Client(
            router(), path, method=method, headers={"api-key": self.key, **named}, query=query
        )
        half = len(body) // 2
        await client.send(body[:half], more=True)
        await client.send(body[half:])
        return await client.read()

    async def put(
        self, name: str, content: bytes = CSV, content_type: str = "text/csv", **headers: str
    ) -> Answer:
        path = f"/v1/files/{self.bucket}/{name}"
        return await self.send("PUT", path, form(content, content_type), **sent(headers))

    async def get(self, name: str, **headers: Any) -> Answer:
        return await self.send("GET", f"/v1/files/{self.bucket}/{name}", **headers)

    async def metadata(self, name: str, query: str = "", **headers: Any) -> Answer:
        path = f"/v1/metadata/files/{self.bucket}/{name}"
        return await self.send("GET", path, query=query, **headers)


def sent(headers: dict[str, str]) -> dict[str, Any]:
    return {"content_type": FORM, **headers}


def form(content: bytes, content_type: str, disposition: str = 'filename="a"') -> bytes:
    head = (
        f'--edge\r\nContent-Disposition: form-data; name="file"; {disposition}\r\n'
        f"Content-Type: {content_type}\r\n\r\n"
    )
    return head.encode() + content + b"\r\n--edge--\r\n"


async def program() -> Program:
    row, key = await sync_to_async(ApiKey.objects.create_key)(name="test")
    assert isinstance(row, ApiKey)
    return Program(row, key)


def stored(storage: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in storage.rglob("*") if path.is_file())


# --- There and back -----------------------------------------------------------------------------


async def test_a_key_is_told_its_bucket():
    mine = await program()

    answer = await mine.send("GET", "/v1/bucket")

    assert (answer.status, answer.json()) == (200, {"bucket": mine.bucket})


async def test_a_file_that_is_uploaded_is_described_as_core_does():
    mine = await program()

    answer = await mine.put("reports/2026/ä b.csv")

    row = await StoredFile.objects.aget()
    told = {
        "name": "ä b.csv",
        "parentPath": "reports/2026/",
        "bucket": mine.bucket,
        "url": f"files/{mine.bucket}/reports/2026/%C3%A4%20b.csv",
        "nodeType": "ITEM",
        "resourceType": "FILE",
        "createdAt": int(row.created_at.timestamp() * 1000),
        "updatedAt": int(row.updated_at.timestamp() * 1000),
        "etag": row.etag,
        "contentLength": 7,
        "contentType": "text/csv",
    }
    assert (answer.status, answer.headers["etag"], answer.json()) == (200, f'"{row.etag}"', told)
    assert (await mine.metadata("reports/2026/ä b.csv")).json() == told


async def test_what_a_run_kept_is_answered_as_a_download_whatever_it_is():
    mine = await program()
    page = b"<script>alert(1)</script>"
    kept = await mine.files.keep("ä b.html", page, "text/html")

    answer = await mine.get("ä b.html")

    assert (answer.status, answer.body) == (200, page)
    assert answer.headers == {
        "content-type": "text/html",
        "content-length": "25",
        "content-disposition": "attachment; filename*=UTF-8''%C3%A4%20b.html",
        "etag": f'"{kept.etag}"',
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox; default-src 'none'",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "private, no-cache",
        "accept-ranges": "bytes",
    }


async def test_head_has_the_headers_of_get_and_no_body():
    mine = await program()
    await mine.put("a.csv")

    for path in (f"/v1/files/{mine.bucket}/a.csv", "/v1/bucket", "/v1/files/elsewhere/a.csv"):
        get, head = await mine.send("GET", path), await mine.send("HEAD", path)
        assert (head.status, head.headers, head.body) == (get.status, get.headers, b"")


async def test_a_large_file_comes_back_in_pieces_and_a_part_alone():
    mine = await program()
    content = b"0123456789" * 30_000
    await mine.put("digits", content)

    whole = await mine.get("digits")
    part = await mine.get("digits", range="bytes=299998-")
    none = await mine.get("digits", range="bytes=300000-")

    assert (whole.body, len(whole.pieces) > 2) == (content, True)
    assert (part.status, part.body, part.headers["content-range"]) == (
        206,
        b"89",
        "bytes 299998-299999/300000",
    )
    assert (none.status, none.headers["content-range"]) == (416, "bytes */300000")


async def test_an_empty_file_is_a_file():
    mine = await program()

    assert (await mine.put("empty", b"")).json()["contentLength"] == 0
    assert (await mine.get("empty")).body == b""


async def test_a_file_that_is_written_again_is_replaced_with_its_bytes(storage: Path):
    mine = await program()

    for content in (b"one", b"two"):
        assert (await mine.put("a.txt", content)).status == 200

    assert (await mine.get("a.txt")).body == b"two"
    assert stored(storage) == [b"two"]


async def test_a_deleted_file_is_gone_with_its_bytes(storage: Path):
    mine = await program()
    await mine.put("a.txt")

    answers = [
        await mine.send("DELETE", f"/v1/files/{mine.bucket}/a.txt"),
        await mine.send("DELETE", f"/v1/files/{mine.bucket}/a.txt"),
        await mine.get("a.txt"),
    ]

    assert [answer.status for answer in answers] == [200, 404, 404]
    assert (answers[0].body, stored(storage)) == (b"", [])


async def test_bytes_that_are_gone_are_a_missing_file():
    mine = await program()
    await mine.put("a.txt")
    storage_of_files().delete((await StoredFile.objects.aget()).storage_name)

    assert (await mine.get("a.txt")).status == 404


async def test_a_folder_of_files_that_is_gone_is_an_outage(storage: Path):
    assert await sync_to_async(register_process)() == []
    mine = await program()
    await mine.put("a.txt")
    shutil.rmtree(storage)

    answers = [await mine.get("a.txt"), await mine.put("a.txt"), await mine.put("b.txt")]

    codes = [(one.status, json.loads(one.body)["error"]["code"]) for one in answers]
    assert codes == [(503, "storage_unavailable")] * 3
    assert not storage.exists()


@pytest.mark.parametrize("header", ["api-key", "x-api-key", "authorization"])
async def test_a_key_is_taken_from_each_header(header: str):
    mine = await program()
    value = f"Bearer {mine.key}" if header == "authorization" else mine.key
    client = Client(router(), "/v1/bucket", headers={header: value}, client=("10.0.0.1", 1))
    await client.send()

    assert (await client.read()).json() == {"bucket": mine.bucket}
    await settle_uses()


# --- Whose ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", [("127.0.0.1", 1), ("10.0.0.1", 1)])
@pytest.mark.parametrize("path", ["/v1/bucket", "/v1/files/{}/a", "/v1/metadata/files/{}/"])
async def test_without_a_key_nothing_is_told_from_this_machine_neither(path: str, client: Any):
    mine = await program()
    await mine.put("a")
    files_of_all = await sync_to_async(files.share)("a", ContentFile(b"x"), "text/plain")

    for bucket in (mine.bucket, "public"):
        asked = Client(router(), path.format(bucket), client=client)
        await asked.send()
        answer = await asked.read()
        assert (answer.status, answer.json()["error"]["code"]) == (401, "unauthorized")
    assert files_of_all.size == 1


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT"])
async def test_a_file_of_somebody_else_is_answered_like_a_missing_one(method: str):
    mine, theirs = await program(), await program()
    await theirs.put("a.txt")
    body, headers = (form(b"x", "text/plain"), sent({})) if method == "PUT" else (b"", {})

    foreign, missing = [
        await mine.send(method, f"/v1/files/{theirs.bucket}/{name}.txt", body, **headers)
        for name in ("a", "b")
    ]

    assert (foreign.status, missing.status) == (404, 404)
    assert foreign.body == missing.body.replace(b"b.txt", b"a.txt")
    assert (await theirs.get("a.txt")).body == CSV


async def test_a_folder_of_somebody_else_is_answered_like_a_missing_one():
    mine, theirs = await program(), await program()
    await theirs.put("in/a.txt")
    described = f"/v1/metadata/files/{theirs.bucket}/"

    answers = [
        await mine.send("GET", described + name)
        for name in ("", "in/", "in", "in/a.txt", "out/", "out")
    ]
    nobodys = await mine.send("GET", "/v1/metadata/files/nobody/")

    assert {answer.status for answer in (*answers, nobodys)} == {404}


async def test_what_operators_share_is_read_by_everybody_and_written_by_nobody():
    mine = await program()
    await sync_to_async(files.share)("terms.txt", ContentFile(b"Be kind."), "text/plain")
    path = "/v1/files/public/terms.txt"

    read = await mine.send("GET", path)
    listed = await mine.send("GET", "/v1/metadata/files/public/", query="permissions=true")
    changes = [
        await mine.send("PUT", path, form(b"x", "text/plain"), **sent({})),
        await mine.send("DELETE", path),
    ]

    assert (read.status, read.body) == (200, b"Be kind.")
    [entry] = listed.json()["items"]
    assert (entry["url"], entry["permissions"]) == ("files/public/terms.txt", ["READ"])
    assert [answer.status for answer in changes] == [404, 404]


# --- What is refused -----------------------------------------------------------------------------


async def test_the_page_s_limits_hold(settings: Any, storage: Path):
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 1000
    settings.FILES_MAX_BYTES_PER_USER = 1500
    mine = await program()

    answers = [
        await mine.put(name, b"x" * size) for name, size in (("a", 1000), ("b", 1001), ("c", 501))
    ]

    assert [answer.status for answer in answers] == [200, 413, 413]
    errors = [answer.json()["error"] for answer in answers[1:]]
    assert [(error["type"], error["code"], error["message"]) for error in errors] == [
        (
            "invalid_request_error",
            "too_large",
            "The file is 1,001 bytes; the limit is 1,000.",
        ),
        (
            "invalid_request_error",
            "too_large",
            (
                "Your files would take up 1,501 bytes; the limit is 1,500. Delete some that you no longer need."
            ),
        ),
    ]
    assert stored(storage) == [b"x" * 1000]


async def test_a_body_that_is_too_large_is_refused_before_it_is_taken(settings: Any):
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 1000
    mine = await program()
    path = f"/v1/files/{mine.bucket}/a"
    headers = {"api-key": mine.key, "content-type": FORM, "content-length": "1000000"}
    client = Client(router(), path, method="PUT", headers=headers)

    answer = await client.read()  # no part of the body was sent

    assert (answer.status, answer.json()["error"]["code"]) == (413, "413")


async def test_of_many_at_once_only_those_get_through_that_have_room(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("apps.workspace.local.files.store.MOST_FILES", 3)
    mine = await program()

    answers = await asyncio.gather(*(mine.put(f"{n}.txt") for n in range(8)))

    assert sorted(answer.status for answer in answers) == [200] * 3 + [413] * 5
    assert await StoredFile.objects.acount() == 3


@each_row(
    "name",
    ["", "folder/", "a//b", "../a", "a/../b", "a\0", "x" * 256, "a./b", "a.", "a/" * 250 + "a"],
)
async def test_a_name_that_cannot_be_is_refused(name: str):
    mine = await program()

    answer = await mine.put(name)

    assert answer.status == 400
    assert answer.headers["content-type"] == "application/json"
    assert await StoredFile.objects.acount() == 0


async def test_a_folder_cannot_be_fetched_or_deleted():
    mine = await program()
    await mine.put("in/a.txt")

    for method in ("GET", "DELETE"):
        answer = await mine.send(method, f"/v1/files/{mine.bucket}/in/")
        assert (answer.status, answer.json()["error"]["message"]) == (
            400,
            "This is a folder. Its files are listed under /v1/metadata/files/.",
        )


@each_row(
    ("content_type", "body"),
    [
        ("application/octet-stream", b"x"),
        ("multipart/form-data", form(b"x", "text/plain")),
        (FORM, b""),
        (FORM, b"nothing of a form"),
        (FORM, form(b"x", "text/plain", "x=y")),
        (FORM, form(b"x", "text/plain")[:-20]),
        (FORM, form(b"x", "text/plain").replace(b"--edge--\r\n", b"") + form(b"y", "text/plain")),
        ("multipart/form-data; boundary=" + "x" * 300, b"x"),
        (FORM, b"--edge\r\n" * 2000),
    ],
)
async def test_a_body_that_is_no_form_with_one_file_is_refused(content_type: str, body: bytes):
    mine = await program()

    answer = await mine.send("PUT", f"/v1/files/{mine.bucket}/a", body, content_type=content_type)

    assert answer.status == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert await StoredFile.objects.acount() == 0


async def test_other_methods_are_refused_in_json():
    mine = await program()

    answers = [
        await mine.send("POST", f"/v1/files/{mine.bucket}/a"),
        await mine.send("PUT", "/v1/bucket"),
        await mine.send("DELETE", f"/v1/metadata/files/{mine.bucket}/a"),
    ]

    assert [(answer.status, answer.headers["allow"]) for answer in answers] == [
        (405, "GET, HEAD, PUT, DELETE"),
        (405, "GET, HEAD"),
        (405, "GET, HEAD"),
    ]


# --- Conditions ----------------------------------------------------------------------------------


async def test_nothing_is_lost_to_others_who_write_at_the_same_time():
    mine = await program()
    etag = (await mine.put("a.txt", b"one")).json()["etag"]

    refused = [
        await mine.put("a.txt", b"two", if_none_match="*"),
        await mine.put("a.txt", b"two", if_match="older"),
        await mine.put("b.txt", b"two", if_match=etag),
        await mine.send("DELETE", f"/v1/files/{mine.bucket}/a.txt", if_match="older"),
        await mine.get("a.txt", if_match='"older"'),
    ]
    assert [(one.status, one.json()["error"]["code"]) for one in refused] == [
        (412, "file_changed")
    ] * 5
    assert (await mine.get("a.txt", if_match=etag)).body == b"one"

    taken = [
        await mine.put("b.txt", b"new", if_none_match="*"),
        await mine.put("a.txt", b"two", if_match=f'"older", W/"{etag}"'),
        await mine.put("a.txt", b"three", if_match="*"),
    ]
    assert [answer.status for answer in taken] == [200] * 3
    etag = taken[-1].json()["etag"]
    gone = await mine.send("DELETE", f"/v1/files/{mine.bucket}/a.txt", if_match=f'"{etag}"')
    assert gone.status == 200


async def test_of_two_who_create_at_once_one_is_told():
    mine = await program()

    answers = await asyncio.gather(
        *(mine.put("a.txt", text, if_none_match="*") for text in (b"one", b"two"))
    )

    assert sorted(answer.status for answer in answers) == [200, 412]


async def test_if_none_match_is_a_star_for_writing_and_saves_reading():
    mine = await program()
    etag = (await mine.put("a.txt")).headers["etag"]

    known = await mine.get("a.txt", if_none_match=etag)
    other = await mine.get("a.txt", if_none_match='"other"')
    written = await mine.put("a.txt", if_none_match=etag)

    assert (known.status, known.body, known.headers["etag"]) == (304, b"", etag)
    assert other.status == 200
    assert written.status == 400


# --- Lists ---------------------------------------------------------------------------------------


async def listed(mine: Program, name: str, query: str = "") -> list[str]:
    answer = await mine.metadata(name, query)
    assert answer.status == 200
    start = f"files/{mine.bucket}/"
    return [entry["url"].removeprefix(start) for entry in answer.json()["items"]]


async def test_folders_are_listed_flat_or_whole():
    mine = await program()
    for name in ("a.txt", "in/b.txt", "in/deep/c.txt", "inner.txt"):
        await mine.put(name)

    assert await listed(mine, "") == ["a.txt", "in/", "inner.txt"]
    assert await listed(mine, "in/") == ["in/b.txt", "in/deep/"]
    assert await listed(mine, "in") == ["in/b.txt", "in/deep/"]
    assert await listed(mine, "in/", "recursive=true") == ["in/b.txt", "in/deep/c.txt"]
    folder = (await mine.metadata("in/deep/")).json()
    assert {name: value for name, value in folder.items() if name != "items"} == {
        "name": "deep",
        "parentPath": "in/",
        "bucket": mine.bucket,
        "url": f"files/{mine.bucket}/in/deep/",
        "nodeType": "FOLDER",
        "resourceType": "FILE",
    }
    assert (await mine.metadata("")).json()["items"][1] == {
        "name": "in",
        "parentPath": None,
        "bucket": mine.bucket,
        "url": f"files/{mine.bucket}/in/",
        "nodeType": "FOLDER",
        "resourceType": "FILE",
    }


async def test_a_bucket_is_a_folder_from_the_start_and_others_once_something_is_in_them():
    mine = await program()

    assert await listed(mine, "") == []
    assert (await mine.metadata("in/")).status == 404
    assert (await mine.send("GET", f"/v1/metadata/files/{mine.bucket}")).json()["items"] == []


async def test_a_long_list_comes_in_pages():
    mine = await program()
    for number in range(5):
        await mine.put(f"{number}.txt")

    pages, query = [], "limit=2"
    while True:
        page = (await mine.metadata("", query)).json()
        pages.append([entry["name"] for entry in page["items"]])
        if "nextToken" not in page:
            break
        query = f"limit=2&token={quote(page['nextToken'])}"

    assert pages == [["0.txt", "1.txt"], ["2.txt", "3.txt"], ["4.txt"]]


async def test_a_page_loads_no_rows_but_its_own(monkeypatch: pytest.MonkeyPatch):
    mine = await program()
    for name in ("a/1.txt", "a/2.txt", "b.txt", "ä.txt", "z.txt"):
        await mine.put(name)
    loaded: list[str] = []

    def load(*arguments: Any) -> StoredFile:
        row = from_db(*arguments)
        loaded.append(row.name)
        return row

    from_db = StoredFile.from_db
    monkeypatch.setattr(StoredFile, "from_db", load)

    first = await listed(mine, "", "limit=2")
    second = await listed(mine, "", f"limit=2&token=files/{mine.bucket}/b.txt")

    assert (first, second) == (["%C3%A4.txt", "a/"], ["z.txt"])
    assert loaded == ["ä.txt", "z.txt"]


@pytest.mark.parametrize("limit", ["-1", "1001", "many", "9" * 5000])
async def test_a_limit_that_cannot_be_is_refused(limit: str):
    mine = await program()

    assert (await mine.metadata("", f"limit={limit}")).status == 400


async def test_metadata_is_of_the_type_that_is_asked_for():
    mine = await program()
    named = "application/vnd.dial.metadata+json"

    asked, usual = await mine.metadata("", accept=named), await mine.metadata("")

    assert [one.headers["content-type"] for one in (asked, usual)] == [named, "application/json"]


async def test_permissions_are_told_to_who_asks():
    mine = await program()
    await mine.put("in/a.txt")

    found = (await mine.metadata("", "permissions=true")).json()

    assert (found["permissions"], found["items"][0]["permissions"]) == (["READ", "WRITE"],) * 2
