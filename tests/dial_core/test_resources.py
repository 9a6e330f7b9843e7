"""Resources are stored, with conditions, and listed."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.dial_core import Core

TYPE = "https://apps.example.org/type"


@pytest.fixture
def bucket(client: httpx.Client) -> str:
    return str(client.get("/v1/bucket").json()["bucket"])


def upload(client: httpx.Client, path: str) -> httpx.Response:
    return client.put(f"/v1/files/{path}", files={"file": ("x", b"x", "text/plain")})


def names(response: httpx.Response) -> list[str]:
    return [item["name"] for item in response.json()["items"]]


def test_what_cannot_be_a_file_is_refused(client: httpx.Client, bucket: str):
    assert upload(client, f"{bucket}/folder/").status_code == 400
    assert upload(client, f"{bucket}/dots./a.txt").status_code == 400
    assert upload(client, f"{bucket}/%2E%2E/a.txt").status_code == 400
    assert client.get(f"/v1/files/{bucket}/folder/").status_code == 400
    assert client.put(f"/v1/files/{bucket}/a", content=b"x").status_code == 400
    assert upload(client, "public/a.txt").status_code == 403
    assert client.get("/v1/files/otherbucket/a.txt").status_code == 403


def test_a_folder_is_listed_with_and_without_its_slash(client: httpx.Client, bucket: str):
    """§8.10: a slash means a folder. Without it, an item is looked up first."""
    for name in ("d/a.txt", "d/e/b.txt", "d/e/c.txt", "d.txt"):
        upload(client, f"{bucket}/{name}")
    folder = f"/v1/metadata/files/{bucket}/d"

    assert names(client.get(f"{folder}/")) == ["a.txt", "e"]
    assert client.get(folder).json() == client.get(f"{folder}/").json()
    assert names(client.get(f"{folder}/", params={"recursive": "true"})) == [
        "a.txt",
        "b.txt",
        "c.txt",
    ]
    assert names(client.get(f"/v1/metadata/files/{bucket}/")) == ["d.txt", "d"]
    assert client.get(f"{folder}.txt/").status_code == 404
    assert client.get(f"/v1/metadata/files/{bucket}/nothing").status_code == 404


def test_metadata_tells_permissions_and_its_own_type(client: httpx.Client, bucket: str):
    upload(client, f"{bucket}/a.txt")
    accept = {"accept": "application/vnd.dial.metadata+json"}

    found = client.get(
        f"/v1/metadata/files/{bucket}/", params={"permissions": "true"}, headers=accept
    )

    assert found.headers["content-type"] == "application/vnd.dial.metadata+json"
    assert found.json()["permissions"] == ["READ", "SHARE", "WRITE"]
    assert found.json()["items"][0]["permissions"] == ["READ", "SHARE", "WRITE"]


def application(**properties: Any) -> dict[str, Any]:
    return {
        "display_name": {"en": "Helper", "de": "Helfer"},
        "application_type_schema_id": TYPE,
        "application_properties": properties,
    }


def test_an_application_of_a_type_is_validated_and_its_owner_reads_all_of_it(
    core: Core, client: httpx.Client, bucket: str
):
    core.add_schema(TYPE, "http://127.0.0.1:9/", {"a": 1}, required=["a"])
    path = f"/v1/applications/{bucket}/My%20app__1"

    wrong = client.put(path, json=application())
    unknown = client.put(path, json={**application(a=1), "application_type_schema_id": "no"})
    ended = client.put(path, json={**application(a=1), "endpoint": "http://x"})
    right = client.put(path, json=application(a=1))
    found = client.get(path).json()
    core.add_schema(TYPE, "http://127.0.0.1:9/", {"a": 1, "b": 1}, required=["b"])

    assert [one.status_code for one in (wrong, unknown, ended, right)] == [400, 400, 400, 200]
    assert found["application_properties"] == {"a": 1}
    assert found["display_name"] == {"en": "Helper", "de": "Helfer"}
    assert len(found["reference"]) == 36
    assert client.get(path).json()["invalid"] is True
