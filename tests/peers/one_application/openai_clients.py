"""OpenAI's SDK at the doors of chat completions and of responses."""

from __future__ import annotations

from typing import Any

from openai import OpenAI

from tests.peers.one_application.shop import (
    FILE_NAME,
    ORDER,
    SELL,
    SLUG,
    Conversation,
    Shop,
    read_files,
)

DATA_URL = f"data:text/plain;base64,{ORDER}"


def converse_with_completions(shop: Shop) -> Conversation:
    file = {"type": "file", "file": {"filename": FILE_NAME, "file_data": DATA_URL}}
    messages: Any = [{"role": "user", "content": [{"type": "text", "text": SELL}, file]}]
    texts, paths = [], []
    with OpenAI(base_url=f"{shop.url}/v1", api_key=shop.key, max_retries=0) as client:
        for answer in ("1", "Red", ""):
            given = client.chat.completions.create(model=SLUG, messages=messages)
            message: Any = given.choices[0].message
            texts.append(message.content)
            paths += [one["url"] for one in message.custom_content.get("attachments", ())]
            messages += [message, {"role": "user", "content": answer}]
    return Conversation(tuple(texts), read_files(shop, paths))


def converse_with_responses(shop: Shop) -> Conversation:
    file = {"type": "input_file", "filename": FILE_NAME, "file_data": DATA_URL}
    content = [{"type": "input_text", "text": SELL}, file]
    given: Any = [{"role": "user", "content": content}]
    last = None
    texts, cited = [], []
    with OpenAI(base_url=f"{shop.url}/v1", api_key=shop.key, max_retries=0) as client:
        for answer in ("1", "Red", ""):
            response: Any = client.responses.create(
                model=SLUG, input=given, previous_response_id=last
            )
            texts.append(response.output_text)
            given, last = answer, response.id
            [message] = [item for item in response.output if item.type == "message"]
            cited += [note.url for part in message.content for note in part.annotations]
    return Conversation(tuple(texts), read_files(shop, cited))
