"""Defines the guides that explain to developers how to use the chat completions API and DIAL Core."""

from apps.doors.guides import DoorGuide, Snippet, Trial

COMPLETIONS = DoorGuide(
    "completions",
    "Chat completions",
    "This is OpenAI’s original API, which most clients and frameworks support.",
    "{origin}/v1/chat/completions",
    "gateway.md",
    (
        Snippet(
            "curl",
            "sh",
            """\
curl {origin}/v1/chat/completions \\
  -H "Authorization: Bearer $QUICKAPPS_KEY" -H "Content-Type: application/json" \\
  -d '{"model": "{slug}", "messages": [{"role": "user", "content": "Hello"}]}'""",
        ),
        Snippet(
            "Python",
            "python",
            """\
import os

from openai import OpenAI

client = OpenAI(base_url="{origin}/v1", api_key=os.environ["QUICKAPPS_KEY"])
answer = client.chat.completions.create(
    model="{slug}", messages=[{"role": "user", "content": "Hello"}]
)
print(answer.choices[0].message.content)""",
        ),
        Snippet(
            "JavaScript",
            "javascript",
            """\
import OpenAI from "openai";

const client = new OpenAI({ baseURL: "{origin}/v1", apiKey: process.env.QUICKAPPS_KEY });
const answer = await client.chat.completions.create({
  model: "{slug}",
  messages: [{ role: "user", content: "Hello" }],
});
console.log(answer.choices[0].message.content);""",
        ),
    ),
    Trial(
        "{origin}/v1/chat/completions",
        '{"model": "{slug}", "messages": [{"role": "user", "content": {message}}]}',
    ),
)

CORE = DoorGuide(
    "core",
    "DIAL Core",
    "Register the application in DIAL Core’s configuration to make it available in DIAL’s chat.",
    "{origin}/openai/deployments/{slug}/chat/completions",
    "dial.md",
    (
        Snippet(
            "Core’s configuration",
            "json",
            """\
{
  "applications": {
    "{slug}": {
      "displayName": "{title}",
      "endpoint": "{origin}/openai/deployments/{slug}/chat/completions"
    }
  }
}""",
        ),
    ),
)
