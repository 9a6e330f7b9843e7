"""Defines the developer guide to the Messages API."""

from apps.doors.guides import DoorGuide, Snippet, Trial

MESSAGES = DoorGuide(
    "messages",
    "Messages API",
    "This is Anthropic’s API, which Anthropic’s SDKs and Claude Code use.",
    "{origin}/v1/messages",
    "messages.md",
    (
        Snippet(
            "curl",
            "sh",
            """\
curl {origin}/v1/messages \\
  -H "x-api-key: $QUICKAPPS_KEY" -H "anthropic-version: 2023-06-01" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "{slug}", "max_tokens": 1000, "messages": [{"role": "user", "content": "Hello"}]}'""",
        ),
        Snippet(
            "Python",
            "python",
            """\
import os

import anthropic

client = anthropic.Anthropic(base_url="{origin}", api_key=os.environ["QUICKAPPS_KEY"])
message = client.messages.create(
    model="{slug}", max_tokens=1000, messages=[{"role": "user", "content": "Hello"}]
)
print(message.content[0].text)""",
        ),
        Snippet(
            "Claude Code",
            "sh",
            """\
export ANTHROPIC_BASE_URL={origin} ANTHROPIC_API_KEY=$QUICKAPPS_KEY
claude --model {slug}""",
        ),
    ),
    Trial(
        "{origin}/v1/messages",
        '{"model": "{slug}", "max_tokens": 1000, '
        '"messages": [{"role": "user", "content": {message}}]}',
        (("anthropic-version", "2023-06-01"),),
    ),
)
