"""Asks an application with `ChatAnthropic`, and writes what it has seen as JSON.

The arguments are the site's URL, a key, the model, and the question.
"""

import json
import sys
from typing import Any

from anthropic import APIStatusError
from langchain_anthropic import ChatAnthropic  # type: ignore[import-not-found]
from langchain_core.messages import HumanMessage, ToolMessage  # type: ignore[import-not-found]

LOOK = {"name": "look", "input_schema": {"type": "object", "properties": {}}}


def main(url: str, key: str, name: str, question: str) -> dict[str, Any]:
    model = ChatAnthropic(model=name, base_url=url, api_key=key, max_tokens=100, max_retries=0)
    try:
        whole = model.invoke(question)
    except APIStatusError as failure:
        return {"error": [failure.status_code, failure.type]}
    streamed = [chunk.text for chunk in model.stream(question)]
    with_tool = model.bind_tools([LOOK])
    asked = HumanMessage("call look {}")
    calling = with_tool.invoke([asked])
    (call,) = calling.tool_calls
    result = ToolMessage("rain", tool_call_id=call["id"])
    called = with_tool.invoke([asked, calling, result])
    return {
        "text": whole.text,
        "total": whole.usage_metadata["total_tokens"],
        "streamed": [text for text in streamed if text],
        "call": [call["name"], call["args"]],
        "called": called.text,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])))
