"""`llm-comply` checks responses against the OpenAPI document of Open Responses."""

from __future__ import annotations

from tests.judges.llm_comply.conftest import Judge, verdicts

CASES = (
    *("basic-response", "system-prompt", "multi-turn", "tool-calling", "image-input"),
    *("streaming-response", "streaming-usage", "reasoning-summary", "error-handling"),
    *("assistant-phase", "response-output-phase-schema", "compact-missing-model"),
    "compact-response",
)


def test_every_case_of_responses_passes(judge: Judge):
    assert verdicts(judge("open-responses")) == dict.fromkeys(CASES, ("passed", []))
