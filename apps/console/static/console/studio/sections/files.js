// What the application knows from the start: texts, files and folders.

import { button, element, findings, focusOn, link, newId, numberField, paragraph, quiet, switchField, textField, withChoices } from "../elements.js";

/**
 * @import { Json } from "../data.js"
 * @import { Section } from "../sections.js"
 * @import { Store } from "../store.js"
 */

const PATH = "contexts";
/** @type {Record<string, string>} */
const KINDS = { "user-defined": "Text", file: "File", folder: "Folder" };
/** @type {Record<string, Json>} */
const NEW = {
  "user-defined": { type: "user-defined", content: "" },
  file: { type: "file", url: "" },
  folder: { type: "folder", url: "" },
};

/** @type {Section} */
export const files = {
  id: "files",
  title: "Files and contexts",
  paths: [PATH, "features.documents", "features.dial_files"],
  render: withChoices((store, choices, redraw) => {
    /** @type {Json[]} */
    const list = store.get(PATH) ?? [];
    const paths = element("datalist", { id: newId("paths") }, ...choices.files.map((file) => element("option", { value: file.path })));
    /** @param {string} kind */
    const add = (kind) => {
      store.change(PATH, [...list, { ...NEW[kind] }]);
      redraw();
      focusOn(`[data-context="${list.length}"] :is(input, textarea)`);
    };
    return [
      paragraph("Texts stand in the prompt of every question. Of files and folders the model is told, and it reads them when it needs them."),
      paths,
      ...list.map((one, index) => card(store, one, index, paths.id, redraw)),
      element("p", { class: "studio-actions" }, ...Object.entries(KINDS).map(([kind, name]) => button(`Add a ${name.toLowerCase()}`, () => add(kind)))),
      list.length ? "" : findings(store, PATH),
      switchField(store, {
        label: "Search the files",
        path: "features.documents",
        on: { enabled: true },
        off: undefined,
        isOn: (value) => Boolean(value?.enabled),
        help: "The model gets a tool that reads documents and one that answers from them, with sources. Stored files above are made ready beforehand.",
        children: () => [
          numberField(store, { label: "Passages for one answer", path: "features.documents.results", min: 1, max: 20, step: 1, placeholder: "3" }),
        ],
      }),
      switchField(store, {
        label: "Work with files of the person",
        path: "features.dial_files",
        on: {},
        off: undefined,
        isOn: (value) => Boolean(value),
        help: "The model gets tools that list, read, write and move files in a folder of whoever asks.",
      }),
      paragraph(
        choices.add.file ? link("Upload a shared file", choices.add.file) : "",
        " ",
        link("Attached files and their state", store.data.urls.files),
      ),
    ];
  }),
};

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
      ? [textField(store, { label: "Text", path: `${path}.content`, rows: 4, empty: "", help: "It is part of every prompt, so keep it short." })]
      : [
          textField(store, { label: "Path", path: `${path}.url`, list, placeholder: place, empty: "" }),
          textField(store, { label: "What is in it", path: `${path}.description`, help: "So that the model knows when to read it." }),
        ];
  return element(
    "fieldset",
    { class: "studio-card", "data-context": String(index) },
    element("legend", {}, KINDS[type] ?? type ?? "Context"),
    ...(type in KINDS ? fields : [quiet("This kind is edited in All fields."), findings(store, path)]),
    element("p", { class: "studio-actions" }, button("Remove", remove, { "aria-label": `Remove context ${index + 1}` })),
  );
}
