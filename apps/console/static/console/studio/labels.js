// The labels of the studio's fields by their paths in the manifest: for the fields, and for lists of changes and issues.

import { split } from "../manifest/paths.js";

const PARAMETERS = "open_ai_tool.function.parameters.properties";

/** Fields by path, where `[]` stands for an index. @type {Record<string, string>} */
const FIELDS = {
  "(description)": "Description",
  "(icon)": "Icon",
  "(title)": "Title",
  contexts: "Texts and files",
  "contexts[].content": "Text",
  "contexts[].description": "Description",
  "contexts[].url": "Path",
  conversation_starters: "Starters",
  "conversation_starters.auto_submit": "Send immediately",
  "conversation_starters.chat_message_input_disabled": "Require a starter",
  "conversation_starters.intro_text": "Introduction",
  "conversation_starters.starters": "Starters",
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
  "features.subagents.types": "Sub-agents",
  "features.subagents.types[].deployment_id": "Model",
  "features.subagents.types[].description": "Description",
  "features.subagents.types[].max_iterations": "Model calls for one task",
  "features.subagents.types[].name": "Name",
  "features.subagents.types[].system_prompt": "Prompt",
  "features.subagents.types[].tool_sets": "Choose its toolsets",
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
  "orchestrator.system_prompt.path": "Path",
  "orchestrator.system_prompt.template": "Prompt",
  "orchestrator.system_prompt.variables": "Variables",
  "orchestrator.tool_discovery": "Search for tools instead of listing them",
  "orchestrator.tool_discovery.min_tools_for_deferral": "Always list toolsets with fewer tools than",
  "skills[].type": "Kind",
  "skills[].url": "Path",
  tool_sets: "Tools",
  "tool_defaults.timeout_seconds": "Timeout for a tool call, in seconds",
};

/** Fields of toolsets and of their tools. Each kind of toolset has labels for its own fields. @type {Record<string, string>} */
const TOOL_FIELDS = {
  "": "",
  allowed_tools: "Tools",
  "approval.mode": "Approval",
  authorization: "Authentication",
  "authorization.authorization_url": "Authorization URL",
  "authorization.client_id": "Client ID",
  "authorization.client_secret": "Secret",
  "authorization.key": "Secret",
  "authorization.location": "Sent in",
  "authorization.name": "Name of the header or parameter",
  "authorization.password": "Secret",
  "authorization.scope": "Scopes",
  "authorization.token": "Secret",
  "authorization.token_url": "Token URL",
  "authorization.username": "Username",
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
  title: "Title",
  tools: "Tools",
  user_switch: "Switch for users",
};

/** The label of a field; undefined if it has none. @param {string} path @returns {string | undefined} */
export function labelAt(path) {
  const parts = split(path);
  if (parts[0] !== "tool_sets" || parts.length < 2) return FIELDS[pattern(parts)];
  const rest = toolParts(parts);
  const [parameters, parameter] = [rest.slice(0, 4).join("."), rest[4]];
  return parameters === PARAMETERS && parameter !== undefined ? `Parameter ${parameter}` : TOOL_FIELDS[pattern(rest)];
}

/** @param {(string | number)[]} parts */
export const pattern = (parts) => parts.reduce((/** @type {string} */ text, part) => (typeof part === "number" ? `${text}[]` : text ? `${text}.${part}` : part), "");

/** The path within a toolset or a tool. All servers and tools have the same authentication. @param {(string | number)[]} parts */
function toolParts([, , ...parts]) {
  const inTool = parts[0] === "tools" && typeof parts[1] === "number" ? parts.slice(2) : parts;
  const own = inTool[0] === "override" ? inTool.slice(1) : inTool;
  return own[0] === "mcp_server_info" && own[1] === "authorization" ? own.slice(1) : own;
}
