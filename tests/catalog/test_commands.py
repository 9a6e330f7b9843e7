from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import override_settings

from apps.catalog.application_files.row_import import import_directories
from apps.workspace.local.models import Deployment
from apps.workspace.local.secrets.field import SecretField, UnreadableSecret
from tests.catalog.rows import make_application, make_deployment
from tests.contract import proves


def printed(*arguments: str) -> str:
    output = StringIO()
    call_command(*arguments, stdout=output)
    return output.getvalue()


def test_the_registered_schema_names_this_server():
    schema = json.loads(printed("manifest_schema", "--base-url", "https://apps.example.com/"))

    assert schema["dial:applicationTypeCompletionEndpoint"] == (
        "https://apps.example.com/openai/deployments/quick_apps2/chat/completions"
    )
    assert schema["properties"]["orchestrator"]["dial:meta"] == {
        "dial:propertyKind": "server",
        "dial:propertyOrder": 1,
    }


def test_the_plain_schema_has_no_keys_of_dial():
    assert "$id" not in json.loads(printed("manifest_schema", "--plain"))


def test_an_address_without_scheme_is_refused():
    with pytest.raises(CommandError, match="must begin with"):
        printed("manifest_schema", "--base-url", "apps.example.com")


@proves("G-02")
@pytest.mark.django_db
def test_the_registration_has_the_type_and_every_enabled_application():
    make_application("travel", title="Travel helper", description="Plans trips.")
    make_application("secret", is_enabled=False)
    arguments = ("--base-url", "http://apps:8000/", "--site-url", "https://apps.example.com")

    found = json.loads(printed("dial_registration", *arguments))

    [kind] = found["applicationTypeSchemas"]
    service = "http://apps:8000/openai/deployments"
    assert (
        kind["$id"],
        kind["dial:applicationTypeCompletionEndpoint"],
        kind["dial:applicationTypeConfigurationEndpoint"],
        kind["dial:applicationTypeSchemaEndpoint"],
        kind["dial:applicationTypeEditorUrl"],
        kind["dial:appendApplicationPropertiesHeader"],
        kind["dial:applicationTypeAssistantAttachmentsInRequestSupported"],
    ) == (
        "https://mydial.epam.com/custom_application_schemas/quickapps2",
        f"{service}/quick_apps2/chat/completions",
        f"{service}/quick_apps2/configuration",
        "http://apps:8000/v1/configuration-support/application-schema",
        "https://apps.example.com/dial/editor/",
        False,
        True,
    )
    assert list(found["applications"]) == ["travel"]
    assert found["applications"]["travel"] == {
        "displayName": "Travel helper",
        "description": "Plans trips.",
        "endpoint": f"{service}/travel/chat/completions",
        "inputAttachmentTypes": ["*/*"],
        "forwardAuthToken": True,
        "features": {
            "configurationEndpoint": f"{service}/travel/configuration",
            "toolsSupported": True,
            "urlAttachmentsSupported": True,
            "assistantAttachmentsInRequestSupported": True,
        },
        "viewerUrl": "https://apps.example.com/chat/travel/",
        "editorUrl": "https://apps.example.com/dial/editor/",
    }


@proves("G-02")
@pytest.mark.django_db
def test_the_registration_of_the_built_in_agent_names_the_files_that_it_takes_g_02(settings):
    import_directories(settings.PREDEFINED_DIR)

    found = json.loads(printed("dial_registration", "general-purpose-agent"))

    entry = found["applications"]["general-purpose-agent"]
    given = ("displayName", "endpoint", "inputAttachmentTypes", "forwardAuthToken")
    assert [entry[key] for key in given] == [
        "General-purpose agent",
        f"{settings.SITE_URL}/openai/deployments/general-purpose-agent/chat/completions",
        ["image/png", "image/jpeg", "application/pdf", "text/html", "text/plain", "text/csv"],
        True,
    ]


@pytest.mark.django_db
def test_a_registration_of_an_unknown_application_is_refused():
    with pytest.raises(CommandError, match="Unknown or disabled application: travel"):
        printed("dial_registration", "travel")


@pytest.fixture
def other_keys():
    """Run the block with other keys, like another process with its own."""

    def switch(**settings):
        forget_keys()
        return override_settings(**settings)

    yield switch
    forget_keys()


def forget_keys():
    field = Deployment._meta.get_field("api_key")
    assert isinstance(field, SecretField)
    for name in ("keys", "f"):
        field.__dict__.pop(name, None)


def raw_key() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT api_key FROM workspace_deployment")
        return str(cursor.fetchone()[0])


@pytest.mark.django_db
def test_a_secret_survives_a_new_key_once_it_is_encrypted_anew(other_keys):
    with other_keys(SECRET_KEY="old", SECRET_KEY_FALLBACKS=[]):
        make_deployment(api_key="sk-very-secret")
        before = raw_key()

    with other_keys(SECRET_KEY="new", SECRET_KEY_FALLBACKS=["old"]):
        assert printed("reencrypt_secrets") == "Re-encrypted secrets: 1.\n"

    assert "sk-very-secret" not in raw_key()
    assert raw_key() != before
    with other_keys(SECRET_KEY="new", SECRET_KEY_FALLBACKS=[]):
        assert Deployment.objects.get().api_key == "sk-very-secret"


@pytest.mark.django_db
def test_a_secret_that_no_key_fits_is_named_and_left(other_keys):
    with other_keys(SECRET_KEY="old", SECRET_KEY_FALLBACKS=[]):
        deployment = make_deployment(api_key="sk-very-secret")
        before = raw_key()

    with (
        other_keys(SECRET_KEY="new", SECRET_KEY_FALLBACKS=[]),
        pytest.raises(CommandError, match=rf"workspace\.Deployment {deployment.pk}"),
    ):
        printed("reencrypt_secrets")

    assert raw_key() == before


@pytest.mark.django_db
def test_saving_a_row_keeps_a_secret_that_cannot_be_read(other_keys):
    with other_keys(SECRET_KEY="old", SECRET_KEY_FALLBACKS=[]):
        make_deployment(api_key="sk-very-secret")
        before = raw_key()

    with other_keys(SECRET_KEY="new", SECRET_KEY_FALLBACKS=[]):
        unreadable = Deployment.objects.get()
        assert (unreadable.api_key, type(unreadable.api_key)) == ("", UnreadableSecret)
        unreadable.save()

    assert raw_key() == before
