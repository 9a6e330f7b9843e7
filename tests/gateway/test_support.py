from __future__ import annotations

import json

import pytest
from django.test import AsyncClient
from jsonschema import Draft202012Validator

from apps.accounts.models import ApiKey
from tests.gateway.scripts import MANIFEST

pytestmark = pytest.mark.django_db(transaction=True)

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


async def test_there_are_no_predefined_skills():
    assert (await AsyncClient().get(f"{ROOT}/skills")).json() == []


# --- skills/validate ---------------------------------------------------------------------------

PROMPT = {"type": "dial-prompt", "url": "prompts/b/skill"}


@pytest.mark.parametrize("headers", [{}, {"Api-Key": ""}, {"Api-Key": "abcdefgh." + "x" * 32}])
async def test_a_skill_is_validated_for_holders_of_a_key(headers):
    response = await post("skills/validate", PROMPT, headers=headers)

    assert response.status_code == 401
    assert response.json() == {"detail": "Send a valid API key in the Api-Key header."}


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


async def test_a_kind_of_skill_that_cannot_be_validated_is_refused(key):
    skill = {"type": "dial-skill", "url": "skills/b/s/"}

    response = await post("skills/validate", skill, headers={"Api-Key": key})

    assert response.status_code == 400
    assert "dial-skill" in response.json()["detail"]


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
    assert "JSON" in response.json()["detail"]


async def test_a_manifest_that_is_too_large_is_refused(key):
    response = await post("validate", b" " * 3_000_000, headers={"Api-Key": key})

    assert response.status_code == 413


async def test_strangers_validate_nothing():
    response = await post("validate", MANIFEST, headers={"X-Forwarded-For": "10.0.0.1"})

    assert response.status_code == 401
