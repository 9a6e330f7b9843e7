// A chat of CopilotKit with an application. The fragment of the page's URL has its URL and a key.
import {
  CopilotChat,
  CopilotKitProvider,
  HttpAgent,
  useDefaultRenderTool,
  useFrontendTool,
  useInterrupt,
} from "@copilotkit/react-core/v2";
import { createRoot } from "react-dom/client";
import { z } from "zod";

const given = new URLSearchParams(location.hash.slice(1));
const headers = { Authorization: `Bearer ${given.get("key")}` };
const agents = { default: new HttpAgent({ url: given.get("url"), headers }) };

function ToolCall({ name, status, result }) {
  return (
    <p role="note">
      {name}: {status}
      {result && `, ${result}`}
    </p>
  );
}

function Interrupt({ interrupt, resolve, cancel }) {
  const options = interrupt.metadata.options?.map(({ label }) => label) ?? ["Approve"];
  const payloadOf = (option) => (option === "Approve" ? { approved: true } : { answer: option });
  return (
    <div role="group" aria-label={interrupt.message}>
      {options.map((option) => (
        <button key={option} onClick={() => resolve(payloadOf(option))}>
          {option}
        </button>
      ))}
      <button onClick={() => cancel()}>Dismiss</button>
    </div>
  );
}

function Chat() {
  useFrontendTool({
    name: "look",
    description: "Looks out of the window.",
    parameters: z.object({ from: z.string() }),
    handler: async ({ from }) => `rain in ${from}`,
  });
  useDefaultRenderTool({ render: ToolCall });
  useInterrupt({ render: Interrupt });
  return <CopilotChat />;
}

createRoot(document.getElementById("root")).render(
  <CopilotKitProvider agents__unsafe_dev_only={agents}>
    <Chat />
  </CopilotKitProvider>,
);
