// Shows how clients call the application: a key, and each door with its URL, snippets and a test message.

import { button, element, group, link, newId, paragraph, quiet } from "../elements.js";
import { WidgetBuilder } from "./widget.js";

/**
 * @import { Door, Trial } from "../data.js"
 * @import { Section } from "../sections.js"
 * @import { Store } from "../store.js"
 */

const ENVIRONMENT = "QUICKAPPS_KEY";
const SHOWN_CHARACTERS = 20_000;

/** @type {Section} */
export const connect = {
  id: "connect",
  render(container, store) {
    new ConnectPanel(container, store).draw();
  },
};

class ConnectPanel {
  /** @param {HTMLElement} container @param {Store} store */
  constructor(container, store) {
    this.container = container;
    this.store = store;
    this.key = element("input", { id: newId("key"), type: "password", autocomplete: "off", spellcheck: false, placeholder: "Paste a key" });
  }

  draw() {
    const { slug, origin, connect: { doors }, urls } = this.store.data;
    this.container.append(
      paragraph("The published version answers at these URLs. To call a specific version, append its number: ", element("code", {}, `${slug}@3`), "."),
      group("For users", sample("Chat page", `${origin}/chat/${slug}/`)),
      group("On other sites", new WidgetBuilder(this.store, sample).root),
      this.keys(),
      group("For programs", ...doors.map((door, index) => this.door(door, index === 0))),
      paragraph(link("API reference of the admin", urls.apiDocs)),
    );
  }

  keys() {
    const { connect: { keys, own_keys: own }, urls } = this.store.data;
    const label = element("label", { htmlFor: this.key.id }, "API key");
    const made = element("div", { "aria-live": "polite" });
    return group(
      "Key",
      element("div", { class: "studio-field" }, element("div", { class: "studio-label" }, label), this.key),
      keys
        ? element("p", {}, button("Create a key", (event) => this.createKey(event, made)), " ", urls.keys ? link("All keys", urls.keys) : "")
        : own
          ? paragraph(link("Create a key in your account", own))
          : quiet("Ask an administrator for a key."),
      made,
    );
  }

  /** Creates a key for this application only; its value is shown until the user leaves the page. @param {MouseEvent} event @param {HTMLElement} made */
  async createKey(event, made) {
    const { slug, csrf, connect: { keys, user } } = this.store.data;
    const created = /** @type {HTMLButtonElement} */ (event.currentTarget);
    created.disabled = true;
    const response = await fetch(keys, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": csrf },
      body: JSON.stringify({ name: `${slug} (studio)`.slice(0, 50), user, applications: [slug] }),
    }).catch(() => null);
    const answer = await response?.json().catch(() => ({}));
    created.disabled = false;
    if (!response?.ok) {
      made.replaceChildren(element("p", { class: "studio-error" }, `The key was not created: ${problemOf(answer)}`));
      return;
    }
    this.key.value = answer.key;
    made.replaceChildren(
      paragraph("This key can call this application with your permissions. Copy it now; it won’t be shown again."),
      sample("Environment variable", `export ${ENVIRONMENT}=${answer.key}`),
    );
  }

  /** @param {Door} door @param {boolean} isOpen */
  door(door, isOpen) {
    return element(
      "details",
      { class: "studio-fold", open: isOpen, name: "door" },
      element("summary", {}, element("strong", {}, door.title), " ", element("span", { class: "studio-quiet" }, door.summary)),
      sample("URL", door.address),
      ...door.snippets.map(({ title, text }) => sample(title, text)),
      door.trial ? this.trial(door.title, door.trial) : "",
    );
  }

  /** @param {string} title @param {Trial} trial */
  trial(title, trial) {
    const id = newId("trial");
    const message = element("input", { id, type: "text", value: "Hello", autocomplete: "off" });
    const output = element("div", { "aria-live": "polite" });
    const send = button("Try it", async () => {
      send.disabled = true;
      output.replaceChildren(quiet("Waiting for the answer…"));
      output.replaceChildren(...(await this.ask(trial, message.value)));
      send.disabled = false;
    }, { "aria-label": `Try it: ${title}` });
    return element(
      "div",
      { class: "studio-field" },
      element("div", { class: "studio-label" }, element("label", { htmlFor: id }, "Try it")),
      message,
      element("p", {}, send),
      output,
    );
  }

  /** Send a message as a client would, without the session of this page. @param {Trial} trial @param {string} message */
  async ask({ address, body, headers }, message) {
    if (!this.key.value) {
      this.key.focus();
      return [element("p", { class: "studio-error" }, "Enter or create a key first.")];
    }
    try {
      const response = await fetch(address, {
        method: "POST",
        credentials: "omit",
        headers: { ...Object.fromEntries(headers), Authorization: `Bearer ${this.key.value}`, "Content-Type": "application/json" },
        body: body.replace("{message}", () => JSON.stringify(message)),
      });
      return [sample(`Response: ${response.status}`, shown(await response.text()))];
    } catch (error) {
      return [element("p", { class: "studio-error" }, `The server can’t be reached: ${error instanceof Error ? error.message : error}`)];
    }
  }
}

/** The response body in readable form: indented JSON, truncated if it is too long. @param {string} body */
function shown(body) {
  let text = body;
  try {
    text = JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    // Shown unchanged.
  }
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

/** The first problem in an API error response. @param {any} answer */
function problemOf(answer) {
  const first = Object.values(answer ?? {}).flat()[0];
  return typeof first === "string" ? first : "the server can’t be reached.";
}

/** @param {string} title @param {string} text */
function sample(title, text) {
  const status = element("span", { role: "status", class: "studio-quiet" });
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(text);
    status.textContent = " Copied.";
  }, { "aria-label": `Copy: ${title}` });
  return element(
    "div",
    { class: "studio-field" },
    element("p", { class: "studio-label" }, element("strong", {}, title), element("span", {}, copy, status)),
    element("pre", { class: "studio-sample", tabIndex: 0, "aria-label": title }, text),
  );
}
