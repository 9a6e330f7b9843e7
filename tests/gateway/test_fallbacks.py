"""Programs see which deployment gave the answer if a fallback was used."""

from __future__ import annotations

import pytest

from apps.agent.answers.model_fallbacks import Candidate, FallbackChain
from apps.errors import ModelFailed
from apps.workspace.local.deployments.fallbacks import RowBreaker
from tests.gateway.scripts import ScriptedModel, add_application, ask, ends, question, says

pytestmark = pytest.mark.django_db

SILENT = ModelFailed("silent", reason="timeout")
DEAD = ModelFailed("No.", status=401)


def chain(*models: ScriptedModel) -> FallbackChain:
    return FallbackChain(
        [
            Candidate(name, name.upper(), model, RowBreaker(f"gateway.{name}", name))
            for name, model in zip("abc", models, strict=False)
        ]
    )


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_of_a_fallback_has_the_name_of_the_application_and_says_who_gave_it(
    stream: bool,
):
    application = await add_application()
    models = ScriptedModel([SILENT]), ScriptedModel([says("Hello"), ends()])

    answer = await ask(application, chain(*models), question(stream=stream))

    chunks = answer.chunks() if stream else [answer.json()]
    said = [
        choice.get("delta", choice.get("message")) for one in chunks for choice in one["choices"]
    ]
    custom = [part["custom_content"] for part in said if "custom_content" in part]
    names = [stage["name"] for part in custom for stage in part.get("stages", [])]
    assert (answer.status, {chunk["model"] for chunk in chunks}) == (200, {application.slug})
    assert names == ["Answered by B because A did not respond in time."]


async def test_when_nobody_answers_the_failure_that_may_pass_is_told():
    busy = ModelFailed("busy", status=429, retry_after=90.0, is_transient=True)
    models = ScriptedModel([DEAD]), ScriptedModel([busy]), ScriptedModel([SILENT])

    answer = await ask(await add_application(), chain(*models), question(stream=True))

    assert (answer.status, answer.headers["retry-after"]) == (429, "90")
    assert [len(model.asked) for model in models] == [1, 1, 1]
