from __future__ import annotations

import pytest

from apps.errors import FileMissing, FileRefused, ServiceFailed
from tests.capabilities.service import Reply
from tests.workspace.dial.callers import called, scripted, workspace


async def test_a_toolset_may_read_files_while_the_request_lasts(fake):
    fake.configuration.add(fake.configuration.deployment("desk", "toolset", {}))
    with called(fake) as own:
        kept = await own.files.keep("a b.txt", b"x", "text/plain")

        await own.grant([kept.path, kept.path.replace("%20", " "), kept.path], "desk")
        await own.grant([], "desk")

        assert fake.keys.live[own.caller.credentials.api_key].given == {
            "desk": {kept.path: {"READ"}}
        }
    asked = [r.json() for r in fake.requests if r.path.endswith("/grant")]
    assert asked == [
        {
            "resourcePermissions": [{"url": kept.path, "permissions": ["READ"]}],
            "receiver": "desk",
        }
    ]


async def test_what_may_not_be_let_is_refused(fake):
    fake.configuration.add(fake.configuration.deployment("desk", "toolset", {}))
    fake.put("files/other/a.txt", b"x")

    with called(fake) as own:
        with pytest.raises(FileRefused, match="DIAL denies 'desk' access"):
            await own.grant(["files/other/a.txt"], "desk")
        with pytest.raises(FileMissing):
            await own.grant(["https://elsewhere.example/files/b7/a.txt"], "desk")
        with pytest.raises(FileMissing):
            await own.grant([f"{await own.files.home()}a.txt"], "nobody")


async def test_a_key_that_lasts_lets_nobody_read(fake):
    own = workspace(fake.url)
    kept = await own.files.keep("a.txt", b"x", "text/plain")

    with pytest.raises(FileRefused, match="DIAL denies"):
        await own.grant([kept.path], "desk")


async def test_a_core_in_trouble_is_told(settings):
    async with scripted(settings, Reply(500)) as (_, own):
        with pytest.raises(ServiceFailed):
            await own.grant(["files/b7/a"], "desk")
