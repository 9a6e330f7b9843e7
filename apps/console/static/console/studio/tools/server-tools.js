// The tools of a server as checkboxes; the model may call the selected ones.

import { part } from "../../parts.js";
import { button, element, newId, quiet, rowSearch } from "../elements.js";
import { plural } from "./paths.js";

/**
 * @import { Json } from "../data.js"
 * @import { Store } from "../store.js"
 *
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} [description]
 * @property {string[]} [parameters]
 * @property {boolean} [reads_only]
 * @property {boolean} [may_destroy]
 * @property {string} [problem]
 * @property {string[]} [notes]
 * @property {boolean} [is_deprecated]
 *
 * @typedef {{tools: Tool[], needs_sign_in?: boolean, message: string, name: string, server: Json}} FoundServer
 */

/**
 * Lists the tools of the server at `server`, or of the server registered as `template`, as `{ tools, needs_sign_in, message, name, server }`.
 * @param {Store} store @param {Json} server @param {AbortSignal} [signal] @param {string} [template] @returns {Promise<FoundServer>}
 */
export async function askServer(store, server, signal, template) {
  const response = await store.send("mcp_tools", template ? { template } : { server }, signal);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.message ?? "The server could not be reached.");
  return answer;
}

/**
 * `allowed` is null for all; `onchange` receives the selected names, or null for all.
 * @param {Tool[]} tools @param {string[] | null} allowed @param {(allowed: string[] | null, ticked: string[]) => void} onchange
 */
export function tickList(tools, allowed, onchange) {
  const boxes = tools.map(({ name, description, parameters, reads_only: reads, may_destroy: destroys, problem, notes, is_deprecated: old }) => {
    const id = newId("tick");
    const input = element("input", {
      type: "checkbox",
      id,
      value: name,
      checked: !problem && (allowed === null || allowed.includes(name)),
      disabled: Boolean(problem),
      "aria-describedby": `${id}-about`,
    });
    const facts = [
      reads && "declared as read-only",
      destroys && "declared as destructive",
      old && "deprecated",
      parameters?.length && `takes ${parameters.join(", ")}`,
      ...(notes ?? []),
    ].filter(Boolean);
    return element(
      "li",
      {},
      input,
      element(
        "div",
        {},
        element("label", { htmlFor: id }, element("code", {}, name)),
        element(
          "div",
          { id: `${id}-about` },
          description && element("p", { class: "studio-clamp" }, description),
          problem ? element("p", { class: "studio-error" }, problem) : quiet(facts.join(" · ")),
        ),
      ),
    );
  });
  const inputs = () => boxes.map((one) => part(one, "input", HTMLInputElement)).filter((one) => !one.disabled);
  const status = element("p", { role: "status", class: "studio-quiet" });
  const tell = () => {
    const ticked = inputs().filter(({ checked }) => checked).map(({ value }) => value);
    status.textContent = `${ticked.length} of ${plural(tools.length, "tool")} chosen`;
    onchange(ticked.length === tools.length ? null : ticked, ticked);
  };
  /** @param {boolean} checked */
  const all = (checked) => {
    for (const box of boxes) {
      const input = part(box, "input", HTMLInputElement);
      if (!box.hidden) input.checked = checked && !input.disabled;
    }
    tell();
  };
  const list = element("ul", { class: "studio-ticks" }, ...boxes);
  list.addEventListener("change", tell);
  tell();
  return element(
    "div",
    { class: "studio-inner" },
    element(
      "p",
      { class: "studio-actions" },
      tools.length > 8 && rowSearch("Find a tool", boxes),
      button("All", () => all(true)),
      button("None", () => all(false)),
      status,
    ),
    list,
  );
}
