"""Defines the developer guide to the Conversations API."""

from apps.doors.guides import DoorGuide, Snippet, Trial

CONVERSATIONS = DoorGuide(
    "conversations",
    "Conversations API",
    "Use QuickApps’ own API to start runs that continue after the request, or that wait for a user. QuickApps stores the conversations.",
    "{origin}/api/IAIAssistantApi/SubmitMessage",
    "task-api.md",
    (
        Snippet(
            "curl",
            "sh",
            """\
curl {origin}/api/IAIAssistantApi/SubmitMessage \\
  -H "Authorization: Bearer $QUICKAPPS_KEY" -H "Content-Type: application/json" \\
  -d '{"application": "{slug}", "text": "Hello"}'""",
        ),
    ),
    Trial(
        "{origin}/api/IAIAssistantApi/SubmitMessage",
        '{"application": "{slug}", "text": {message}}',
    ),
)
