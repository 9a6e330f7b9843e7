from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.catalog.application_files import row_stamps
from apps.catalog.application_files.row_files import ContentInvalid
from apps.catalog.application_files.row_import import import_directories
from apps.catalog.models import Application, Change
from apps.workspace.local.models import Deployment, Secret
from tests.catalog.credentials.documents import tracking
from tests.catalog.rows import secrets, store_application
from tests.contract import proves

pytestmark = pytest.mark.django_db

MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "gpt"}},
    "contexts": [],
    "tool_sets": [],
}
MODEL = {"display_name": "GPT", "provider": "demo"}
APP = {"title": "App", "manifest": MANIFEST}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write(tmp_path, "deployment/gpt.json", MODEL)
    write(tmp_path, "application/app.json", APP)
    return tmp_path


def write(directory: Path, file: str, content: object) -> None:
    path = directory / file
    path.parent.mkdir(exist_ok=True)
    written = content if isinstance(content, bytes) else json.dumps(content).encode()
    path.write_bytes(written)


def actions(directory: Path, **options) -> list[tuple[str, str]]:
    report = import_directories(directory, **options)
    return [(outcome.item.key, outcome.action) for outcome in report.outcomes]


def problems_of(directory: Path) -> list[str]:
    with pytest.raises(ContentInvalid) as caught:
        import_directories(directory)
    assert (Deployment.objects.count(), Application.objects.count()) == (0, 0)
    return list(caught.value.problems)


def versions() -> tuple[int, int]:
    return Deployment.objects.get().version, Application.objects.get().version


def test_the_command_imports_the_built_in_content_by_default_without_a_warning():
    output, errors = printed()

    assert errors == ""
    assert {line.split()[0] for line in output.splitlines()} == {"created"}
    demo = Application.objects.get(slug="demo")
    model = Deployment.objects.get(deployment_id="demo-model")
    assert (demo.is_public, demo.is_enabled, model.provider) == (True, True, "demo")
    assert demo.manifest["orchestrator"]["deployment"]["deployment_id"] == "demo-model"


def test_every_key_of_a_file_becomes_a_column(tmp_path):
    deployment = {
        "deployment_id": "gpt-9",
        "display_name": "GPT",
        "description": "A model",
        "provider": "openai",
        "base_url": "https://models.example.com/v1",
        "model": "gpt-9-large",
        "api_key_env": "GPT_API_KEY",
        "features": {"tools": True},
        "parameters": {"temperature": 0},
        "input_attachment_types": ["image/*"],
        "context_window": 8_000,
    }
    application = {
        "slug": "app-9",
        "title": "App",
        "description": "Does things",
        "public": True,
        "manifest": MANIFEST,
    }
    write(tmp_path, "deployment/a.json", deployment)
    write(tmp_path, "application/b.json", application)

    import_directories(tmp_path)

    renamed = {"model": "model_name", "public": "is_public"}
    for row, written in (
        (Deployment.objects.get(), deployment),
        (Application.objects.get(), application),
    ):
        assert {key: getattr(row, renamed.get(key, key)) for key in written} == written


@proves("R-01")
def test_r_01_a_file_may_have_the_limit_of_another_system(directory):
    write(directory, "application/app.json", {**APP, "manifest": {**MANIFEST, "MaxTurns": 7}})

    created, again = actions(directory), actions(directory)

    assert Application.objects.get().manifest["orchestrator"]["max_iterations"] == 7
    assert (created[1][1], again[1][1]) == ("created", "unchanged")


def test_importing_again_changes_what_has_changed_in_the_files(directory):
    assert actions(directory) == [("gpt", "created"), ("app", "created")]
    before = versions()

    assert actions(directory) == [("gpt", "unchanged"), ("app", "unchanged")]
    assert versions() == before
    write(directory, "application/app.json", {**APP, "title": "New"})
    assert actions(directory) == [("gpt", "unchanged"), ("app", "updated")]
    assert Application.objects.get().title == "New"


def test_a_file_does_not_publish_what_takes_two_people(directory, settings):
    settings.REQUIRE_SECOND_PUBLISHER = True
    created = actions(directory)
    write(directory, "application/app.json", {**APP, "title": "Another"})

    report = import_directories(directory, overwrite=True)
    _, told = printed(directory)

    assert ("app", "created") in created
    assert [one.action for one in report.outcomes if one.item.key == "app"] == ["refused"]
    assert "needs a second publisher. Save your change as a draft" in told
    assert Application.objects.get().title == APP["title"]


