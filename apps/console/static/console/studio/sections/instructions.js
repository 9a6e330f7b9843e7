// The model's instructions: the prompt, its variables, predefined prompts, and what is added to it.

import { part } from "../../parts.js";
import { button, element, findings, group, newId, paragraph, quiet, selectField, textField } from "../elements.js";
import { naming } from "../naming.js";
import { preview } from "../prompt-layers.js";

/**
 * @import { Choices, Json } from "../data.js"
 * @import { Section } from "../sections.js"
 * @import { Store } from "../store.js"
 *
 * @typedef {Choices["prompts"][number]} Prompt
 * @typedef {{prompts?: Prompt[]}} Prompts
 */

const PATH = "orchestrator.system_prompt";
/** @type {[kind: string, title: string][]} */
const KINDS = [
  ["custom", "Written here"],
  ["predefined", "A predefined prompt"],
  ["dial", "Stored in DIAL"],
];
/** @type {Record<string, Json>} */
const NEW = {
  custom: { type: "custom", content: "", variables: {} },
  predefined: { type: "predefined", template: "" },
  dial: { type: "dial", path: "" },
};
const NAMES = /\{([A-Za-z_]\w*)\}/g;

/** @type {Section} */
export const instructions = {
  id: "instructions",
  title: "Instructions",
  paths: [PATH, "(title)", "(description)", "(icon)"],
  async render(container, store) {
    const redraw = () => {
      container.replaceChildren();
      this.render(container, store);
    };
    const kind = store.get(`${PATH}.type`) ?? "custom";
    container.append(naming(store), kinds(store, kind, redraw));
    const place = element("div", { class: "studio-body" });
    container.append(place);
    const choices = kind === "dial" ? {} : await store.choices();
    if (!place.isConnected) return;
    if (kind === "custom") place.append(...written(store, choices, redraw));
    else if (kind === "predefined") place.append(...predefined(store, choices, redraw));
    else place.append(kept(store));
    place.append(preview(store));
  },
};

/** @param {Store} store @param {string} kind @param {() => void} redraw */
function kinds(store, kind, redraw) {
  const name = newId("kind");
  /** @param {string} value */
  const choose = (value) => {
    store.change(PATH, structuredClone(NEW[value]));
    redraw();
  };
  return element(
    "fieldset",
    { class: "studio-choice" },
    element("legend", { class: "console-hidden" }, "Source"),
    ...KINDS.map(([value, text]) => {
      const id = newId("kind");
      const input = element("input", { type: "radio", name, id, value, checked: value === kind });
      input.addEventListener("change", () => choose(value));
      return element("span", {}, input, element("label", { htmlFor: id }, text));
    }),
  );
}

/** @param {Store} store @param {Prompts} choices @param {() => void} redraw */
function written(store, choices, redraw) {
  const prompt = textField(store, {
    label: "Prompt",
    path: `${PATH}.content`,
    rows: 14,
    empty: "",
    isExact: true,
    placeholder: "You help people to …",
    help: "Instructions for the model at the start of every conversation. {name} is a variable.",
  });
  const textarea = part(prompt, "textarea", HTMLTextAreaElement);
  const whole = () => store.get(PATH) ?? { type: "custom", content: "", variables: {} };
  // A missing prompt gets the required members.
  textarea.addEventListener("input", () => store.change(PATH, { ...whole(), content: textarea.value }), { capture: true });
  textarea.classList.add("studio-prompt");
  const count = element("p", { class: "studio-count" });
  const tell = () => {
    const words = textarea.value.trim().split(/\s+/).filter(Boolean).length;
    count.textContent = `${words.toLocaleString("en")} words, about ${tokens(textarea.value).toLocaleString("en")} tokens`;
  };
  textarea.addEventListener("input", tell);
  tell();
  prompt.append(count);
  return [prompt, ...(choices.prompts?.length ? [begin(store, choices.prompts, redraw)] : []), variables(store, textarea)];
}

/** The same estimate as on the server: four bytes per token. @param {string} text */
const tokens = (text) => Math.ceil(new TextEncoder().encode(text).length / 4);

