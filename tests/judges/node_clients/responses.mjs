// Asks an application over Responses with OpenAI's client and with the AI SDK.
import { createOpenResponses } from "@ai-sdk/open-responses";
import { isStepCount, jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";

const [url, key, model, question] = process.argv.slice(2);
const look = {
  description: "Looks.",
  inputSchema: jsonSchema({ type: "object", properties: {} }),
  execute: () => "rain",
};

async function withOpenAI() {
  const client = new OpenAI({ baseURL: url, apiKey: key });
  const first = client.responses.stream({ model, input: question });
  let text = "";
  for await (const event of first) if (event.type === "response.output_text.delta") text += event.delta;
  const { id, usage } = await first.finalResponse();
  const second = await client.responses.create({
    model,
    input: "say more",
    previous_response_id: id,
  });
  return { text, more: second.output_text, total: usage.total_tokens };
}

async function withAISDK() {
  const headers = { Authorization: `Bearer ${key}` };
  const provider = createOpenResponses({ name: "quickapps", url: `${url}/responses`, headers });
  const options = { model: provider(model), stopWhen: isStepCount(3) };
  const plain = streamText({ ...options, prompt: question });
  const text = await plain.text;
  const called = streamText({ ...options, prompt: "call look {}", tools: { look: tool(look) } });
  const steps = await called.steps;
  const results = steps.flatMap((step) => step.toolResults.map((one) => one.output));
  return { text, results, last: await called.text };
}

console.log(JSON.stringify({ openai: await withOpenAI(), aiSdk: await withAISDK() }));
