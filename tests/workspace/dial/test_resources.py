from __future__ import annotations

import json

import pytest

from apps.errors import FileMissing, ServiceFailed
from tests.capabilities.service import json_reply
from tests.dial_core.core import KEY
from tests.workspace.dial.callers import scripted, workspace

PROMPT = {"id": "1", "name": "Be brief", "folderId": "f", "content": "Be {how}."}


async def test_a_stored_prompt_is_its_text(fake):
    bucket = fake.keys.holder(KEY).bucket
    fake.put(f"prompts/{bucket}/dir/Be brief", json.dumps(PROMPT).encode(), "application/json")
    own = workspace(fake.url)

    for path in (f"prompts/{bucket}/dir/Be brief", f"prompts/{bucket}/dir/Be%20brief"):
        assert await own.prompt(path) == "Be {how}."


@pytest.mark.parametrize("path", ["prompts/other/x", "prompts/{}/none", "files/{}/x", "x", ""])
async def test_a_prompt_that_is_not_there_is_missing(fake, path):
    with pytest.raises(FileMissing):
        await workspace(fake.url).prompt(path.format(fake.keys.holder(KEY).bucket))


async def test_a_prompt_without_text_is_no_prompt(settings):
    async with scripted(settings, json_reply('{"content": null}')) as (_, own):
        with pytest.raises(ServiceFailed, match="has no text"):
            await own.prompt("prompts/b7/x")
