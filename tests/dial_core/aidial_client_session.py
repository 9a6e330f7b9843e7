"""Use this Core with DIAL's own client, in an interpreter that has it.

python aidial_client_session.py URL PROJECT_KEY REQUEST_KEY CHANNEL TOOLSET SKILL

It prints one JSON object, whose values the test checks.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from aidial_client import Dial, DialException  # type: ignore[import-not-found]
from aidial_client.types.prompt import Prompt  # type: ignore[import-not-found]


def refused(call: Callable[[], Any]) -> list[Any]:
    try:
        call()
    except DialException as error:
        return [type(error).__name__, error.status_code]
    return []


def files(client: Any) -> dict[str, Any]:
    folder = f"files/{client.my_bucket()}/reports"
    item = client.files.upload(f"{folder}/first one.txt", ("a.txt", b"first", "text/plain"))
    client.files.upload(f"{folder}/deep/second.txt", ("a.txt", b"second", "text/plain"))
    client.files.copy_to(f"{folder}/first one.txt", f"{folder}/third.txt")
    listing = client.metadata.get("files", f"{folder}/")
    page = client.metadata.get("files", folder, limit=1)
    download = client.files.download(f"{folder}/first one.txt")
    stale = refused(lambda: client.files.delete(f"{folder}/third.txt", etag_if_match="old"))
    client.files.delete(f"{folder}/third.txt", etag_if_match=item.etag)
    return {
        "url": item.url.removeprefix(folder),
        "size": item.content_length,
        "content": download.get_content().decode(),
        "content_type": download.content_type,
        "listed": [[one.name, one.node_type] for one in listing.items],
        "paged": [one.name for one in page.items],
        "has_more": page.next_token is not None,
        "stale": stale,
        "missing": refused(lambda: client.files.download(f"{folder}/third.txt")),
    }


def prompts(client: Any) -> dict[str, Any]:
    url = f"prompts/{client.my_bucket()}/greeting"
    client.prompts.save(url, Prompt(id=url, name="greeting", folderId="", content="Hello {{name}}"))
    again = Prompt(id=url, name="greeting", folderId="", content="Hi")
    taken = refused(lambda: client.prompts.save(url, again, etag_if_none_match="*"))
    return {
        "content": client.prompts.get(url).content,
        "taken": taken,
        "missing": refused(lambda: client.prompts.get(f"{url}-not")),
    }


def listings(client: Any, toolset: str) -> dict[str, Any]:
    return {
        "deployments": [one.id for one in client.deployments.list()],
        "deployment": client.deployments.get("m").display_name,
        "not_a_model": refused(lambda: client.deployments.get("app")),
        "applications": [one.id for one in client.application.list()],
        "application": client.application.get("app").application_properties,
        "names": [[one.id, one.object] for one in client.deployments.list_names()],
        "toolsets": [one.id for one in client.deployments.list_names(["toolset"])],
        "toolset": client.toolset.get(toolset).allowed_tools,
        "model": client.model.get("m").lifecycle_status,
        "no_configuration": refused(lambda: client.deployments.get_configuration_schema("app")),
    }


def as_application(client: Any, channel: str, toolset: str) -> dict[str, Any]:
    appdata = client.my_appdata()
    url = f"files/{appdata.raw}/out.txt"
    client.files.upload(url, ("out.txt", b"out", "text/plain"))
    client.resource_permissions.grant([url], receiver="app")
    return {
        "bucket_differs": client.my_bucket() != appdata.user_bucket,
        "appdata": appdata.app_name,
        "own_properties": client.application.get("app").application_properties,
        "project": client.user.info().project,
        "signed_in": {
            name: outcome.value
            for name, outcome in client.client_channel.signin_toolsets(
                channel_id=channel, toolset_ids=[toolset], timeout=60
            ).items()
        },
    }


def skills(client: Any, url: str) -> dict[str, Any]:
    skill = client.skills(url=url)
    _, bucket, *parts = url.split("/")
    return {
        "listed": [one.name for one in client.skills(bucket=bucket, path=parts[0]).list().items],
        "files": [[one.name, one.node_type] for one in skill.files.list().items],
        "text": skill.files(path="SKILL.md").read().get_content().decode(),
        "archive": skill.download().content_type,
    }


def completions(client: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "One two"}]
    options = {"deployment_name": "m", "messages": messages}
    whole = client.chat.completions.create(**options, stream=False)
    chunks = list(client.chat.completions.create(**options, stream=True))
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
    return {
        "whole": whole.choices[0].message.content,
        "streamed": "".join(delta.content or "" for delta in deltas),
    }


def main(url: str, project: str, request: str, channel: str, toolset: str, skill: str) -> None:
    client = Dial(base_url=url, api_key=project, max_retries=0)
    own = Dial(base_url=url, api_key=request, max_retries=0)
    report = {
        "files": files(client),
        "prompts": prompts(client),
        "listings": listings(client, toolset),
        "no_appdata": client.my_appdata() is None,
        "user": client.user.info().model_dump(exclude_none=True),
        "grant_of_a_project": refused(
            lambda: client.resource_permissions.grant(["files/b/x"], receiver="app")
        ),
        "application": as_application(own, channel, toolset),
        "skills": skills(client, skill),
        "completions": completions(client),
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
