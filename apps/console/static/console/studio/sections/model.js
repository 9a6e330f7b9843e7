// The model that answers: its selection, its availability, and its parameters.

import { button, element, findings, focusOn, group, link, newId, numberField, paragraph, quiet, rowSearch, selectField, withChoices } from "../elements.js";
import { labelAt } from "../labels.js";
import { pickerField } from "../pickers.js";

/**
 * @import { Choices, Deployment } from "../data.js"
 * @import { Section } from "../sections.js"
 * @import { Store } from "../store.js"
 */

const PATH = "orchestrator.deployment";
const ID = `${PATH}.deployment_id`;
/** More deployments than this have a search. */
const MANY = 8;

/** @type {Section} */
export const model = {
  id: "model",
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
    const none = quiet("This installation has no models yet.");
    store.subscribe((what) => what === "choices" && redraw(), none);
    return [
      none,
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
  const cards = chat.map((one) => card(store, one, one.id === chosen, name, () => choose(one.id)));
  const parts = [
    element(
      "fieldset",
      { class: "studio-models" },
      element("legend", { class: "studio-legend" }, `${labelAt(store, ID)} `, element("code", { class: "studio-path" }, ID)),
      chat.length > MANY && rowSearch("Find a deployment", cards),
      ...cards,
    ),
    findings(store, ID),
  ];
  if (add) parts.push(paragraph(link("Add a deployment", add)));
  const isModel = chat.some(({ id }) => id === chosen);
  const other = pickerField(store, {
    label: "Or another application",
    value: isModel ? "" : chosen,
    choices: () => choices.applications.map(({ id, name }) => [id, name, id === name ? "" : id]),
    empty: "None",
    onchange: (value) => {
      store.change(ID, value || undefined);
      redraw();
      focusOn("[data-section] choice-list");
    },
    help: "Called like a model, with its own prompt and tools.",
  });
  if (choices.applications.length || !known) parts.push(other);
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
    status.textContent = `${answer.ok ? "✓ " : ""}${answer.message}`;
    status.classList.toggle("studio-error", !answer.ok);
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
        path: path("temperature"),
        min: 0,
        max: 2,
        step: 0.1,
        placeholder: none,
        help: "0 gives the most predictable answers; 1 gives more varied ones.",
      }),
      numberField(store, {
        path: path("max_tokens"),
        min: 1,
        step: 1,
        placeholder: none,
      }),
      selectField(store, {
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
      numberField(store, { path: path("top_p"), min: 0, max: 1, step: 0.05, placeholder: none, help: "Set this or the temperature, not both." }),
      numberField(store, { path: path("seed"), step: 1, placeholder: none, help: "With the same seed, the same question gets a similar answer, if the service supports it." }),
      numberField(store, { path: path("presence_penalty"), min: -2, max: 2, step: 0.1, placeholder: none }),
      numberField(store, { path: path("frequency_penalty"), min: -2, max: 2, step: 0.1, placeholder: none }),
    ),
  ];
}
