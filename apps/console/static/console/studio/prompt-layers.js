// Shows what the model would get from the draft: the layers of its prompt and the request, without calling the model.

import { reasonOf } from "../parts.js";
import { button, element, group, newId, quiet } from "./elements.js";
import { labelAt } from "./labels.js";
import { pickerField } from "./pickers.js";
import { plural } from "./tools/paths.js";
import { readEvents } from "./events.js";

/**
 * @import { Choices, Json } from "./data.js"
 * @import { Store } from "./store.js"
 */

/** @param {Store} store @param {Choices} choices */
export function preview(store, choices) {
  const id = newId("question");
  let place = "";
  const question = element("input", { id, placeholder: "Hello", maxLength: 10000, autocomplete: "off" });
  const status = element("p", { role: "status" });
  const shown = element("div", { class: "studio-layers" });
  const assemble = async () => {
    make.disabled = true;
    shown.replaceChildren();
    status.textContent = "Assembling…";
    const body = new FormData();
    body.set("manifest", JSON.stringify(store.manifest));
    body.set("title", store.title);
    body.set("slug", store.data.slug);
    body.set("question", question.value);
    body.set("place", place);
    try {
      const response = await fetch(store.data.urls.preview, {
        method: "POST",
        body,
        headers: { "X-CSRFToken": store.data.csrf },
      });
      if (!response.ok) throw new Error(`status ${response.status}`);
      await readEvents(response.body, show);
    } catch (error) {
      status.textContent = `The prompt could not be assembled (${reasonOf(error)}).`;
    }
    make.disabled = false;
  };
  /** @param {string} name @param {Json} data */
  const show = (name, data) => {
    if (name === "problem") status.textContent = data.text;
    if (name === "issues") shown.append(piece("Initialization issues", data.text));
    if (name === "layer") shown.append(piece(layerTitle(store, data.layer, data.source), data.text, data.tokens));
    if (name !== "request") return;
    status.textContent = `About ${data.tokens.toLocaleString("en")} tokens would be sent to ${data.model}; no model was called.`;
    if (data.flat) shown.append(piece("The whole system prompt", data.flat));
    for (const one of data.messages) shown.append(piece(`Message: ${one.source}`, one.text, one.tokens));
    for (const one of data.tools) shown.append(piece(`Tool: ${one.source}`, one.text, one.tokens));
    shown.append(piece("Parameters", data.parameters));
  };
  const make = button("Show what the model sees", assemble);
  return group(
    "What the model sees",
    quiet("Files, skills, memories and features add to the prompt. Assemble the whole prompt for a sample question here."),
    element("p", { class: "studio-field" }, element("label", { htmlFor: id, class: "studio-legend" }, "A sample question"), question),
    choices.places.length
      ? pickerField(store, {
          label: "Host page",
          choices: () => choices.places.map((name) => [name, name]),
          empty: "None",
          onchange: (chosen) => {
            place = chosen;
          },
        })
      : "",
    element("p", { class: "studio-actions" }, make),
    status,
    shown,
  );
}

/** The title of a prompt layer, such as `Application: Prompt`. @param {Store} store @param {string} layer @param {string} source */
function layerTitle(store, layer, source) {
  const [one, other] = [sourceTitle(store, layer), sourceTitle(store, source)];
  return one === other ? one : `${one}: ${other}`;
}

/** The origin of a part of the prompt, in words. @param {Store} store @param {string} source */
export function sourceTitle(store, source) {
  if (source === "orchestrator.system_prompt") return labelAt(store, `${source}.content`) ?? source;
  const name = /^capability '(.+)'$/.exec(source)?.[1].replaceAll("_", " ") ?? source;
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

/** A collapsed part of a model request. @param {string} title @param {string} text @param {number} [tokens] */
export function piece(title, text, tokens) {
  return element(
    "details",
    { class: "studio-fold" },
    element(
      "summary",
      {},
      element("span", {}, title),
      tokens === undefined ? "" : element("span", { class: "studio-quiet" }, ` about ${plural(tokens, "token")}`),
    ),
    element("pre", { class: "studio-sample", tabIndex: 0, "aria-label": title }, text),
  );
}
