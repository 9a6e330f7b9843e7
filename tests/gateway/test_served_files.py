"""The same files through the production server: many at once, and limits that apply before bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx
import pytest

from tests.sites.serving import serve

LIMIT = 4_000_000
PREPARE = """
from apps.accounts.models import ApiKey
row, key = ApiKey.objects.create_key(name="program")
result = [f"/v1/files/key-{row.prefix}", key]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """Return the site's address, that of the key's files, and the key."""
    folder = tmp_path_factory.mktemp("site")
    limits = {"DEFAULT_FILE_LOADING_SIZE_LIMIT": str(LIMIT), "FILES_MAX_BYTES_PER_USER": str(LIMIT)}
    with serve(folder, **limits) as served:
        yield served.url, *served.shell(PREPARE)


@asynccontextmanager
async def program(site: tuple[str, str, str]) -> AsyncIterator[httpx.AsyncClient]:
    """Return a client for the key's files, which are deleted at the end."""
    url, files, key = site
    async with httpx.AsyncClient(
        base_url=f"{url}{files}", headers={"Api-Key": key}, timeout=60, trust_env=False
    ) as client:
        yield client
        listed = await client.get(f"{url}{files.replace('/v1/', '/v1/metadata/')}/")
        for entry in listed.json()["items"]:
            await client.delete(f"/{entry['name']}")


async def test_a_large_file_goes_there_and_back(site: tuple[str, str, str]):
    content = bytes(range(256)) * (LIMIT // 256)

    async with program(site) as client:
        sent = await client.put("/large.bin", files={"file": content})
        head = await client.head("/large.bin")
        part = await client.get("/large.bin", headers={"Range": "bytes=-3"})
        whole = await client.get("/large.bin")

    assert (sent.status_code, sent.json()["contentLength"]) == (200, len(content))
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(content))
    assert (part.status_code, part.content) == (206, b"\xfd\xfe\xff")
    assert whole.content == content


async def test_of_many_at_once_only_those_get_through_that_have_room(site: tuple[str, str, str]):
    async with program(site) as client:
        answers = await asyncio.gather(
            *(
                client.put(f"/{number}.txt", files={"file": b"x" * (LIMIT // 4)})
                for number in range(12)
            )
        )

    assert sorted(answer.status_code for answer in answers) == [200] * 4 + [413] * 8


async def test_a_file_that_is_too_large_is_refused_in_json(site: tuple[str, str, str]):
    async with program(site) as client:
        answers = [
            await client.put("/a", files={"file": b"x" * size})
            for size in (LIMIT + 1, LIMIT + 10**6)
        ]

    for answer in answers:
        assert (answer.status_code, answer.headers["content-type"]) == (413, "application/json")
