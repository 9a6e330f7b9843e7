"""`llm-comply` checks chat completions against OpenAI's own OpenAPI document."""

from __future__ import annotations

from tests.judges.llm_comply.conftest import Judge, verdicts

CASES = (
    *("chat-basic-response", "chat-system-prompt", "chat-multi-turn", "chat-tool-calling"),
    *("chat-streaming-response", "chat-streaming-usage", "chat-image-input"),
    *("chat-reasoning-summary", "chat-error-handling"),
)


def test_every_case_of_chat_completions_passes(judge: Judge):
    report = judge("openai-chat")

    assert verdicts(report) == dict.fromkeys(CASES, ("passed", []))
