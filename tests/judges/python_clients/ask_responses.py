"""Runs an agent of OpenAI's Agents SDK whose model is an application, and writes what it has seen
as JSON.

The arguments are the base URL of Responses, a key, the model, and the question.
"""

import asyncio
import json
import sys
from typing import Any

from agents import (  # type: ignore[import-not-found]
    Agent,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import APIStatusError, AsyncOpenAI


@function_tool  # type: ignore[untyped-decorator]
def look() -> str:
    """Look."""
    return "rain"


async def main(url: str, key: str, name: str, question: str) -> dict[str, Any]:
    set_tracing_disabled(True)
    async with AsyncOpenAI(base_url=url, api_key=key, max_retries=0) as client:
        model = OpenAIResponsesModel(model=name, openai_client=client)
        agent = Agent(name="Judge", model=model, tools=[look])
        try:
            whole = await Runner.run(agent, question)
        except APIStatusError as failure:
            return {"error": [failure.status_code, failure.message]}
        streamed = Runner.run_streamed(agent, "call look {}")
        deltas = [
            event.data.delta
            async for event in streamed.stream_events()
            if event.type == "raw_response_event"
            and event.data.type == "response.output_text.delta"
        ]
        history = [*streamed.to_input_list(), {"role": "user", "content": "say more"}]
        second = await Runner.run(agent, history)
        return {
            "text": whole.final_output,
            "total": whole.context_wrapper.usage.total_tokens,
            "called": streamed.final_output,
            "deltas": deltas,
            "more": second.final_output,
        }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(*sys.argv[1:]))))
