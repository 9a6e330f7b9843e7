// The labels of the studio's fields by their paths in the manifest, for lists of changes.

import { split } from "../manifest/paths.js";
import { sectionOf } from "./sections.js";
import { FUNCTION, nameOf } from "./tools/paths.js";
import { titleOf } from "./tools/rest-tool.js";

/**
 * @import { Json } from "./data.js"
 */

const PARAMETERS = [...FUNCTION, "parameters", "properties"].join(".");
/** @type {Record<string, string>} */
const COLUMNS = { title: "Title", description: "Description", icon: "Icon" };

/** Fields by path, where `[]` stands for an index. @type {Record<string, string>} */
const FIELDS = {
  contexts: "Texts and files",
  "contexts[]": "Text or file",
  "contexts[].content": "Text",
  "contexts[].description": "Description",
  "contexts[].url": "Path",
  conversation_starters: "Starters",
  "conversation_starters.auto_submit": "Send immediately",
  "conversation_starters.chat_message_input_disabled": "Require a starter",
  "conversation_starters.intro_text": "Introduction",
  "conversation_starters.starters": "Starters",
  "conversation_starters.starters[]": "Starter",
  "conversation_starters.starters[].text": "Question",
  "conversation_starters.starters[].title": "Button",
  "features.approval.mode": "Tool calls need approval",
  "features.dial_files": "Work with the user's files",
  "features.documents": "Search the files",
  "features.documents.results": "Passages per answer",
  "features.input_attachment_types": "Allowed file types",
  "features.memory": "Memory",
  "features.memory.prime": "Memories in the prompt",
  "features.memory.scope": "Shared with other applications",
  "features.model_keys.mode": "Keys for models",
  "features.notes": "Notes",
  "features.questions": "Questions to the user",
  "features.questions.seconds": "Timeout, in seconds",
  "features.rate_limits.requests_per_minute": "Requests per minute",
  "features.rate_limits.tokens_per_minute": "Tokens per minute",
  "features.representation_tooling": "Answers with files",
  "features.retention.days": "Days of inactivity before deletion",
  "features.schedules": "Schedules",
  "features.schedules.approval.mode": "Approval",
  "features.search_conversations": "Earlier conversations",
  "features.spawn_agent": "Predefined sub-agents",
  "features.spawn_agent.agents": "Only these sub-agents",
  "features.spawn_agent.timeout_seconds": "Timeout for each sub-agent, in seconds",
  "features.stage_display.level": "Visible tool calls",
  "features.subagents": "Sub-agents",
  "features.subagents.general_purpose": "General-purpose sub-agent",
  "features.subagents.general_purpose.deployment_id": "Model",
  "features.subagents.general_purpose.max_iterations": "Model calls for one task",
  "features.subagents.general_purpose.system_prompt": "Prompt",
  "features.subagents.timeout_seconds": "Timeout for each task, in seconds",
  "features.summary": "End with a summary",
  "features.timestamp": "Time",
  "features.todo": "To-do list",
  "features.web_fetch": "Web pages",
  "orchestrator.attachment_strategy": "Show files only when the model asks for them",
  "orchestrator.context.strategy": "If a conversation exceeds the context window",
  "orchestrator.deployment.deployment_id": "Deployment",
  "orchestrator.deployment.parameters.frequency_penalty": "Frequency penalty",
  "orchestrator.deployment.parameters.max_tokens": "Maximum output tokens",
  "orchestrator.deployment.parameters.presence_penalty": "Presence penalty",
  "orchestrator.deployment.parameters.reasoning_effort": "Reasoning effort",
  "orchestrator.deployment.parameters.seed": "Seed",
  "orchestrator.deployment.parameters.temperature": "Temperature",
  "orchestrator.deployment.parameters.top_p": "Top p",
  "orchestrator.max_iterations": "Maximum model calls",
  "orchestrator.system_prompt.content": "Prompt",
  "orchestrator.system_prompt.template": "Prompt",
  "orchestrator.tool_discovery": "Search for tools instead of listing them",
  "orchestrator.tool_discovery.min_tools_for_deferral": "Always list toolsets with fewer tools than",
  "tool_defaults.timeout_seconds": "Timeout, in seconds",
};

/** Fields of toolsets and tools. @type {Record<string, string>} */
const TOOL_FIELDS = {
  "": "",
  "approval.mode": "Approval",
  authorization: "Authentication",
  base_url: "Service URL",
  deployment_id: "Deployment",
  description: "Description",
  "display.stage.name": "Title of a call",
  enabled: "In use",
  "fallback_configuration.strategies": "When a call fails",
  "mcp_server_info.url": "Server URL",
  name: "Name",
  "open_ai_tool.function.description": "Description, and when to use it",
  "open_ai_tool.function.name": "Name",
  "open_ai_tool.function.parameters": "Parameters",
  "rest_api_method_info.method_type": "Method",
  "rest_api_method_info.method_url": "URL",
  tools: "Tools",
  user_switch: "Switch for users",
};

/**
 * The section and the label of a changed field, such as `Tools › weather › URL`, or "" if the studio has no field for it.
 * @param {{path: string, kind: string}} difference @param {Json} manifest the changed one, for the names of its tools
 */
export function fieldLabel({ path, kind }, manifest) {
  const parts = split(path);
  const first = String(parts[0] ?? "");
  if (first.startsWith("skill ")) return ["Skills", first.slice("skill ".length), ...parts.slice(1)].join(" › ");
  if (path in COLUMNS) return `${sectionOf(`(${path})`).title} › ${COLUMNS[path]}`;
  const named = parts[0] === "tool_sets" ? toolField(parts, manifest, kind === "removed") : [...starterName(parts), FIELDS[pattern(parts)]];
  if (named.includes(undefined)) return "";
  const section = sectionOf(path).title;
  return [section, ...named].filter((one, place, all) => one && one !== all[place - 1]).join(" › ");
}

/** @param {(string | number)[]} parts */
const pattern = (parts) => parts.reduce((/** @type {string} */ text, part) => (typeof part === "number" ? `${text}[]` : text ? `${text}.${part}` : part), "");

/** @param {(string | number)[]} parts @returns {(string | undefined)[]} */
const starterName = ([first, , number]) => (first === "conversation_starters" && typeof number === "number" ? [`Starter ${number + 1}`] : []);

/**
 * The name of the toolset, the name of the tool and the label of the field.
 * @param {(string | number)[]} parts @param {Json} manifest @param {boolean} isRemoved the index of a removed item is that of the old manifest
 * @returns {(string | undefined)[]}
 */
function toolField([, index, tools, number, ...rest], manifest, isRemoved) {
  if (typeof index !== "number") return [""];
  if (isRemoved && tools === undefined) return ["Toolset"];
  const toolset = manifest.tool_sets?.[index] ?? {};
  if (tools !== "tools" || typeof number !== "number") return [nameOf(toolset), TOOL_FIELDS[pattern([tools ?? "", number ?? "", ...rest].filter((part) => part !== ""))]];
  if (isRemoved && !rest.length) return [nameOf(toolset), "Tool"];
  const tool = titleOf(toolset.tools?.[number]);
  const [parameters, parameter] = [rest.slice(0, 4).join("."), rest[4]];
  return [nameOf(toolset), tool, parameters === PARAMETERS && parameter !== undefined ? `Parameter ${parameter}` : TOOL_FIELDS[pattern(rest)]];
}
