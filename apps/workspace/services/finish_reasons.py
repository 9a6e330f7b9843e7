"""Converts the finish reasons of services to OpenAI's."""

import logging
import re
from functools import lru_cache

from apps.errors import ModelFailed
from apps.process_state import on_reset

logger = logging.getLogger(__name__)

MEANINGS = {
    "stop": (
        "stop", "eos", "eos_token", "end", "end_turn", "stop_sequence", "stop_token", "complete",
        "completed", "done", "finish", "finished", "normal",
    ),
    "length": (
        "length", "max_tokens", "max_token", "max_length", "max_output_tokens", "incomplete",
        "max_completion_tokens", "model_length", "token_limit", "context_window_exceeded",
        "model_context_window_exceeded",
    ),
    "tool_calls": ("tool_calls", "tool_call", "tool_use", "function_call", "function_calls"),
    "content_filter": (
        "content_filter", "content_filtered", "safety", "recitation", "blocklist", "spii",
        "prohibited_content", "sensitive", "refusal", "blocked", "guardrail_intervened",
    ),
}  # fmt: skip
FAILURES = frozenset(
    {
        "abort", "aborted", "engine_error", "error", "failed", "failure", "insufficient_system_resource",
        "internal_error", "network_error", "server_error",
    }
)  # fmt: skip
"""The finish reasons which mean that the service failed and the answer is incomplete."""
REASONS = {word: reason for reason, words in MEANINGS.items() for word in words}
LONGEST = 40

_between = re.compile(r"[^a-z]+")


def finish_reason(written: str) -> str:
    """Convert a service's finish reason to OpenAI's. An unknown reason becomes `stop`.

    Raises `ModelFailed` for a reason that means a failure.
    """
    if written in MEANINGS:
        return written
    word = _between.sub("_", written[:LONGEST].lower()).strip("_").removeprefix("finish_reason_")
    if word in FAILURES:
        raise ModelFailed(
            f"The model's service ended the response with the finish reason {word}.",
            reason="stream",
        )
    found = REASONS.get(word)
    if found is None:
        log_unknown(word)
    return found or "stop"


@lru_cache(maxsize=100)  # A process logs each reason once.
def log_unknown(word: str) -> None:
    logger.warning("A model's service ended a response with an unknown finish reason: %s", word)


on_reset(log_unknown.cache_clear)
