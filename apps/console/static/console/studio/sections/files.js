// The initial knowledge of the application: texts, files and folders.

import { part, reasonOf } from "../../parts.js";
import { button, cardHead, element, field, findings, focusOn, link, newId, numberField, paragraph, quiet, switchField, textField, withChoices } from "../elements.js";

/**
 * @import { Choices, Json } from "../data.js"
 * @import { Section } from "../sections.js"
 * @import { Store } from "../store.js"
 *
 * @typedef {{place: string, address: string, score: number, text: string}} Passage
 * @typedef {{passages: Passage[], notice: string, indexed: number, files: number}} SearchAnswer the best passage is first
 */

const PATH = "contexts";
const SEARCH = "features.documents";
const RESULTS = `${SEARCH}.results`;
const USUAL_RESULTS = 3;
/** The number of passages that are shown beyond those for an answer. */
const LEFT_OUT = 5;
/** The event for the upload card. Its detail contains the files that were dropped in the studio. */
export const DROPPED = "studio-dropped";
/** @type {Record<string, string>} */
const KINDS = { "user-defined": "Text", file: "File", folder: "Folder" };
/** @type {Record<string, Json>} */
const NEW = {
  "user-defined": { type: "user-defined", content: "" },
  file: { type: "file", url: "" },
  folder: { type: "folder", url: "" },
};

/** @param {Json} context */
const isText = ({ type }) => type === "user-defined";

/** @type {Section} */
export const files = {
  id: "files",
  render: withChoices((store, choices, redraw) => {
    /** @type {Json[]} */
    const list = store.get(PATH) ?? [];
    const paths = element("datalist", { id: newId("paths") }, ...choices.files.map((file) => element("option", { value: file.path })));
    /** @param {Json[]} added */
    const add = (...added) => {
      const before = store.get(PATH) ?? [];
      // Without search, the model may have no tool to read the files. Adding more files later does not change the switch.
      const isFirst = before.every(isText) && !added.every(isText);
      store.change(PATH, [...before, ...added]);
      if (isFirst && !store.get(SEARCH)) store.change(SEARCH, { enabled: true });
      redraw();
    };
    /** @param {string} kind */
    const addNew = (kind) => {
      add({ ...NEW[kind] });
      focusOn(`[data-context="${list.length}"] :is(input, textarea)`);
    };
    return [
      paragraph("Texts are part of every prompt. The model gets a list of files and folders, and searches or reads them with its tools."),
      paths,
      ...list.map((one, index) => card(store, one, index, paths.id, redraw)),
      element("p", { class: "studio-actions" }, ...Object.entries(KINDS).map(([kind, name]) => button(`Add a ${name.toLowerCase()}`, () => addNew(kind)))),
      uploading(store, choices, (paths) => {
        choices.files.push(...paths.map((path) => ({ path })));
        add(...paths.map((path) => ({ type: "file", url: path })));
      }),
      list.length ? "" : findings(store, PATH),
      switchField(store, {
        path: SEARCH,
        on: { enabled: true },
        off: undefined,
        isOn: (value) => Boolean(value?.enabled),
        help: "Gives the model a tool that reads documents and one that answers from them, with sources. The files above are indexed in advance.",
        children: () => [
          numberField(store, { path: RESULTS, min: 1, max: 20, step: 1, placeholder: String(USUAL_RESULTS) }),
          ...(store.data.may_change ? [searchTrial(store)] : []),
        ],
      }),
      switchField(store, {
        path: "features.dial_files",
        on: {},
        off: undefined,
        isOn: (value) => Boolean(value),
        help: "Gives the model tools that list, read, write and move files in a folder of the user.",
      }),
      paragraph(link("Attached files and their state", store.data.urls.files)),
    ];
  }),
};

/**
 * A search in the indexed files, which shows the passages that an answer would be based on.
 * @param {Store} store
 */
function searchTrial(store) {
  const id = newId("search");
  const input = element("input", { id, type: "search", maxLength: 1000, autocomplete: "off", placeholder: "A question or keywords" });
  const found = element("div", { class: "studio-passages", "aria-live": "polite" });
  /** @type {SearchAnswer | null} */
  let answer = null;
  const show = () => answer && found.replaceChildren(...passagesOf(answer, Number(store.get(RESULTS) ?? USUAL_RESULTS)));
  const search = async () => {
    const q = input.value.trim();
    if (!q) return;
    found.replaceChildren(quiet("Searching…"));
    try {
      const response = await store.send("file_search", { ...store.current, q });
      const told = await response.json();
      if (!response.ok) throw new Error(told.message ?? "The search failed. Try again.");
      answer = told;
      show();
    } catch (error) {
      answer = null;
      found.replaceChildren(element("p", { class: "studio-error" }, reasonOf(error)));
    }
  };
  // Enter starts the search, and does not submit the surrounding form.
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    void search();
  });
  store.subscribe((what) => what === "change" && show(), found);
  return element(
    "div",
    { class: "studio-search" },
    element("label", { htmlFor: id }, "Try a search"),
    element("div", { class: "studio-search-row" }, input, button("Search", search)),
    quiet("Shows the passages that an answer would be based on. Files are indexed when they are published."),
    found,
  );
}

