// Runs an agent with the official client, and writes what it has seen as JSON.
import { HttpAgent } from "@ag-ui/client";

const [url, key, question, ...answers] = process.argv.slice(2);
const agent = new HttpAgent({ url, headers: { Authorization: `Bearer ${key}` } });
const look = { name: "look", description: "Looks.", parameters: { type: "object" } };
const seen = { outcomes: [], pending: [], files: [], error: "" };

async function run(parameters = {}) {
  const onRunFinishedEvent = ({ event }) => {
    seen.outcomes.push(event.outcome);
  };
  const onRunErrorEvent = ({ event }) => {
    seen.error = event.message;
  };
  const onCustomEvent = ({ event }) => {
    if (event.name === "quickapps.attachment") seen.files.push(event.value);
  };
  const listeners = { onRunFinishedEvent, onRunErrorEvent, onCustomEvent };
  await agent.runAgent({ tools: [look], ...parameters }, listeners);
}

try {
  const content = question.startsWith("[") ? JSON.parse(question) : question;
  agent.addMessage({ id: "m1", role: "user", content });
  await run();
  for (const answer of answers) {
    const waiting = agent.pendingInterrupts;
    seen.pending.push(waiting.map((one) => one.reason));
    if (waiting.length) {
      const payload = JSON.parse(answer);
      const resume = [{ interruptId: waiting[0].id, status: "resolved", payload }];
      await run({ resume });
    } else {
      const [toolCallId] = seen.outcomes.at(-1)?.pendingToolCallIds ?? [];
      const role = toolCallId ? "tool" : "user";
      agent.addMessage({ id: `n${seen.pending.length}`, role, toolCallId, content: answer });
      await run();
    }
  }
} catch (error) {
  seen.error = String(error?.message ?? error);
}
const messages = agent.messages.map(({ role, content }) => [role, content ?? ""]);
console.log(JSON.stringify({ ...seen, messages }));