def test_a_row_of_a_version_without_kinds_is_not_taken_for_an_operators(directory, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr(row_stamps, "EMPTY", (*row_stamps.EMPTY, "chat"))
        import_directories(directory)
    write(directory, "deployment/gpt.json", {**MODEL, "display_name": "New"})

    assert actions(directory)[0] == ("gpt", "updated")


def test_what_an_operator_has_changed_stays(directory):
    import_directories(directory)
    Application.objects.update(title="Mine")
    write(directory, "application/app.json", {**APP, "title": "New"})

    assert actions(directory) == [("gpt", "unchanged"), ("app", "kept")]
    assert actions(directory) == [("gpt", "unchanged"), ("app", "kept")]
    assert Application.objects.get().title == "Mine"


def test_whom_an_application_is_for_follows_its_file_and_stays_as_an_operator_says(directory):
    import_directories(directory)
    write(directory, "application/app.json", {**APP, "shared": False})

    closed = (dict(actions(directory))["app"], Application.objects.get().is_shared)
    import_directories(directory)
    Application.objects.update(is_shared=True)
    write(directory, "application/app.json", {**APP, "shared": False, "title": "New"})

    assert closed == ("updated", False)
    assert (dict(actions(directory))["app"], Application.objects.get().is_shared) == ("kept", True)


def test_what_an_operator_has_changed_can_be_replaced(directory):
    import_directories(directory)
    Application.objects.update(title="Mine")

    assert actions(directory, overwrite=True) == [("gpt", "unchanged"), ("app", "updated")]
    assert Application.objects.get().title == "App"
    write(directory, "application/app.json", {**APP, "title": "New"})
    assert actions(directory)[1] == ("app", "updated")


def test_a_row_that_was_never_imported_is_an_operators(directory):
    store_application(slug="app", title="Mine", manifest=MANIFEST)

    assert actions(directory)[1] == ("app", "kept")


def test_a_row_that_is_the_same_as_its_file_is_taken_over(directory):
    store_application(slug="app", title="App", manifest=MANIFEST, is_shared=True)
    assert actions(directory)[1] == ("app", "unchanged")
    write(directory, "application/app.json", {**APP, "title": "New"})

    assert actions(directory)[1] == ("app", "updated")


def test_what_files_do_not_say_is_left_to_the_operator(directory):
    import_directories(directory)
    Application.objects.update(is_enabled=False)
    Deployment.objects.update(api_key="a secret")
    write(directory, "application/app.json", {**APP, "title": "New"})

    assert actions(directory) == [("gpt", "unchanged"), ("app", "updated")]
    assert not Application.objects.get().is_enabled


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{\n  "title": "a",,\n}', "application/app.json: Line 2, column 16: not valid JSON"),
        (b'{\n  "title": "\xff"\n}', "application/app.json: Line 2: not UTF-8"),
        (b"", "application/app.json: Line 1, column 1: not valid JSON"),
        (b"[]", "application/app.json: write a JSON object, not a list."),
        (b"null", "application/app.json: write a JSON object, not null."),
        (
            b" " * 2_100_000,
            "application/app.json: the file is 2,100,000 bytes; the limit is 2,097,152",
        ),
        (b'{"title": "a", "title": "b"}', "application/app.json: the key 'title' occurs twice"),
        (b'{"a":' * 2_000 + b"1" + b"}" * 2_000, "application/app.json: nested too deeply"),
    ],
)
def test_a_file_that_is_no_json_object_is_named_with_the_place(directory, content, problem):
    write(directory, "application/app.json", content)

    (found,) = problems_of(directory)

    assert found.startswith(problem)


