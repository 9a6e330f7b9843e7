// The initial knowledge of the application: texts, files and folders.

import { part, reasonOf } from "../../parts.js";
import { button, element, field, findings, focusOn, link, newId, numberField, paragraph, quiet, switchField, textField, withChoices } from "../elements.js";

/**
 * @import { Choices, Json } from "../data.js"
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
      paragraph("Texts are part of every prompt. The model gets a list of files and folders, and reads them when it needs them."),
      paths,
      ...list.map((one, index) => card(store, one, index, paths.id, redraw)),
      element("p", { class: "studio-actions" }, ...Object.entries(KINDS).map(([kind, name]) => button(`Add a ${name.toLowerCase()}`, () => add(kind)))),
      uploading(store, choices, (path) => {
        choices.files.push({ path });
        store.change(PATH, [...(store.get(PATH) ?? []), { type: "file", url: path }]);
        redraw();
      }),
      list.length ? "" : findings(store, PATH),
      switchField(store, {
        label: "Search the files",
        path: "features.documents",
        on: { enabled: true },
        off: undefined,
        isOn: (value) => Boolean(value?.enabled),
        help: "Gives the model a tool that reads documents and one that answers from them, with sources. The files above are indexed in advance.",
        children: () => [
          numberField(store, { label: "Passages per answer", path: "features.documents.results", min: 1, max: 20, step: 1, placeholder: "3" }),
        ],
      }),
      switchField(store, {
        label: "Work with the user's files",
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
 * Uploads files from this computer; each becomes a context. @param {Store} store @param {Choices} choices @param {(path: string) => void} done
 */
function uploading(store, choices, done) {
  if (!store.data.may_change) return "";
  const control = element("input", { type: "file", multiple: true });
  const shared = element("input", { type: "checkbox", id: newId("shared") });
  const status = element("p", { role: "status", class: "studio-status", "data-upload": "" });
  control.addEventListener("change", async () => {
    const sent = [...(control.files ?? [])];
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
    paths.forEach(done);
    // After a redraw, the message has a new element.
    const place = paths.length ? part(document, "[data-upload]", HTMLElement) : status;
    place.textContent = [paths.length && `Uploaded: ${paths.map((path) => decodeURIComponent(path.split("/").pop() ?? "")).join(", ")}.`, ...failed].filter(Boolean).join(" ");
    place.classList.toggle("studio-error", failed.length > 0);
    control.disabled = false;
    control.value = "";
  });
  return element(
    "div",
    { class: "studio-card" },
    field(store, { label: "Upload files", control, help: "Only the users and editors of this application can read them." }),
    choices.add.file && element("p", {}, shared, " ", element("label", { htmlFor: shared.id }, "Make available to all applications")),
    status,
  );
}

/** @param {Store} store @param {File} file @param {boolean} isShared @returns {Promise<string>} its path */
async function upload(store, file, isShared) {
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
      ? [textField(store, { label: "Text", path: `${path}.content`, rows: 4, empty: "", help: "It is part of every prompt, so keep it short." })]
      : [
          textField(store, { label: "Path", path: `${path}.url`, list, placeholder: place, empty: "" }),
          textField(store, { label: "Contents", path: `${path}.description`, help: "Tells the model when to read it." }),
        ];
  return element(
    "fieldset",
    { class: "studio-card", "data-context": String(index) },
    element("legend", {}, KINDS[type] ?? type ?? "Context"),
    ...(type in KINDS ? fields : [quiet("This kind is edited in All fields."), findings(store, path)]),
    element("p", { class: "studio-actions" }, button("Remove", remove, { "aria-label": `Remove context ${index + 1}` })),
  );
}
