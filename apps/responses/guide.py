"""Defines the developer guide to the Responses API."""

from apps.doors.guides import DoorGuide, Snippet, Trial

RESPONSES = DoorGuide(
    "responses",
    "Responses API",
    "This is OpenAI’s newer API, which OpenAI’s SDKs, the Agents SDK and Codex use.",
    "{origin}/v1/responses",
    "responses.md",
    (
        Snippet(
            "curl",
            "sh",
            """\
curl {origin}/v1/responses \\
  -H "Authorization: Bearer $QUICKAPPS_KEY" -H "Content-Type: application/json" \\
  -d '{"model": "{slug}", "input": "Hello"}'""",
        ),
        Snippet(
            "Python",
            "python",
            """\
import os

from openai import OpenAI

client = OpenAI(base_url="{origin}/v1", api_key=os.environ["QUICKAPPS_KEY"])
response = client.responses.create(model="{slug}", input="Hello")
print(response.output_text)""",
        ),
        Snippet(
            "Codex: ~/.codex/config.toml",
            "toml",
            """\
model = "{slug}"
model_provider = "quickapps"

[model_providers.quickapps]
name = "QuickApps"
base_url = "{origin}/v1"
env_key = "QUICKAPPS_KEY"
wire_api = "responses\"""",
        ),
    ),
    Trial("{origin}/v1/responses", '{"model": "{slug}", "input": {message}}'),
)
