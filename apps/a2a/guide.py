"""Defines the guide to A2A."""

from apps.doors.guides import DoorGuide, Snippet, Trial

A2A = DoorGuide(
    "a2a",
    "A2A",
    "Use the A2A protocol to call the application from other agents. Each call creates a task, which QuickApps stores. A task can wait until the calling agent replies.",
    "{origin}/a2a/{slug}",
    "a2a.md",
    (
        Snippet(
            "Agent card",
            "sh",
            """\
curl {origin}/a2a/{slug}/.well-known/agent-card.json -H "Authorization: Bearer $QUICKAPPS_KEY\"""",
        ),
        Snippet(
            "curl",
            "sh",
            """\
curl {origin}/a2a/{slug} -H "A2A-Version: 1.0" \\
  -H "Authorization: Bearer $QUICKAPPS_KEY" -H "Content-Type: application/json" \\
  -d '{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": \
{"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "Hello"}]}}}'""",
        ),
    ),
    Trial(
        "{origin}/a2a/{slug}",
        '{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": '
        '{"messageId": "1", "role": "ROLE_USER", "parts": [{"text": {message}}]}}}',
        (("A2A-Version", "1.0"),),
    ),
)
