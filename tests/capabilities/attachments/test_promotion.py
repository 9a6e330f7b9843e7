"""A file that the user attached by its address is stored among the user's files, or the reason is
reported."""

from collections.abc import Sequence
from typing import Any

import pytest

from apps.agent.events import Event, RunFinished, StageClosed, StageOpened
from apps.agent.messages import Attachment, ModelMessage
from apps.workspace.local.workspace import LocalWorkspace
from tests.capabilities.attachments.conversations import (
    CALLER,
    PNG,
    answered,
    application,
    seen,
    state,
    told,
)
from tests.capabilities.manifests import stage_text
from tests.contract import proves
from tests.fakes import ScriptedModel, saying
from tests.servers.internet import Internet, answer, internet, ok

pytestmark = pytest.mark.django_db

GIVEN = Attachment("*/*", "My cat", url="http://files.example/cat.png?key=s3cret")
QUESTION = ModelMessage("user", "Look", attachments=(GIVEN,))
PAGES = {"/cat.png": ok(PNG, content_type="image/png")}


@pytest.fixture(autouse=True)
def _fetching(settings: Any) -> None:
    settings.EXTERNAL_URL_FETCH_ENABLED = True


def paths(net: Internet) -> list[str]:
    return [request.split(" ")[1] for request in net.asked]


async def asked(
    *messages: ModelMessage, app: Any = None, **info: Any
) -> tuple[Sequence[ModelMessage], list[Event]]:
    model = ScriptedModel(saying("Yes."))
    events = await answered(app or application(), model, *messages, **info)
    return seen(model), events


@proves("11")
async def test_a_picture_of_the_internet_is_kept_and_shown():
    async with internet(PAGES) as net:
        (message,), events = await asked(QUESTION)

    (kept,) = message.attachments
    assert (await LocalWorkspace(CALLER).files.read(kept.url or "")).content == PNG
    assert kept == Attachment("image/png", "My cat", url=kept.url, reference_url=GIVEN.url)
    assert (kept.url or "").startswith("files/user-7/")
    assert message.text == f"Look{told(kept)}"
    assert paths(net) == ["/cat.png?key=s3cret"]
    assert [type(event) for event in events if isinstance(event, StageOpened)] == []


@proves("11")
async def test_the_next_request_finds_the_file_and_fetches_nothing():
    async with internet(PAGES) as net:
        _, events = await asked(QUESTION)
        reply = ModelMessage("assistant", "Yes.", state=state(events))
        (first, _, _), again = await asked(QUESTION, reply, ModelMessage("user", "And now?"))

    assert len(net.asked) == 1
    assert [a.title for a in first.attachments] == ["My cat"]
    assert state(again)["promoted_attachments"] == state(events)["promoted_attachments"]


async def test_a_file_that_was_deleted_is_fetched_again():
    async with internet(PAGES) as net:
        _, events = await asked(QUESTION)
        for path in state(events)["promoted_attachments"].values():
            await LocalWorkspace(CALLER).files.delete(path)
        reply = ModelMessage("assistant", "Yes.", state=state(events))
        await asked(QUESTION, reply, ModelMessage("user", "And now?"))

    assert len(net.asked) == 2


@pytest.mark.parametrize(
    "forged",
    [
        [],
        {"x": 5},
        dict.fromkeys(["KEY"], "files/somebody-else/secret.txt"),
        dict.fromkeys(["KEY"], "http://internal.example/"),
    ],
)
async def test_a_state_that_somebody_else_wrote_opens_no_files(forged):
    async with internet(PAGES) as net:
        _, events = await asked(QUESTION)
        (key,) = state(events)["promoted_attachments"]
        if isinstance(forged, dict) and "KEY" in forged:
            forged = {key: forged["KEY"]}
        reply = ModelMessage("assistant", "Yes.", state={"promoted_attachments": forged})
        (first, _, _), _ = await asked(QUESTION, reply, ModelMessage("user", "And now?"))

    assert [a.url for a in first.attachments] == list(
        state(events)["promoted_attachments"].values()
    )
    assert len(net.asked) == 2


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        (
            answer(404, b"gone"),
            (
                "External URL http://files.example/cat.png could not be fetched. The server "
                "returned status 404."
            ),
        ),
        (
            ok(b"x" * 2000, content_type="image/png"),
            "External URL http://files.example/cat.png exceeds the configured file-size limit.",
        ),
    ],
)
async def test_what_cannot_be_fetched_is_told_to_all_and_the_turn_goes_on(page, problem):
    app = application(features={"file_loading": {"size_limit": 1000}})
    async with internet({"/cat.png": page}):
        (message,), events = await asked(QUESTION, app=app)

    assert message == ModelMessage(
        "user", f"Look{told(GIVEN)}\n[The attachment 'My cat' cannot be shown: {problem}]"
    )
    assert stage_text(events) == f"#### Attachments\n\n- 'My cat': {problem}\n"
    closed = [event.failed for event in events if isinstance(event, StageClosed)]
    assert closed == [False]
    assert isinstance(events[-1], RunFinished)


@proves("11")
async def test_the_policy_of_the_installation_is_told(settings):
    settings.EXTERNAL_URL_FETCH_ENABLED = False
    async with internet(PAGES) as net:
        _, events = await asked(QUESTION)

    assert net.asked == []
    assert stage_text(events) == (
        "#### Attachments\n\n- 'My cat': External URL fetching is disabled by operator policy "
        "(EXTERNAL_URL_FETCH_ENABLED).\n"
    )


async def test_a_deployment_that_fetches_addresses_is_given_them():
    picture = Attachment("image/png", "My cat", url=GIVEN.url)
    async with internet(PAGES) as net:
        (message,), _ = await asked(
            ModelMessage("user", "Look", attachments=(picture,)), features={"url_attachments": True}
        )
        (parts,), _ = await asked(
            ModelMessage("user", "Look", attachments=(picture,)),
            features={"url_attachments": True},
            files="none",
        )

    assert net.asked == []
    assert message == ModelMessage("user", f"Look{told(picture)}", attachments=(picture,))
    assert parts.content[1] == {"type": "image_url", "image_url": {"url": GIVEN.url}}


async def test_data_in_an_address_becomes_a_file():
    given = Attachment("image/gif", "", url="data:image/gif;base64,R0lGODlh")

    (message,), _ = await asked(ModelMessage("user", "Look", attachments=(given,)))

    (kept,) = message.attachments
    assert (await LocalWorkspace(CALLER).files.read(kept.url or "")).content == b"GIF89a"
    assert (kept.type, kept.reference_url) == ("image/gif", None)
    assert "base64" not in message.text


@proves("11")
async def test_only_what_the_user_attached_is_fetched():
    async with internet(PAGES) as net:
        await asked(
            ModelMessage("user", "Draw"),
            ModelMessage("assistant", "Here", attachments=(GIVEN,)),
            ModelMessage("user", "?"),
        )

    assert net.asked == []
