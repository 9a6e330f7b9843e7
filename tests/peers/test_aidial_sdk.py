"""The models of DIAL's SDK validate what clients and the site send."""

from __future__ import annotations

import httpx2
import pytest
from aidial_sdk.chat_completion.request import ChatCompletionRequest
from aidial_sdk.utils.pydantic import model_validate_extra_fields

from tests.sites.gateway import CLOCK, SLUG

WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user", "content": "Hi"}]},
        {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": f"call {CLOCK}"}]},
            ],
            "tools": [WEATHER],
            "tool_choice": "auto",
            "response_format": {"type": "json_object"},
            "temperature": 0.5,
        },
        {
            "messages": [
                {"role": "user", "content": "call weather"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "1",
                            "type": "function",
                            "function": {"name": "weather", "arguments": "{}"},
                        }
                    ],
                    "custom_content": {"state": {"k": 1}},
                },
                {"role": "tool", "tool_call_id": "1", "content": "12"},
            ],
            "tools": [WEATHER],
        },
    ],
)
def test_what_dial_would_send_is_taken_and_what_we_send_dial_would_take(gateway, body):
    model_validate_extra_fields(ChatCompletionRequest.parse_obj(body))

    response = httpx2.post(
        f"{gateway.url}/openai/deployments/{SLUG}/chat/completions",
        json=body,
        headers={"Api-Key": gateway.key},
    )

    assert response.status_code == 200, response.text
    for sent in gateway.upstream.asked[-2:]:
        model_validate_extra_fields(ChatCompletionRequest.parse_obj(sent))
