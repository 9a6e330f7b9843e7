// Buttons in a new conversation, with a preview.

import { part, parts } from "../../parts.js";
import { button, cardHead, element, findings, group, paragraph, quiet, switchField, textField } from "../elements.js";

/**
 * @import { Starter } from "../data.js"
 * @import { Section } from "../sections.js"
 * @import { Store } from "../store.js"
 */

const PATH = "conversation_starters";
const LONGEST_BUTTON = 60;

/** @type {Section} */
export const starters = {
  id: "starters",
  render(container, store) {
    const redraw = () => {
      container.replaceChildren();
      this.render(container, store);
    };
    /** @type {Starter[]} */
    const list = store.get(`${PATH}.starters`) ?? [];
    const created = () => container.append(around(store), preview(store));
    container.append(paragraph("Questions that a new conversation offers as buttons."));
    if (!list.length) container.append(quiet("None yet. Three to six starters show users what the application can do."));
    // If there are none, the first one is ready for input.
    container.append(...(list.length ? list : [null]).map((_, index) => row(store, index, list.length, { redraw, created })));
    const add = () => {
      const next = { title: "", text: "" };
      const before = store.get(PATH);
      store.change(PATH, { ...(before ?? {}), starters: [...(before?.starters ?? []), next] });
      redraw();
      parts(container, "[data-starter] textarea", HTMLTextAreaElement).at(-1)?.focus();
    };
    container.append(element("p", {}, button("Add a starter", add)), findings(store, "starters"));
    if (list.length) created();
  },
};

/**
 * @param {Store} store @param {number} index @param {number} count @param {{redraw: () => void, created: () => void}} then
 */
function row(store, index, count, { redraw, created }) {
  const path = `${PATH}.starters[${index}]`;
  const remove = () => {
    if (count === 1) store.change(PATH, undefined);
    else store.change(path, undefined);
    redraw();
  };
  /** @param {number} by */
  const move = (by) => {
    const list = store.get(`${PATH}.starters`);
    [list[index], list[index + by]] = [list[index + by], list[index]];
    store.change(`${PATH}.starters`, list);
    redraw();
  };
  const buttons = [
    button("Up", () => move(-1), { disabled: index === 0, "aria-label": `Move starter ${index + 1} up` }),
    button("Down", () => move(1), { disabled: index === count - 1, "aria-label": `Move starter ${index + 1} down` }),
    button("Remove", remove, { "aria-label": `Remove starter ${index + 1}` }),
  ];
  return element(
    "fieldset",
    { class: "studio-card", "data-starter": String(index) },
    ...cardHead(`Starter ${index + 1}`, ...(count > 0 ? buttons : [])),
    ...texts(store, path, count === 0 ? created : null),
  );
}

/**
 * The question, and the label of its button, which follows the question until it is edited.
 * @param {Store} store @param {string} path @param {(() => void) | null} created
 */
function texts(store, path, created) {
  const question = textField(store, { path: `${path}.text`, rows: 2, empty: "" });
  const title = textField(store, { path: `${path}.title`, empty: "", help: "By default, the beginning of the question." });
  const asked = part(question, "textarea", HTMLTextAreaElement);
  const words = part(title, "input", HTMLInputElement);
  let followed = asked.value.slice(0, LONGEST_BUTTON);
  asked.addEventListener("input", () => {
    if (words.value === followed) {
      words.value = asked.value.slice(0, LONGEST_BUTTON);
      store.change(`${path}.title`, words.value);
    }
    followed = asked.value.slice(0, LONGEST_BUTTON);
  });
  if (created) asked.addEventListener("input", created, { once: true });
  return [question, title];
}

/** @param {Store} store */
function around(store) {
  return group(
    "Options",
    textField(store, {
      path: `${PATH}.intro_text`,
      placeholder: "Select an action",
    }),
    switchField(store, {
      path: `${PATH}.auto_submit`,
      on: undefined,
      off: false,
      isOn: (value) => value !== false,
      help: "If this setting is off, the question is put into the message box, where users can edit it first.",
    }),
    switchField(store, {
      path: `${PATH}.chat_message_input_disabled`,
      help: "Users must choose a starter before they can type.",
    }),
  );
}

/** @param {Store} store */
function preview(store) {
  const shown = element("div", { class: "studio-preview-starters" });
  const draw = () => {
    /** @type {{starters?: Starter[], intro_text?: string}} */
    const { starters: list = [], intro_text: intro } = store.get(PATH) ?? {};
    shown.replaceChildren(
      element("p", {}, intro || "Select an action"),
      element("ul", {}, ...list.map(({ title, text }) => element("li", { title: text }, title || "…"))),
    );
  };
  store.subscribe((what) => what === "change" && draw(), shown);
  draw();
  return group("Preview", shown);
}
