"""Runs that use their user's own API key."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection

from apps.accounts.caller import Caller
from apps.agent.events import Event, NoticeAdded, TextDelta
from apps.agent.messages import ModelMessage
from apps.agent.progress import Progress
from apps.catalog.resolve import resolve_application
from apps.errors import ModelFailed, PersonalKeyRefused
from apps.insights.call_rows import write
from apps.insights.meter import CallEntry, RunMeter
from apps.insights.models import ModelCall, Price
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.runs.workspaces import open_workspace
from apps.workspace.local.deployments.personal_keys import key_services, store_key
from apps.workspace.local.models import Deployment, PersonalKey
from tests.capabilities.manifests import PROMPT
from tests.catalog.rows import make_application, manifest_with
from tests.contract import proves
from tests.workspace.local.key_service import KeyedService, serve_keyed

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

OWN, PLATFORM = "sk-own-1234567890", "sk-platform-0987654321"
PERSON: dict[str, Any] = {"mode": "user_keys"}
FIRST: dict[str, Any] = {"mode": "user_keys", "platform_pays": True}


@pytest.fixture
def service(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[KeyedService]:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    monkeypatch.setattr("random.uniform", lambda least, most: least)  # no backoff
    with serve_keyed(OWN, PLATFORM) as running:
        yield running


@pytest.fixture
def user(service: KeyedService, nothing_predefined: None) -> User:
    """Return a user with a key for the only service."""
    Deployment.objects.create(
        deployment_id="m",
        display_name="M",
        base_url=service.url,
        model_name="m",
        api_key=PLATFORM,
        takes_personal_keys=True,
    )
    ada = User.objects.create_user("ada")
    store_key(ada.pk, key_services()[0], OWN)
    return ada


async def ask(caller: Caller, keys: dict[str, Any] | None, meter: Any = None) -> list[Event]:
    manifest = manifest_with(
        orchestrator={"deployment": {"deployment_id": "m"}, "system_prompt": PROMPT},
        features={"timestamp": None, "model_keys": keys},
    )
    slug = f"shop-{uuid4()}"[:50]
    await sync_to_async(make_application)(slug, manifest=manifest)
    application = await resolve_application(slug)
    events: list[Event] = []
    progress = Progress() if meter is None else Progress(meter=meter)
    request = RunRequest((ModelMessage("user", "Is it open?"),))
    workspace = open_workspace(caller)
    await run_application(application, request, workspace, caller, events.append, progress=progress)
    return events


def caller_of(user: User, **fields: Any) -> Caller:
    return Caller(f"user-{user.pk}", "user", user_id=user.pk, **fields)


def told(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, NoticeAdded | TextDelta)]


@proves("T-55")
async def test_an_application_that_takes_no_keys_of_people_is_paid_by_the_installation(
    user: User, service: KeyedService
):
    assert told(await ask(caller_of(user), None)) == ["Yes."]
    assert told(await ask(caller_of(user), {"mode": "platform_only"})) == ["Yes."]

    assert service.sent == [PLATFORM, PLATFORM]


@proves("T-55", "R-26")
async def test_a_person_who_has_a_key_pays_and_others_do_not(user: User, service: KeyedService):
    stranger = await User.objects.acreate(username="bob")

    assert told(await ask(caller_of(user), PERSON)) == ["Yes."]
    await ask(caller_of(stranger), PERSON)
    await ask(Caller("session-a"), PERSON)
    await ask(Caller(f"user-{user.pk}", "key"), PERSON)

    assert service.sent == [OWN, PLATFORM, PLATFORM, PLATFORM]


@proves("T-55")
async def test_a_key_that_was_deleted_is_not_sent_again(user: User, service: KeyedService):
    await ask(caller_of(user), PERSON)
    await PersonalKey.objects.all().adelete()
    await ask(caller_of(user), PERSON)

    assert service.sent == [OWN, PLATFORM]


@proves("T-55")
async def test_a_key_is_bound_to_its_service(user: User, service: KeyedService):
    with serve_keyed(PLATFORM) as elsewhere:
        deployment = await Deployment.objects.aget()
        deployment.base_url = elsewhere.url
        await deployment.asave()

        assert told(await ask(caller_of(user), PERSON)) == ["Yes."]

    assert (elsewhere.sent, service.sent) == ([PLATFORM], [])


@proves("T-55")
async def test_a_deployment_that_takes_no_keys_of_people_is_sent_none(
    user: User, service: KeyedService
):
    await Deployment.objects.aupdate(takes_personal_keys=False, version=2)

    await ask(caller_of(user), PERSON)

    assert service.sent == [PLATFORM]


async def test_a_key_of_a_closed_account_is_not_sent(user: User, service: KeyedService):
    await User.objects.aupdate(is_active=False)

    await ask(caller_of(user), PERSON)

    assert service.sent == [PLATFORM]


@proves("T-55", "T-56")
@pytest.mark.parametrize("is_spent", [False, True])
async def test_a_refused_key_fails_the_answer_and_nobody_else_pays(
    user: User, service: KeyedService, is_spent: bool, caplog: pytest.LogCaptureFixture
):
    service.keys.remove(OWN)
    if is_spent:
        service.spent.add(OWN)
    caplog.set_level(logging.DEBUG)

    with pytest.raises(PersonalKeyRefused) as refused:
        await ask(caller_of(user), PERSON)

    host = service.url.removeprefix("http://").removesuffix("/v1")
    text = f"{host} did not accept your key. Check it under “Connections”."
    assert str(refused.value) == text
    assert service.sent == [OWN]
    assert OWN not in caplog.text


@proves("T-55")
async def test_where_the_operator_allows_it_the_installation_pays_and_the_answer_says_so(
    user: User, service: KeyedService
):
    service.keys.remove(OWN)

    events = await ask(caller_of(user), FIRST)

    host = service.url.removeprefix("http://").removesuffix("/v1")
    text = f"{host} did not accept your key, so this installation’s key was used."
    assert told(events) == [text, "Yes."]
    assert service.sent == [OWN, PLATFORM]


async def test_a_fault_of_the_service_is_no_reason_to_let_the_installation_pay(
    user: User, service: KeyedService
):
    await Deployment.objects.aupdate(base_url="http://127.0.0.1:9/v1", version=2)
    await PersonalKey.objects.aupdate(origin="http://127.0.0.1:9")

    with pytest.raises(ModelFailed):
        await ask(caller_of(user), FIRST)


@proves("T-55")
@pytest.mark.parametrize(
    ("keys", "of_other", "paid"), [(PERSON, "", []), (FIRST, "", [PLATFORM]), (PERSON, OWN, [OWN])]
)
async def test_no_other_deployment_is_paid_by_the_installation_for_a_person_who_pays_alone(
    user: User, settings: Any, keys: dict[str, Any], of_other: str, paid: list[str]
):
    with serve_keyed(OWN, PLATFORM) as elsewhere:
        await Deployment.objects.acreate(
            deployment_id="other",
            display_name="Other",
            base_url=elsewhere.url,
            model_name="o",
            api_key=PLATFORM,
            takes_personal_keys=True,
        )
        # Nothing listens at the first one, for which the user has a key.
        await Deployment.objects.filter(deployment_id="m").aupdate(
            base_url="http://127.0.0.1:9/v1", fallbacks=["other"], version=2
        )
        await PersonalKey.objects.aupdate(origin="http://127.0.0.1:9")
        if of_other:
            services = {service.host: service for service in await sync_to_async(key_services)()}
            host = elsewhere.url.removeprefix("http://").removesuffix("/v1")
            await sync_to_async(store_key)(user.pk, services[host], of_other)
        if paid:
            notice = "Answered by Other because M could not be reached."
            assert told(await ask(caller_of(user), keys)) == ["Yes.", notice]
        else:
            with pytest.raises(ModelFailed):
                await ask(caller_of(user), keys)

    assert elsewhere.sent == paid


async def test_only_what_the_installation_pays_has_a_price(user: User, service: KeyedService):
    deployment = await Deployment.objects.aget()
    await Price.objects.acreate(
        deployment=deployment, valid_from=date(2026, 1, 1), input=Decimal(1), output=Decimal(1)
    )
    entries: list[CallEntry] = []
    meter = RunMeter(entries.append, "page", f"user-{user.pk}")

    await ask(caller_of(user), PERSON, meter)
    await ask(Caller("session-a"), PERSON, meter)
    await sync_to_async(write)(entries)

    calls = ModelCall.objects.order_by("pk").values_list("input_tokens", "output_tokens", "cost")
    assert [call async for call in calls] == [(5, 2, 0), (5, 2, Decimal("0.000007"))]


@proves("T-56")
def test_the_column_has_no_key_in_plain_text_and_another_secret_key_reads_it(
    user: User, settings: Any
):
    with connection.cursor() as cursor:
        cursor.execute("SELECT key FROM workspace_personalkey")
        (stored,) = cursor.fetchone()
    call_command("reencrypt_secrets")
    row = PersonalKey.objects.get()

    assert OWN not in stored
    assert row.key == OWN
    assert OWN not in f"{row!r} {row}"
