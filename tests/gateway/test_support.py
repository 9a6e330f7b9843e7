from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.db import OperationalError
from django.test import AsyncClient
from jsonschema import Draft202012Validator

from apps.accounts.models import ApiKey
from apps.gateway import support
from apps.outages import DATABASE
from tests.contract import proves
from tests.dial_core import Core, serve_core
from tests.dial_core.core import KEY
from tests.gateway.scripts import MANIFEST
from tests.tables import each_row

pytestmark = pytest.mark.django_db

ROOT = "/v1/configuration-support"


@pytest.fixture
def key():
    return ApiKey.objects.create_key(name="test")[1]


async def post(path, body, **options):
    content = body if isinstance(body, (bytes, str)) else json.dumps(body)
    return await AsyncClient().post(
        f"{ROOT}/{path}", content, content_type="application/json", **options
    )


async def test_the_schema_describes_manifests():
    response = await AsyncClient().get(f"{ROOT}/application-schema")

    schema = response.json()
    assert response.headers["content-type"] == "application/json"
    assert "$id" not in schema
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(MANIFEST)


async def test_the_schema_has_preview_parts_where_they_are_switched_on(settings):
    settings.ENABLE_PREVIEW_FEATURES = False
    without = (await AsyncClient().get(f"{ROOT}/application-schema")).json()
    settings.ENABLE_PREVIEW_FEATURES = True
    with_them = (await AsyncClient().get(f"{ROOT}/application-schema")).json()

    assert "hooks" not in without["properties"]
    assert "hooks" in with_them["properties"]


async def test_a_new_application_begins_with_what_the_file_says(settings, tmp_path):
    settings.PREDEFINED_DIR = tmp_path
    (tmp_path / "default_configuration.json").write_text('{"contexts": []}', encoding="utf-8")

    response = await AsyncClient().get(f"{ROOT}/default-configuration")

    assert response.json() == {"contexts": []}


@proves("m1.14")
async def test_the_predefined_skills_are_listed_with_what_they_say_of_themselves(
    settings, tmp_path
):
    settings.PREDEFINED_DIR = tmp_path
    for name, front in (
        ("full", "license: MIT\ncompatibility: all\nmetadata: {a: 1}\nallowed-tools: a b"),
        ("least", ""),
        ("bad", "metadata: [a]"),
    ):
        (tmp_path / "skills" / name).mkdir(parents=True)
        text = f"---\nname: {name}\ndescription: d\n{front}\n---\nDo it."
        (tmp_path / "skills" / name / "SKILL.md").write_text(text, encoding="utf-8")

    assert (await AsyncClient().get(f"{ROOT}/skills")).json() == [
        {
            "name": "full",
            "description": "d",
            "license": "MIT",
            "compatibility": "all",
            "metadata": {"a": "1"},
            "allowed_tools": ["a", "b"],
        },
        least("least"),
    ]


def least(name: str) -> dict[str, object]:
    """Return the minimal metadata of a skill."""
    more = dict.fromkeys(("license", "compatibility", "metadata", "allowed_tools"))
    return {"name": name, "description": "d", **more}


# --- skills/validate ---------------------------------------------------------------------------

PROMPT = {"type": "dial-prompt", "url": "prompts/b/skill"}


@pytest.mark.parametrize("headers", [{}, {"Api-Key": ""}, {"Api-Key": "abcdefgh." + "x" * 32}])
async def test_a_skill_is_validated_for_holders_of_a_key(headers):
    response = await post("skills/validate", PROMPT, headers=headers)

    assert response.status_code == 401
    assert response.json() == {"detail": "Send a valid API key in the Api-Key header."}


@proves("m1.14")
@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"type": "dial-prompt"}, ["body", "dial-prompt", "url"]),
        ({"type": "magic", "url": "x"}, ["body"]),
        ({}, ["body"]),
        ([], ["body"]),
        ("{", ["body"]),
        (b"\xff", ["body"]),
    ],
)
async def test_what_is_no_skill_is_told_with_its_place(key, body, place):
    response = await post("skills/validate", body, headers={"Api-Key": key})

    assert response.status_code == 422
    (problem,) = response.json()["detail"]
    assert problem["loc"] == place
    assert problem.keys() >= {"loc", "msg", "type"}


async def test_a_skill_that_only_dial_has_is_not_found(key):
    response = await post("skills/validate", PROMPT, headers={"Api-Key": key})

    assert response.status_code == 404
    assert "prompts/b/skill" in response.json()["detail"]


@proves("m1.14")
async def test_a_kind_of_skill_that_is_a_preview_is_refused_without_it(key, settings):
    settings.ENABLE_PREVIEW_FEATURES = False
    skill = {"type": "dial-skill", "url": "skills/b/s"}

    response = await post("skills/validate", skill, headers={"Api-Key": key})

    assert response.status_code == 400
    assert response.json() == {
        "detail": "Skills of type 'dial-skill' need ENABLE_PREVIEW_FEATURES=true here."
    }


@pytest.fixture
def fake(settings) -> Iterator[Core]:
    """Serve a Core that the settings name. It is on this machine, and on no allowlist."""
    with serve_core() as served:
        settings.DIAL_URL = served.url
        settings.PRIVATE_NETWORK_ALLOWLIST = []
        settings.ENABLE_PREVIEW_FEATURES = True
        yield served