/** @param {SearchAnswer} answer @param {number} most the number of passages for an answer */
function passagesOf({ passages, notice, indexed, files }, most) {
  const state = indexed === files ? "" : `${indexed} of ${files} files are indexed. `;
  const shown = passages.slice(0, most);
  const rest = passages.slice(most, most + LEFT_OUT);
  return [
    notice || state ? quiet(state, notice) : "",
    passages.length ? "" : quiet(files ? "No results." : "None of the draft's files are indexed yet. Publish the draft first."),
    shown.length ? element("ol", { "aria-label": "Passages for an answer" }, ...shown.map(passageItem)) : "",
    rest.length ? quiet("Omitted, because they exceed the number of passages per answer:") : "",
    rest.length ? element("ol", { class: "studio-left-out", start: most + 1, "aria-label": "Omitted passages" }, ...rest.map(passageItem)) : "",
  ];
}

/** @param {Passage} passage */
function passageItem({ place, score, text }) {
  return element("li", {}, element("strong", {}, place), element("span", { class: "studio-quiet" }, ` score ${score.toFixed(4)}`), element("blockquote", {}, text));
}

/**
 * Uploads files from this computer; each becomes a context. @param {Store} store @param {Choices} choices @param {(paths: string[]) => void} done
 */
function uploading(store, choices, done) {
  if (!store.data.may_change) return "";
  const control = element("input", { type: "file", multiple: true });
  const shared = element("input", { type: "checkbox", id: newId("shared") });
  const status = element("p", { role: "status", class: "studio-status" });
  /** @param {File[]} sent */
  const send = async (sent) => {
    const [isShared, failed, paths] = [shared.checked, /** @type {string[]} */ ([]), /** @type {string[]} */ ([])];
    control.disabled = true;
    for (const file of sent) {
      status.textContent = `Uploading ${file.name}…`;
      try {
        paths.push(await upload(store, file, isShared));
      } catch (error) {
        failed.push(`${file.name}: ${reasonOf(error)}`);
      }
    }
    if (paths.length) done(paths);
    // After a redraw, the message has a new element.
    const place = paths.length ? part(document, "[data-upload] [role=status]", HTMLElement) : status;
    place.textContent = [paths.length && `Uploaded: ${paths.map((path) => decodeURIComponent(path.split("/").pop() ?? "")).join(", ")}.`, ...failed].filter(Boolean).join(" ");
    place.classList.toggle("studio-error", failed.length > 0);
    control.disabled = false;
    control.value = "";
    control.dispatchEvent(new Event("reset", { bubbles: true }));
  };
  control.addEventListener("change", () => send([...(control.files ?? [])]));
  const card = element(
    "div",
    { class: "studio-card", "data-upload": "" },
    field(store, { label: "Upload files", control, help: "Or drop files anywhere in the studio. Only the users and editors of this application can read them." }),
    choices.add.file && element("p", {}, shared, " ", element("label", { htmlFor: shared.id }, "Make available to all applications")),
    status,
  );
  card.addEventListener(DROPPED, (event) => event instanceof CustomEvent && send(event.detail));
  return card;
}

/** @param {number} bytes */
const megabytes = (bytes) => `${Math.round(bytes / 10_000) / 100} MB`;

/** @param {Store} store @param {File} file @param {boolean} isShared @returns {Promise<string>} its path */
async function upload(store, file, isShared) {
  const limit = store.data.upload_limit;
  if (file.size > limit) throw new Error(`The file is too large (${megabytes(file.size)}). The limit is ${megabytes(limit)}.`);
  const body = new FormData();
  body.set("file", file);
  body.set("shared", String(isShared));
  const response = await fetch(store.data.urls.upload, { method: "POST", headers: { "X-CSRFToken": store.data.csrf }, body });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok || !answer.path) throw new Error(answer.message ?? "The upload failed. Try again.");
  return answer.path;
}

/**
 * @param {Store} store @param {Json} context @param {number} index @param {string} list the id of the paths @param {() => void} redraw
 */
function card(store, { type }, index, list, redraw) {
  const path = `${PATH}[${index}]`;
  const remove = () => {
    store.change(path, undefined);
    redraw();
  };
  const place = type === "file" ? "files/public/…" : "files/public/guides/";
  const fields =
    type === "user-defined"
      ? [textField(store, { path: `${path}.content`, rows: 4, empty: "", help: "This text is part of every prompt, so keep it short." })]
      : [
          textField(store, { path: `${path}.url`, list, placeholder: place, empty: "" }),
          textField(store, { path: `${path}.description`, help: "Tells the model what this path contains, and therefore when to read it." }),
        ];
  return element(
    "fieldset",
    { class: "studio-card", "data-context": String(index) },
    ...cardHead(`Context ${index + 1}: ${(KINDS[type] ?? type ?? "").toLowerCase()}`, button("Remove", remove, { "aria-label": `Remove context ${index + 1}` })),
    ...(type in KINDS ? fields : [quiet("This kind is edited in All fields."), findings(store, path)]),
  );
}
