"""Defines the guide to AG-UI."""

from apps.doors.guides import DoorGuide, Snippet, Trial

AG_UI = DoorGuide(
    "ag-ui",
    "AG-UI",
    "Use the AG-UI protocol to show steps, reasoning, approvals and questions in a frontend such as CopilotKit.",
    "{origin}/ag-ui/{slug}",
    "ag-ui.md",
    (
        Snippet(
            "curl",
            "sh",
            """\
curl -N {origin}/ag-ui/{slug} \\
  -H "Authorization: Bearer $QUICKAPPS_KEY" -H "Content-Type: application/json" \\
  -d '{"threadId": "1", "runId": "1", "state": {}, "tools": [], "context": [], "forwardedProps": {}, \
"messages": [{"id": "1", "role": "user", "content": "Hello"}]}'""",
        ),
        Snippet(
            "JavaScript",
            "javascript",
            """\
import { HttpAgent } from "@ag-ui/client";

const headers = { Authorization: `Bearer ${process.env.QUICKAPPS_KEY}` };
const agent = new HttpAgent({ url: "{origin}/ag-ui/{slug}", headers });
agent.addMessage({ id: "1", role: "user", content: "Hello" });
const { newMessages } = await agent.runAgent();
console.log(newMessages.at(-1).content);""",
        ),
        Snippet(
            "CopilotKit: server for the page",
            "javascript",
            """\
import { createServer } from "node:http";
import { HttpAgent } from "@ag-ui/client";
import { CopilotRuntime } from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";

const headers = { Authorization: `Bearer ${process.env.QUICKAPPS_KEY}` };
const agent = new HttpAgent({ url: "{origin}/ag-ui/{slug}", headers });
const runtime = new CopilotRuntime({ agents: { default: agent } });
createServer(createCopilotNodeListener({ runtime, basePath: "/api/copilotkit" })).listen(4000);""",
        ),
    ),
    Trial(
        "{origin}/ag-ui/{slug}",
        '{"threadId": "1", "runId": "1", "state": {}, "tools": [], "context": [], '
        '"forwardedProps": {}, "messages": [{"id": "1", "role": "user", "content": {message}}]}',
    ),
)