/** @param {Store} store @param {Prompt[]} prompts @param {() => void} redraw */
function begin(store, prompts, redraw) {
  const id = newId("prompt");
  const select = element(
    "select",
    { id },
    element("option", { value: "" }, "Choose one…"),
    ...prompts.map(({ name }) => element("option", { value: name }, name)),
  );
  const shown = element("pre", { class: "studio-sample", hidden: true, tabIndex: 0, "aria-label": "The predefined prompt" });
  const take = button("Copy and edit", () => {
    const text = prompts.find(({ name }) => name === select.value)?.text ?? "";
    const before = store.get(`${PATH}.content`) ?? "";
    store.change(`${PATH}.content`, before ? `${before}\n\n${text}` : text);
    redraw();
  });
  take.disabled = true;
  select.addEventListener("change", () => {
    const found = prompts.find(({ name }) => name === select.value);
    shown.hidden = take.disabled = !found;
    shown.textContent = found?.text ?? "";
  });
  return element(
    "details",
    { class: "studio-fold" },
    element("summary", {}, "View predefined prompts"),
    element("p", { class: "studio-actions" }, element("label", { htmlFor: id }, "Predefined prompt"), select, take),
    shown,
  );
}

/** @param {Store} store @param {HTMLTextAreaElement} textarea */
function variables(store, textarea) {
  const box = group("Variables");
  const list = element("div", { class: "studio-pairs" });
  box.append(quiet("The values of the names in braces."), list, findings(store, `${PATH}.variables`));
  const draw = () => {
    /** @type {Record<string, string>} */
    const values = store.get(`${PATH}.variables`) ?? {};
    const used = new Set([...textarea.value.matchAll(NAMES)].map(([, name]) => name));
    const names = [...new Set([...used, ...Object.keys(values)])];
    list.replaceChildren(...names.map((name) => variable(name, values, used)));
    if (!names.length) list.append(quiet("None. Use {name} in the prompt to add one."));
  };
  /** @param {string} name @param {string | undefined} value */
  const set = (name, value) => {
    const values = { ...(store.get(`${PATH}.variables`) ?? {}) };
    if (value === undefined) delete values[name];
    else values[name] = value;
    store.change(`${PATH}.variables`, values);
  };
  /** @param {string} name @param {Record<string, string>} values @param {Set<string>} used */
  const variable = (name, values, used) => {
    const id = newId("variable");
    const input = element("input", { id, value: values[name] ?? "", placeholder: "Stays as written", autocomplete: "off" });
    input.addEventListener("input", () => set(name, input.value));
    const remove = button("Remove", () => {
      set(name, undefined);
      draw();
    }, { "aria-label": `Remove the variable ${name}` });
    return element(
      "div",
      { class: "studio-pair" },
      element("label", { htmlFor: id }, element("code", {}, `{${name}}`)),
      input,
      used.has(name) ? "" : quiet("not in the prompt"),
      name in values ? remove : "",
    );
  };
  textarea.addEventListener("change", draw);
  draw();
  return box;
}

/** @param {Store} store @param {Prompts} choices @param {() => void} redraw */
function predefined(store, { prompts = [] }, redraw) {
  const path = `${PATH}.template`;
  const chosen = prompts.find(({ name }) => name === store.get(path));
  const pick = selectField(store, {
    label: "Prompt",
    path,
    options: [["", "Choose one…"], ...prompts.map(({ name }) => [name, name])],
    onchange: redraw,
    help: "Shared by all applications that use it. It changes with the predefined content.",
  });
  if (!chosen) return [pick];
  const own = () => {
    store.change(PATH, { type: "custom", content: chosen.text, variables: {} });
    redraw();
  };
  return [
    pick,
    element("pre", { class: "studio-sample", tabIndex: 0, "aria-label": "The predefined prompt" }, chosen.text),
    paragraph(button("Copy and edit", own)),
  ];
}

/** @param {Store} store */
const kept = (store) =>
  textField(store, {
    label: "Path",
    path: `${PATH}.path`,
    placeholder: "prompts/<bucket>/<path>",
    empty: "",
    help: "Loaded for each question, with the caller's permissions.",
  });