def test_every_problem_of_every_file_is_told_at_once(directory):
    wrong = {**MANIFEST, "tool_set": []}
    write(directory, "deployment/gpt.json", {"provider": "opnai", "displayname": "GPT", "a b": 1})
    write(directory, "deployment/key.json", {**MODEL, "api_key": "a secret"})
    write(directory, "deployment/other.json", {**MODEL, "features": []})
    write(directory, "application/app.json", {"title": 3, "public": "yes"})
    write(directory, "application/good.json", {**APP, "manifest": wrong})

    assert problems_of(directory) == [
        "deployment/gpt.json: 'displayname': there is no such key; did you mean 'display_name'?",
        "deployment/gpt.json: 'a b': there is no such key; use one of deployment_id, "
        "display_name, description, kind, provider, base_url, model, api_key_env, features, "
        "parameters, input_attachment_types, text_tools, context_window, fallbacks, "
        "max_output_tokens, tools, parallel_tools, vision, documents, audio_input, audio_output, "
        "structured_output, reasoning, caching.",
        "deployment/gpt.json: display_name: is missing; write a string.",
        'deployment/gpt.json: provider: expected "openai", "anthropic", "openai_responses", "demo" or "minilm", found the string '
        '"opnai".',
        "deployment/key.json: 'api_key': files must not contain keys; set 'api_key_env' to the name of "
        "an environment variable.",
        "deployment/other.json: features: expected an object, found a list of 0.",
        "application/app.json: title: expected a string, found the integer 3.",
        'application/app.json: public: expected true or false, found the string "yes".',
        "application/app.json: manifest: is missing; write an object.",
    ]


def test_what_the_rows_refuse_is_told_with_its_path_and_nothing_is_saved(directory):
    wrong = {**MANIFEST, "orchestrator": {"deployment": {"deployment_id": 3}}}
    write(directory, "deployment/other.json", {**MODEL, "provider": "openai", "model": "x" * 201})
    write(directory, "application/good.json", {**APP, "manifest": wrong})
    write(directory, "application/no slug.json", APP)

    found = problems_of(directory)

    assert [line.partition(" (it has")[0] for line in found] == [
        "deployment/other.json: model: Ensure this value has at most 200 characters",
        "deployment/other.json: base_url: Required for an OpenAI-compatible service.",
        "application/good.json: manifest.orchestrator.deployment.deployment_id: expected a "
        "string, found the integer 3",
        "application/no slug.json: slug: Enter a valid “slug” consisting of letters, numbers, "
        "underscores or hyphens.",
    ]


def test_an_empty_manifest_is_refused_at_the_manifest(directory):
    write(directory, "application/app.json", {**APP, "manifest": {}})

    assert all(line.startswith("application/app.json: manifest") for line in problems_of(directory))


def test_two_files_of_a_row_are_refused(directory):
    write(directory, "application/copy.json", {**APP, "slug": "app"})

    assert problems_of(directory) == [
        "application/copy.json: slug: 'app' is already in application/app.json; remove one of them."
    ]


def test_an_unknown_deployment_is_worth_a_warning(directory):
    known = import_directories(directory).warnings
    unknown = {**MANIFEST, "orchestrator": {"deployment": {"deployment_id": "gtp"}}}
    write(directory, "application/app.json", {**APP, "manifest": unknown})

    report = import_directories(directory)

    assert known == ()
    assert report.warnings == (
        "application/app.json: manifest.orchestrator.deployment.deployment_id: there is no "
        "deployment 'gtp' in this installation; did you mean 'gpt'?",
    )
    assert Application.objects.count() == 1


def test_a_secret_that_is_still_to_come_is_worth_a_warning(directory):
    """Files are imported before a user can sign in and type it."""
    server = {
        "url": "https://mcp.example.org/",
        "protocol": "sse",
        "authorization": {"type": "bearer", "token": {"$secret": "desk"}},
    }
    toolset = {"type": "mcp", "name": "desk", "mcp_server_info": server}
    manifest = {**MANIFEST, "tool_sets": [toolset]}
    write(directory, "application/app.json", {**APP, "manifest": manifest})

    report = import_directories(directory)

    assert report.warnings == (
        "application/app.json: manifest.tool_sets[0].mcp_server_info.authorization.token: the "
        "secret 'desk' does not exist.",
    )
    assert Application.objects.get().manifest == manifest


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_directory_without_content_is_refused(tmp_path, name):
    with pytest.raises(
        ContentInvalid, match=r"the directory contains no deployment/ or application/"
    ):
        import_directories(tmp_path / name)


def test_a_directory_that_is_named_as_a_file_is_a_problem(directory):
    (directory / "application" / "folder.json").mkdir()

    assert problems_of(directory) == ["application/folder.json: Is a directory"]


def printed(*arguments: object) -> tuple[str, str]:
    output, errors = StringIO(), StringIO()
    call_command("import_content", *arguments, stdout=output, stderr=errors, no_color=True)
    return output.getvalue(), errors.getvalue()


