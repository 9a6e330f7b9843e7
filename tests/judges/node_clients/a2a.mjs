// Sends messages of one context with the official A2A client, and writes what it has seen as JSON.
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";

const [url, key, transport, ...messages] = process.argv.slice(2);
const fetchImpl = (address, options = {}) => {
  const headers = new Headers(options.headers);
  headers.set("Authorization", `Bearer ${key}`);
  return fetch(address, { ...options, headers });
};
const factory = new ClientFactory({
  transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
  cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  preferredTransports: [transport],
});
const path = `${new URL(url).pathname}/.well-known/agent-card.json`;
const client = await factory.createFromUrl(url, path);
const seen = [];
let task = { id: "", contextId: "" };
for (const [number, text] of messages.entries()) {
  const { contextId } = task;
  const parts = [{ content: { $case: "text", value: text } }];
  const message = { messageId: `m${number}`, role: 1, parts, contextId };
  const kinds = [];
  for await (const event of client.sendMessageStream({ message })) {
    const { $case: kind, value } = event.payload;
    if (kinds.at(-1) !== kind) kinds.push(kind);
    task = { id: value.id || value.taskId, contextId: value.contextId };
  }
  const { status, artifacts } = await client.getTask({ id: task.id });
  const said = artifacts.flatMap((one) => one.parts).map((part) => part.content?.value ?? "");
  seen.push({ kinds, state: status.state, text: said.join("") });
}
console.log(JSON.stringify(seen));
