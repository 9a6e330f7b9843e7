"""`llm-comply` checks messages against Anthropic's own OpenAPI document."""

from __future__ import annotations

from tests.judges.llm_comply.conftest import Judge, verdicts

CASES = (
    *("anth-basic-response", "anth-system-prompt", "anth-multi-turn", "anth-tool-calling"),
    *("anth-streaming-response", "anth-streaming-usage", "anth-image-input"),
    *("anth-thinking-display", "anth-error-handling"),
)


def test_every_case_of_messages_passes(judge: Judge):
    assert verdicts(judge("anthropic")) == dict.fromkeys(CASES, ("passed", []))
