"""A conversation that runs code in one answer, and uses its variables and files in the next."""

from typing import Any

import pytest

from apps.accounts.caller import Caller
from apps.agent.events import AttachmentAdded, Event
from apps.agent.messages import Attachment, ModelMessage
from apps.capabilities.interpreter.capability import TOOL_NAME, interpreter
from apps.capabilities.interpreter.sandbox.state import KEY
from tests.capabilities.interpreter.tools import document
from tests.capabilities.runs import application, events_in, state_of
from tests.fakes import FakeWorkspace, ScriptedModel, calling, saying

CALLER = Caller("user-1", "user", user_id=1)


async def ask(
    workspace: FakeWorkspace, messages: list[ModelMessage], **arguments: Any
) -> tuple[ScriptedModel, list[Event]]:
    """Run one answer whose model calls the tool once."""
    call = calling(("1", TOOL_NAME, {"title": "Compute", **arguments}))
    model = ScriptedModel(call, saying("Done"))
    workspace.models = {"some-model": model}
    return model, await events_in(workspace, application(document(), interpreter), *messages)


def told(model: ScriptedModel) -> str:
    """Return the result that the model read."""
    return model.asked[-1].messages[-1].text


@pytest.mark.django_db
async def test_a_conversation_goes_on_where_it_was(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    workspace = FakeWorkspace(CALLER)
    sales = await workspace.files.keep("my sales.csv", b"1\n2\n3\n", "text/csv")
    question = ModelMessage("user", "Add them up", attachments=(Attachment(url=sales.path),))

    code = "rows = [int(line) for line in open('my sales.csv')]\nsum(rows)"
    first, events = await ask(workspace, [question], code=code, attachment_urls=["my sales.csv"])
    answer = ModelMessage("assistant", "Done", state=state_of(events))
    chart = "import json\nopen('c.plotly.json', 'w').write(json.dumps({'data': rows}))\nmax(rows)"
    second, later = await ask(
        workspace, [question, answer, ModelMessage("user", "And a chart")], code=chart
    )

    assert '"result": "6"' in told(first)
    assert set(state_of(events)) == {KEY, "tool_execution_history"}
    assert '"result": "3"' in told(second)
    assert all(KEY not in message.state for message in second.asked[0].messages)
    (shown,) = (event.attachment for event in later if isinstance(event, AttachmentAdded))
    assert shown.type == "application/vnd.plotly.v1+json"
    assert (await workspace.files.read(str(shown.url))).content == b'{"data": [1, 2, 3]}'


@pytest.mark.django_db
async def test_another_owners_file_is_not_read(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    other = FakeWorkspace(Caller("user-2", "user", user_id=2))
    secret = await other.files.keep("secret.csv", b"secret", "text/csv")
    question = ModelMessage("user", "Read it", attachments=(Attachment(url=secret.path),))

    model, _ = await ask(
        FakeWorkspace(CALLER), [question], code="1", attachment_urls=["secret.csv"]
    )

    assert told(model) == (
        "Failed to prepare input files:\n"
        f"- secret.csv: The file '{secret.path}' does not exist, or you have no access."
    )
