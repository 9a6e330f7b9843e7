// Calls an application as a tool with the AI SDK's MCP client, and writes what it has seen as JSON.
import { createMCPClient } from "@ai-sdk/mcp";

const [url, key, message] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}` };
const client = await createMCPClient({ transport: { type: "http", url, headers } });
try {
  const tools = await client.tools();
  const [[name, tool]] = Object.entries(tools);
  const { description } = tool;
  const result = await tool.execute({ message }, { toolCallId: "1", messages: [] });
  console.log(JSON.stringify({ name, description, result }));
} finally {
  await client.close();
}