def put_skill(core: Core, kind: str, path: str, text: str) -> dict[str, str]:
    """Put the skill into the bucket of the demo key. Return its path for manifests."""
    holder = core.keys.holder(KEY)
    assert holder is not None
    if kind == "dial-skill":
        url = f"skills/{holder.bucket}/{path}"
        core.add_skill(url, {"SKILL.md": text.encode()})
    else:
        url = f"prompts/{holder.bucket}/{path}"
        document = json.dumps({"name": path, "content": text})
        core.put(url, document.encode(), "application/json")
    return {"type": kind, "url": url}


@proves("m1.14")
@pytest.mark.parametrize("kind", ["dial-prompt", "dial-skill"])
async def test_a_skill_of_core_is_fetched_with_the_key_of_the_request(fake, kind):
    skill = put_skill(fake, kind, "tone", "---\nname: tone\ndescription: d\n---\nDo it.")

    response = await post("skills/validate", skill, headers={"Api-Key": KEY})

    assert (response.status_code, response.json()) == (200, least("tone"))
    assert {hop.headers["api-key"] for hop in fake.requests} == {KEY}


@proves("m1.14")
@pytest.mark.parametrize("kind", ["dial-prompt", "dial-skill"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "SKILL.md: is empty; add front matter and instructions"),
        ("Be kind.", "front matter: is missing; begin the text with a line '---'"),
        ("---\nname: Tone\ndescription: d\n---\n", "name: cannot be 'Tone'; use lowercase"),
    ],
)
async def test_a_skill_that_cannot_be_used_is_told_why(fake, kind, text, message):
    skill = put_skill(fake, kind, "tone", text)

    response = await post("skills/validate", skill, headers={"Api-Key": KEY})

    assert response.status_code == 422
    assert response.json()["detail"].startswith(message)


@proves("m1.14")
@each_row("kind", ["dial-prompt", "dial-skill"])
@each_row("path", ["{}/none", "somebody-else/tone", "x", "../x"])
async def test_a_skill_that_is_not_there_is_as_one_of_somebody_else(fake, kind, path):
    root = "skills" if kind == "dial-skill" else "prompts"
    url = f"{root}/{path.format(fake.keys.holder(KEY).bucket)}"

    response = await post("skills/validate", {"type": kind, "url": url}, headers={"Api-Key": KEY})

    assert response.status_code == 404
    assert response.json()["detail"].startswith(f"'{url}' cannot be loaded: The file '")


@proves("m1.14")
async def test_a_key_that_core_does_not_know_is_refused(fake):
    skill = put_skill(fake, "dial-prompt", "tone", "x")

    response = await post("skills/validate", skill, headers={"Api-Key": "unknown"})

    assert (response.status_code, response.json()) == (
        401,
        {"detail": "Send a valid API key in the Api-Key header."},
    )


async def test_one_of_our_own_keys_is_shown_to_nobody(fake, key):
    skill = put_skill(fake, "dial-prompt", "tone", "x")

    response = await post("skills/validate", skill, headers={"Api-Key": key})

    assert response.status_code == 404
    assert fake.requests == []


@proves("m1.14")
async def test_while_core_cannot_be_asked_that_is_told(settings):
    settings.DIAL_URL = "http://127.0.0.1:9"

    response = await post("skills/validate", PROMPT, headers={"Api-Key": "of-core"})

    assert response.status_code == 502
    assert response.json()["detail"].startswith("'prompts/b/skill' cannot be loaded: DIAL Core")


# --- validate ----------------------------------------------------------------------------------


async def test_a_good_manifest_has_no_errors(key):
    response = await post("validate", MANIFEST, headers={"Api-Key": key})

    assert response.status_code == 200
    assert response.json()["errors"] == []


async def test_everything_that_is_wrong_is_told_with_its_path(key):
    response = await post("validate", {"orchestrator": {}, "contexts": 1}, headers={"Api-Key": key})

    assert response.status_code == 200
    paths = {problem["path"] for problem in response.json()["errors"]}
    assert {"contexts", "tool_sets"} <= paths
    assert all(problem["message"] for problem in response.json()["errors"])


@pytest.mark.parametrize("body", [[], None, 1, "text"])
async def test_a_document_that_is_no_object_is_no_manifest(key, body):
    response = await post("validate", json.dumps(body), headers={"Api-Key": key})

    assert response.status_code == 200
    assert response.json()["errors"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"a": NaN}', b"[" * 100_000])
async def test_what_is_not_json_is_refused(key, body):
    response = await post("validate", body, headers={"Api-Key": key})

    assert response.status_code == 400
    detail = response.json()["detail"]
    assert "JSON" in detail or detail == "The request body is nested deeper than 64 levels."


@pytest.mark.parametrize("path", ["validate", "skills/validate"])
async def test_a_form_in_place_of_json_is_refused(key, path):
    form = "multipart/form-data; boundary=x"
    response = await AsyncClient().post(
        f"{ROOT}/{path}", b"{}", content_type=form, headers={"Api-Key": key}
    )

    assert (response.status_code, response.json()) == (415, {"detail": "Send JSON, not a form."})


async def test_a_manifest_that_is_too_large_is_refused(key):
    response = await post("validate", b" " * 3_000_000, headers={"Api-Key": key})

    assert response.status_code == 413


@each_row("path", ["validate", "skills/validate"])
async def test_an_outage_is_told_as_any_other_error(key, path, monkeypatch):
    async def fail(scope: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(support, "authenticate", fail)
    client = AsyncClient(raise_request_exception=False)
    response = await client.post(
        f"{ROOT}/{path}", b"{}", content_type="application/json", headers={"Api-Key": key}
    )

    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert response.json() == {"detail": DATABASE.text}


async def test_strangers_validate_nothing():
    response = await post("validate", MANIFEST, headers={"X-Forwarded-For": "10.0.0.1"})

    assert response.status_code == 401
