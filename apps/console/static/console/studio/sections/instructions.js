// The model's instructions: the prompt, its variables, predefined prompts, and what is added to it.

import { part } from "../../parts.js";
import { button, element, findings, group, newId, paragraph, quiet, textField } from "../elements.js";
import { naming } from "../naming.js";
import { pickerField } from "../pickers.js";
import { plural } from "../tools/paths.js";
import { preview } from "../prompt-layers.js";

/**
 * @import { Choices, Json } from "../data.js"
 * @import { Choice } from "../pickers.js"
 * @import { Section } from "../sections.js"
 * @import { Store } from "../store.js"
 *
 * @typedef {Choices["prompts"][number]} Prompt
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
/** The list of variables changes this many milliseconds after the last input. */
const PAUSE = 300;
const NAMES = /\{([A-Za-z_]\w*)\}/g;

/** @type {Section} */
export const instructions = {
  id: "instructions",
  async render(container, store) {
    const redraw = () => {
      container.replaceChildren();
      this.render(container, store);
    };
    const kind = store.get(`${PATH}.type`) ?? "custom";
    container.append(naming(store), kinds(store, kind, redraw));
    const place = element("div", { class: "studio-body" });
    container.append(place);
    const choices = await store.choices();
    if (!place.isConnected) return;
    if (kind === "custom") place.append(...written(store, choices, redraw));
    else if (kind === "predefined") place.append(...predefined(store, choices, redraw));
    else place.append(kept(store));
    place.append(preview(store, choices));
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

/** @param {Store} store @param {Choices} choices @param {() => void} redraw */
function written(store, choices, redraw) {
  const prompt = textField(store, {
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
    count.textContent = `${plural(words, "word")}, about ${plural(tokens(textarea.value), "token")}`;
  };
  textarea.addEventListener("input", tell);
  tell();
  prompt.append(count);
  return [prompt, ...(choices.prompts.length ? [begin(store, choices, redraw)] : []), variables(store, textarea)];
}

/** @param {Choices} choices @returns {Choice[]} */
const promptChoices = ({ prompts }) => prompts.map(({ name, title, text }) => [name, title, text.trim().split("\n")[0]]);

/** The same estimate as on the server: four bytes per token. @param {string} text */
const tokens = (text) => Math.ceil(new TextEncoder().encode(text).length / 4);

/** @param {Store} store @param {Choices} choices @param {() => void} redraw */
function begin(store, choices, redraw) {
  /** @type {Prompt | undefined} */
  let chosen;
  const shown = element("pre", { class: "studio-sample", hidden: true, tabIndex: 0, "aria-label": "The predefined prompt" });
  const take = button("Copy and edit", () => {
    const text = chosen?.text ?? "";
    const before = store.get(`${PATH}.content`) ?? "";
    store.change(`${PATH}.content`, before ? `${before}\n\n${text}` : text);
    redraw();
  });
  take.disabled = true;
  const pick = pickerField(store, {
    label: "Predefined prompt",
    choices: () => promptChoices(choices),
    empty: "Choose one",
    onchange: (value) => {
      chosen = choices.prompts.find(({ name }) => name === value);
      shown.hidden = take.disabled = !chosen;
      shown.textContent = chosen?.text ?? "";
    },
  });
  return element(
    "details",
    { class: "studio-fold" },
    element("summary", {}, "View predefined prompts"),
    pick,
    shown,
    paragraph(take),
  );
}

/** The names of the variables in a prompt. @param {string} prompt */
const namesIn = (prompt) => new Set([...prompt.matchAll(NAMES)].map(([, name]) => name));

/** @param {Store} store @param {HTMLTextAreaElement} textarea */
function variables(store, textarea) {
  const box = group("Variables");
  const list = element("div", { class: "studio-pairs" });
  box.append(quiet("The values of the names in braces."), list, findings(store, `${PATH}.variables`));
  let drawn = "";
  const draw = () => {
    /** @type {Record<string, string>} */
    const values = store.get(`${PATH}.variables`) ?? {};
    const used = namesIn(textarea.value);
    const names = [...new Set([...used, ...Object.keys(values)])];
    drawn = [...used].join();
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
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  textarea.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => [...namesIn(textarea.value)].join() !== drawn && draw(), PAUSE);
  });
  draw();
  return box;
}

/** @param {Store} store @param {Choices} choices @param {() => void} redraw */
function predefined(store, choices, redraw) {
  const path = `${PATH}.template`;
  const { content: add } = choices.add;
  const shown = element("div", { class: "studio-body" });
  const show = () => {
    const text = choices.prompts.find(({ name }) => name === store.get(path))?.text;
    shown.replaceChildren();
    if (text === undefined) return;
    const own = () => {
      store.change(PATH, { type: "custom", content: text, variables: {} });
      redraw();
    };
    shown.append(element("pre", { class: "studio-sample", tabIndex: 0, "aria-label": "The predefined prompt" }, text), paragraph(button("Copy and edit", own)));
  };
  const pick = pickerField(store, {
    path,
    choices: () => promptChoices(choices),
    empty: "Choose one",
    none: "No prompts installed yet.",
    add: add && ["Add a prompt", add],
    onchange: show,
    help: "Shared by all applications that use it. It changes with the predefined content.",
  });
  show();
  return [pick, shown];
}

/** @param {Store} store */
const kept = (store) =>
  textField(store, {
    path: `${PATH}.path`,
    placeholder: "prompts/<bucket>/<path>",
    empty: "",
    help: "Loaded for each question, with the caller's permissions.",
  });
