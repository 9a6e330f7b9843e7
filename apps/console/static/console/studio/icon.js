// The icon of the application: letters on a color, an emoji, or a picture.

import { part, reasonOf } from "../parts.js";
import { button, element, field, newId } from "./elements.js";

/**
 * @import { Store } from "./store.js"
 */

const COLOUR = /^colour:(\d+)$/;
const IMAGE = /^[0-9a-f]{64}\.\w+$/;
const NAMES = ["Teal", "Magenta", "Lime", "Indigo", "Orange", "Cyan", "Pink", "Green", "Purple", "Yellow", "Blue", "Red"];
const LARGEST = 64 * 1024;

/** The tile, as lists show it. @param {Store} store */
function tile(store) {
  const { icon } = store;
  const { letters, colour } = store.data.tile;
  const own = COLOUR.exec(icon);
  const isOwn = Boolean(icon) && !own;
  const shown = element("span", { class: "monogram large", "data-tile": own?.[1] ?? String(colour), "data-icon": isOwn, "aria-hidden": "true" });
  shown.append(IMAGE.test(icon) ? element("img", { src: `/icons/${icon}`, alt: "" }) : isOwn ? icon : letters);
  return shown;
}

/** @param {Store} store */
export function iconField(store) {
  const preview = element("div", {});
  const emoji = element("input", { type: "text", maxLength: 24, autocomplete: "off", placeholder: "🧭", class: "studio-emoji" });
  const file = element("input", { type: "file", accept: ".svg,.png,.webp" });
  const status = element("p", { role: "status", class: "studio-quiet" });
  const name = newId("colour");
  const choices = ["", ...NAMES.map((_, number) => `colour:${number}`)].map((value, index) => {
    const id = newId("colour");
    const input = element("input", { type: "radio", name, id, value });
    input.addEventListener("change", () => set(value));
    const number = index ? index - 1 : store.data.tile.colour;
    return element(
      "span",
      {},
      input,
      element("label", { htmlFor: id, class: "monogram small", "data-tile": String(number), title: index ? NAMES[number] : "Automatic" }, element("span", { class: "console-hidden" }, index ? NAMES[number] : "Automatic"), element("span", { "aria-hidden": "true" }, store.data.tile.letters)),
    );
  });
  const colours = element("fieldset", { class: "studio-colours" }, element("legend", {}, "Initials on a color"), ...choices);
  const remove = button("Remove the image", () => {
    set("");
    file.focus();
  });
  const draw = () => {
    preview.replaceChildren(tile(store));
    const { icon } = store;
    const isImage = IMAGE.test(icon);
    if (document.activeElement !== emoji) emoji.value = isImage || COLOUR.test(icon) ? "" : icon;
    remove.hidden = !isImage;
    for (const choice of choices) {
      const input = part(choice, "input", HTMLInputElement);
      input.checked = input.value === icon;
    }
  };
  /** @param {string} icon */
  const set = (icon) => {
    status.textContent = "";
    store.name({ icon });
    draw();
  };
  emoji.addEventListener("input", () => set(emoji.value.trim()));
  file.addEventListener("change", async () => {
    const [picture] = file.files ?? [];
    if (!picture) return;
    try {
      set(await upload(store, picture));
      status.textContent = "The image is now the draft's icon.";
    } catch (error) {
      status.textContent = reasonOf(error);
    }
    file.value = "";
  });
  draw();
  return element(
    "div",
    { class: "studio-icon", role: "group", "aria-label": "Icon" },
    preview,
    element(
      "div",
      { class: "studio-inner" },
      colours,
      field(store, { label: "Or an emoji", control: emoji, findingsPath: "(icon)" }),
      field(store, { label: "Or a picture", control: file, help: "SVG, PNG or WebP, at most 64 kB." }),
      remove,
      status,
    ),
  );
}

/** @param {Store} store @param {File} picture @returns {Promise<string>} */
async function upload(store, picture) {
  if (picture.size > LARGEST) throw new Error(`The image is ${picture.size.toLocaleString("en")} bytes; the limit is ${LARGEST.toLocaleString("en")}.`);
  const headers = { "Content-Type": "application/octet-stream", "X-CSRFToken": store.data.csrf };
  const response = await fetch(store.data.urls.icon, { method: "POST", headers, body: picture });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.message ?? "The upload failed. Try again.");
  return answer.icon;
}