def test_the_command_tells_what_it_did(directory):
    assert printed(directory) == ("created   deployment gpt\ncreated   application app\n", "")
    Application.objects.update(title="Mine")
    assert printed(directory) == (
        "unchanged deployment gpt\n"
        "kept      application app (changed since it was imported; --overwrite replaces it)\n",
        "",
    )
    assert printed(directory, "--overwrite") == (
        "unchanged deployment gpt\nupdated   application app\n",
        "",
    )


def test_the_command_tells_warnings_apart(directory):
    Deployment.objects.all().delete()
    (directory / "deployment" / "gpt.json").unlink()

    _, errors = printed(directory)

    assert errors.startswith("Warning: application/app.json: manifest.orchestrator.deployment")


def test_the_command_fails_with_every_problem(directory):
    write(directory, "application/app.json", {"titel": "App"})

    with pytest.raises(CommandError) as caught:
        printed(directory)

    assert caught.value.returncode == 1
    assert str(caught.value) == (
        "Nothing was imported.\n"
        "application/app.json: 'titel': there is no such key; did you mean 'title'?\n"
        "application/app.json: title: is missing; write a string.\n"
        "application/app.json: manifest: is missing; write an object."
    )


# --- Credentials in files -----------------------------------------------------------------------


def with_key(key: object, **fields: object) -> dict[str, object]:
    toolset = tracking(key)
    return {**APP, "manifest": {**MANIFEST, "tool_sets": [toolset]}, **fields}


def named() -> object:
    return Application.objects.get().manifest["tool_sets"][0]["authorization"]["key"]


SERVERS = ["https://track.example.org"]


@pytest.fixture
def keyed(directory: Path) -> Path:
    """Import an application with a credential."""
    write(directory, "application/app.json", with_key("first"))
    assert actions(directory)[1] == ("app", "created")
    return directory


def test_a_credential_in_a_file_becomes_a_secret_once(keyed):
    assert actions(keyed)[1] == ("app", "unchanged")
    assert secrets() == [("tracking-key", "first", SERVERS)]
    assert named() == {"$secret": "tracking-key"}
    assert "first" not in str(list(Change.objects.values()))


def test_a_file_that_changes_beside_its_credential_keeps_the_secret(keyed):
    write(keyed, "application/app.json", with_key("first", title="Other"))

    assert actions(keyed)[1] == ("app", "updated")
    assert Application.objects.get().title == "Other"
    assert secrets() == [("tracking-key", "first", SERVERS)]


def test_another_credential_in_a_file_makes_another_secret(keyed):
    write(keyed, "application/app.json", with_key("second"))

    assert actions(keyed)[1] == ("app", "updated")
    assert secrets()[1] == ("tracking-key-2", "second", SERVERS)
    assert named() == {"$secret": "tracking-key-2"}


def test_a_secret_that_was_rotated_is_left_alone_by_the_file_it_came_from(keyed):
    secret = Secret.objects.get()
    secret.value = "rotated"
    secret.save()

    assert actions(keyed)[1] == ("app", "unchanged")
    assert secrets() == [("tracking-key", "rotated", SERVERS)]


def test_a_file_that_names_a_secret_is_imported_anew_after_a_rotation(directory):
    secret = Secret.objects.create(name="shop", value="first", servers=SERVERS)
    write(directory, "application/app.json", with_key({"$secret": "shop"}))
    actions(directory)
    secret.value = "rotated"
    secret.save()
    write(directory, "application/app.json", with_key({"$secret": "shop"}, title="Other"))

    assert actions(directory)[1] == ("app", "updated")


def test_fallbacks_are_imported_before_the_deployments_that_name_them(tmp_path):
    write(tmp_path, "deployment/a.json", {**MODEL, "deployment_id": "a", "fallbacks": ["c", "b"]})
    write(tmp_path, "deployment/b.json", {**MODEL, "deployment_id": "b"})
    write(tmp_path, "deployment/c.json", {**MODEL, "deployment_id": "c", "fallbacks": ["b"]})

    import_directories(tmp_path)

    assert Deployment.objects.get(deployment_id="a").fallbacks == ["c", "b"]


def test_deployments_of_files_that_lead_back_to_each_other_are_refused(tmp_path):
    write(tmp_path, "deployment/a.json", {**MODEL, "deployment_id": "a", "fallbacks": ["b"]})
    write(tmp_path, "deployment/b.json", {**MODEL, "deployment_id": "b", "fallbacks": ["a"]})

    with pytest.raises(ContentInvalid):
        import_directories(tmp_path)

    assert not Deployment.objects.exists()
