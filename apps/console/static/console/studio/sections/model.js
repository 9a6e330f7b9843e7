// The model that answers: its selection, its availability, and its parameters.

import { part } from "../../parts.js";
import { button, element, findings, focusOn, group, link, newId, numberField, paragraph, quiet, selectField, withChoices } from "../elements.js";

/**
 * @import { Choices, Deployment } from "../data.js"
 * @import { Section } from "../sections.js"
 * @import { Store } from "../store.js"
 */

const PATH = "orchestrator.deployment";
const ID = `${PATH}.deployment_id`;

/** @type {Section} */
export const model = {
  id: "model",
  title: "Model",
  paths: [PATH],
  render: withChoices((store, choices, redraw) => [...picker(store, choices, redraw), ...parameters(store)]),
};

/** @param {Store} store @returns {string} */
const current = (store) => store.get(ID) ?? store.get(`${PATH}.name`) ?? "";

/** @param {Store} store @param {Choices} choices @param {() => void} redraw @returns {(Node | "")[]} */
function picker(store, choices, redraw) {
  const chat = choices.deployments.filter(({ kind }) => kind === "chat");
  const chosen = current(store);
  const known = [...chat, ...choices.applications].some(({ id }) => id === chosen);
  const add = choices.add.deployment;
  if (!chat.length) {
    return [
      quiet("This installation has no models yet."),
      add ? paragraph(link("Add a deployment", add, { class: "console-button console-primary" })) : "",
    ];
  }
  const name = newId("model");
  /** @param {string} id */
  const choose = (id) => {
    const rest = { ...(store.get(PATH) ?? {}) };
    delete rest.name;
    store.change(PATH, { ...rest, deployment_id: id });
    redraw();
    focusOn(".studio-models :checked");
  };
  const parts = [
    element(
      "fieldset",
      { class: "studio-models" },
      element("legend", { class: "studio-legend" }, "Deployment ", element("code", { class: "studio-path" }, ID)),
      ...chat.map((one) => card(store, one, one.id === chosen, name, () => choose(one.id))),
    ),
    findings(store, ID),
  ];
  const other = selectField(store, {
    label: "Or another application",
    path: ID,
    options: [["", "None"], ...choices.applications.map((one) => [one.id, one.name]), ...(known || !chosen ? [] : [[chosen, chosen]])],
    onchange: redraw,
    findingsPath: "",
    help: "Called like a model, with its own prompt and tools.",
  });
  const select = part(other, "select", HTMLSelectElement);
  if (chat.some(({ id }) => id === chosen)) select.value = "";
  for (const option of [...select.options]) if (option.text.endsWith("(unknown)")) option.remove();
  if (choices.applications.length || !known) parts.push(other);
  if (add) parts.push(paragraph(link("Add a deployment", add)));
  return parts;
}

/**
 * @param {Store} store @param {Deployment} one @param {boolean} isChosen @param {string} name of all radio buttons @param {() => void} choose
 */
function card(store, one, isChosen, name, choose) {
  const id = newId("model");
  const input = element("input", { type: "radio", name, id, checked: isChosen, disabled: !one.is_enabled && !isChosen });
  input.addEventListener("change", choose);
  const status = element("p", { role: "status", class: "studio-quiet" });
  const test = button("Test", async () => {
    test.disabled = true;
    status.textContent = "Calling the model…";
    const response = await store.send("test", { deployment_id: one.id }).catch(() => null);
    const answer = response?.ok ? await response.json() : { ok: false, message: "The test failed." };
    status.textContent = `${answer.ok ? "✓" : "✗"} ${answer.message}`;
    test.disabled = false;
  }, { "aria-label": `Test ${one.name}` });
  const facts = [
    one.can && element("p", { class: "studio-quiet", title: one.details }, one.can),
    one.window && element("p", { class: "studio-quiet" }, `context window: ${one.window.toLocaleString("en")} tokens`),
    one.fallbacks.length && element("p", { class: "studio-quiet" }, `Fallbacks: ${one.fallbacks.join(", then ")}`),
    one.is_enabled || element("p", { class: "studio-error" }, "It is disabled."),
  ].filter((fact) => fact instanceof Node);
  return element(
    "div",
    { class: "studio-model" },
    input,
    element("div", {}, element("label", { htmlFor: id }, one.name, " ", element("code", {}, one.id)), ...facts, status),
    store.data.may_change ? test : "",
  );
}

/** @param {Store} store */
function parameters(store) {
  /** @param {string} name */
  const path = (name) => `${PATH}.parameters.${name}`;
  const none = "The model's default";
  return [
    group(
      "Parameters",
      quiet("Leave empty for the model's default."),
      numberField(store, {
        label: "Temperature",
        path: path("temperature"),
        min: 0,
        max: 2,
        step: 0.1,
        placeholder: none,
        help: "0 gives the most predictable answers; 1 gives more varied ones.",
      }),
      numberField(store, {
        label: "Maximum output tokens",
        path: path("max_tokens"),
        min: 1,
        step: 1,
        placeholder: none,
      }),
      selectField(store, {
        label: "Reasoning effort",
        path: path("reasoning_effort"),
        options: [
          ["", none],
          ["none", "None"],
          ["minimal", "Minimal"],
          ["low", "Low"],
          ["medium", "Medium"],
          ["high", "High: slower and more expensive"],
        ],
        help: "For reasoning models. The supported values depend on the model.",
      }),
    ),
    element(
      "details",
      { class: "studio-fold" },
      element("summary", {}, "Advanced parameters"),
      numberField(store, { label: "Top p", path: path("top_p"), min: 0, max: 1, step: 0.05, placeholder: none, help: "Set this or the temperature, not both." }),
      numberField(store, { label: "Seed", path: path("seed"), step: 1, placeholder: none, help: "With the same seed, the same question gets a similar answer, if the service supports it." }),
      numberField(store, { label: "Presence penalty", path: path("presence_penalty"), min: -2, max: 2, step: 0.1, placeholder: none }),
      numberField(store, { label: "Frequency penalty", path: path("frequency_penalty"), min: -2, max: 2, step: 0.1, placeholder: none }),
    ),
  ];
}
