// The dialog for publishing, or for requesting it: the changes, the checks, the note for the version, and its audience.

import { button, element, newId, quiet } from "./elements.js";
import { issueList } from "./issues.js";
import { pattern } from "./labels.js";
import { part } from "../parts.js";
import { plural } from "./tools/paths.js";
import { titleOf } from "./tools/rest-tool.js";

/**
 * @import { Difference, Json, Line, PublishingTexts } from "./data.js"
 * @import { Store } from "./store.js"
 *
 * @typedef {{message: string, is_outdated?: boolean}} Refusal
 *
 * @typedef {object} Publishing
 * @property {(body: {note: string, only_new: boolean, is_over: boolean}) => Promise<Refusal | null>} send publishes and closes the dialog, unless it is refused
 * @property {((words: string) => Promise<Refusal | null>) | null} sendBack sends back another user's request
 * @property {(path: string) => unknown} goTo opens the field of an issue
 * @property {() => void} cancel
 * @property {boolean} isRequest the dialog requests publishing by another user
 */

/** The texts that describe an item of a list. */
const TEXTS = ["name", "title", "text", "description", "url", "content"];
const LONGEST_TEXT = 200;

export class PublishDialog {
  /** @type {HTMLDialogElement | null} */
  #shown = null;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
  }

  get isOpen() {
    return this.#shown !== null;
  }

  close() {
    const dialog = this.#shown;
    this.#shown = null;
    dialog?.close();
    dialog?.remove();
  }

  /** @param {Difference[]} differences @param {Publishing} publishing */
  show(differences, { send, sendBack, goTo, cancel, isRequest }) {
    this.close();
    const { number } = this.store.state;
    const texts = this.store.data.publishing;
    const id = newId("note");
    const note = element("input", { id, maxLength: texts.longest, required: true, autocomplete: "off", placeholder: texts.hint, value: number ? "" : texts.first });
    const onlyNew = element("input", { type: "checkbox", id: newId("only-new") });
    const problem = element("p", { class: "studio-error", role: "alert" });
    const missing = element("span", { id: newId("missing"), class: "studio-finding studio-error" });
    note.setAttribute("aria-describedby", missing.id);
    note.addEventListener("input", () => check(true));
    /** @param {boolean} isValid */
    const check = (isValid) => {
      missing.textContent = isValid ? "" : texts.missing;
      if (isValid) note.removeAttribute("aria-invalid");
      else note.setAttribute("aria-invalid", "true");
      return isValid;
    };
    const publish = element("button", { class: "console-button console-primary" }, isRequest ? "Request publishing" : "Publish");
    const leave = () => {
      this.close();
      cancel();
    };
    let isOver = false;
    /** @param {Event} event */
    const submit = async (event) => {
      event.preventDefault();
      if (!check(Boolean(note.value.trim()))) {
        note.focus();
        return;
      }
      publish.disabled = true;
      problem.textContent = "";
      const refusal = await send({ note: note.value, only_new: onlyNew.checked, is_over: isOver });
      publish.disabled = false;
      problem.textContent = refusal?.message ?? "";
      checks.replaceChildren(...this.checks(goTo));
      if (!refusal?.is_outdated) return;
      isOver = true;
      publish.textContent = texts.anyway;
    };
    const checks = element("section", {}, ...this.checks(goTo));
    const heading = newId("publish");
    /** @type {HTMLDialogElement} */
    const dialog = element(
      "dialog",
      // Escape closes it too.
      { class: "studio-dialog studio-publishing", "aria-labelledby": heading, onclose: () => this.#shown === dialog && leave() },
      element(
        "form",
        { class: "studio-publish", onsubmit: submit, noValidate: true },
        element("h2", { id: heading }, dialogTitle(isRequest, number)),
        element(
          "div",
          // It scrolls, so it must be focusable.
          { class: "studio-review", tabIndex: 0, role: "region", "aria-label": "Changes and checks" },
          number ? this.changes(differences) : "",
          checks,
          sendBack ? backPart(sendBack, problem) : "",
        ),
        element("p", { class: "studio-field" }, element("span", { class: "studio-label" }, element("label", { htmlFor: id }, texts.note), element("span", { class: "console-required", "aria-hidden": "true" }, "required")), note, missing),
        isRequest ? quiet(texts.review) : audience(number, onlyNew, texts),
        problem,
        element("p", { class: "studio-actions" }, button("Cancel", leave), publish),
      ),
    );
    this.#shown = dialog;
    part(document, "[data-studio]", HTMLElement).append(dialog);
    dialog.showModal();
    note.focus();
  }

  /** @param {Difference[]} differences */
  changes(differences) {
    const title = differences.length === 1 ? "1 change" : `${differences.length} changes`;
    return element("section", {}, element("h3", {}, title), element("dl", { class: "studio-differences" }, ...differences.flatMap((one) => this.change(one))));
  }

  /** The field, with its path as a detail. @param {Difference} difference */
  change(difference) {
    const { path, label, kind, before, after, lines } = difference;
    const item = changedItem(difference, this.store);
    return [
      element("dt", {}, element("strong", { title: path }, label), " ", element("span", { class: "studio-quiet" }, kind)),
      element("dd", {}, lines.length ? changedLines(lines) : changedValue(kind, item || before, item || after)),
    ];
  }

  /** @param {(path: string) => unknown} goTo */
  checks(goTo) {
    const follow = (/** @type {string} */ path) => {
      this.close();
      goTo(path);
    };
    const { findings, data } = this.store;
    return [element("h3", {}, data.publishing.checks), findings.length ? issueList(this.store, follow) : quiet(data.publishing.no_issues)];
  }
}

/** @param {boolean} isRequest @param {number} number */
function dialogTitle(isRequest, number) {
  if (isRequest) return "Request publishing";
  return number ? `Publish version ${number + 1}` : "Publish the first version";
}

/**
 * An added or removed item of a list in words, such as `REST service · 2 tools`, or "" if the change is another one.
 * @param {Pick<Difference, "path" | "kind" | "before" | "after">} difference @param {Store} store
 */
export function changedItem({ path, kind, before, after }, { data }) {
  const isItem = pattern(path).endsWith("[]") && (kind === "added" || kind === "removed");
  const item = isItem ? itemIn(kind === "added" ? after : before) : undefined;
  if (!item) return "";
  if (pattern(path) === "tool_sets[]") return [data.kinds[item.type]?.title || item.type, item.tools && plural(item.tools.length, "tool")].filter(Boolean).join(" · ");
  const isTool = pattern(path) === "tool_sets[].tools[]";
  const texts = isTool ? [item.open_ai_tool?.function?.description || titleOf(item)] : TEXTS.map((name) => item[name]);
  const text = texts.filter((one) => typeof one === "string" && one).join(" · ");
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}

/** An object in JSON, or undefined if the text is cut or another value. @param {string} text @returns {Json | undefined} */
function itemIn(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @param {number} number @param {HTMLInputElement} onlyNew @param {PublishingTexts} texts */
const audience = (number, onlyNew, texts) =>
  number
    ? element("p", {}, onlyNew, " ", element("label", { htmlFor: onlyNew.id }, texts.only_new))
    : quiet(texts.audience);

/** A comment for the requester, instead of publishing. @param {NonNullable<Publishing["sendBack"]>} sendBack @param {HTMLElement} problem */
function backPart(sendBack, problem) {
  const id = newId("words");
  const words = element("textarea", { id, rows: 3, maxLength: 2000 });
  const send = async () => {
    const refusal = await sendBack(words.value);
    problem.textContent = refusal?.message ?? "";
  };
  return element(
    "details",
    { class: "studio-fold" },
    element("summary", {}, "Send back"),
    element("p", { class: "studio-field" }, element("label", { htmlFor: id }, "Required changes"), words),
    button("Send back", send),
  );
}

/** @param {string} kind @param {string} before @param {string} after */
const changedValue = (kind, before, after) =>
  element(
    "span",
    {},
    kind === "added" ? "" : element("del", {}, before),
    kind === "changed" || kind === "moved" ? " → " : "",
    kind === "removed" ? "" : element("ins", {}, after),
  );

/** @type {Record<string, "ins" | "del">} */
const NAMES = { added: "ins", removed: "del" };

/** Omitted lines are an ellipsis. @param {Line[]} lines */
const changedLines = (lines) =>
  element(
    "div",
    { class: "content-difference" },
    ...lines.map(([kind, text, runs], index) => (kind === "place" ? index > 0 && element("span", {}, "…") : element(NAMES[kind] ?? "span", {}, ...words(text, runs)))),
  );

/** A line with marks at its changed words. @param {string} text @param {Line[2]} runs */
const words = (text, runs = []) => (runs.length ? runs.map(([isChanged, run]) => (isChanged ? element("mark", {}, run) : run)) : [text]);
