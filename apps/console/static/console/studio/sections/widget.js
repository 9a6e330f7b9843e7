// The widget: the sites that can show it, its appearance, and the code that they include.

import { button, element, focusOn, newId, paragraph, quiet } from "../elements.js";

/**
 * @import { Widget } from "../data.js"
 * @import { Store } from "../store.js"
 */

const THEMES = [["", "Browser default"], ["light", "Light"], ["dark", "Dark"], ["contrast", "High contrast"]];
const SIDES = [["", "Right"], ["left", "Left"]];
const LANGUAGES = [["", "Browser default"], ["en", "English"], ["de", "Deutsch"], ["uk", "Українська"], ["ar", "العربية"]];
const ACCENT = "#0f766e";

export class WidgetBuilder {
  /** @param {Store} store @param {(title: string, text: string) => HTMLElement} sample a text with a button that copies it */
  constructor(store, sample) {
    this.store = store;
    this.sample = sample;
    this.root = element("div", { class: "studio-inner" });
    this.status = element("p", { role: "status", class: "studio-quiet" });
    this.key = element("div", { "aria-live": "polite" });
    /** @type {Record<string, string>} additional options of the snippet */
    this.look = { theme: "", accent: "", side: "", locale: "" };
    this.draw();
  }

  /** @returns {Widget} */
  get widget() {
    return this.store.data.connect.widget;
  }

  draw() {
    const { is_enabled: isOn, may_change: may } = this.widget;
    this.root.replaceChildren(
      this.enabled(),
      this.origins(),
      this.status,
      may ? "" : quiet("Only owners can change this."),
      isOn ? this.built() : "",
      this.identities(),
    );
  }

  enabled() {
    const { is_enabled: isOn, is_public: isPublic, may_change: may } = this.widget;
    const id = newId("widget");
    const control = element("input", { type: "checkbox", role: "switch", id, checked: isOn, disabled: !may, "data-key": "widget", "aria-describedby": `${id}-help` });
    control.addEventListener("change", () => this.save({ is_enabled: control.checked }));
    const help = isPublic
      ? "Visitors to the sites below can chat without signing in."
      : "The application is not public, so only users whom their site identifies can chat.";
    return element(
      "div",
      { class: "studio-switch" },
      control,
      element("div", {}, element("div", { class: "studio-label" }, element("label", { htmlFor: id }, "Widget")), element("p", { class: "studio-help", id: `${id}-help` }, help)),
    );
  }

  origins() {
    const { origins, may_change: may } = this.widget;
    const id = newId("origins");
    const field = element("textarea", { id, rows: Math.max(2, origins.length + 1), value: origins.join("\n"), disabled: !may, spellcheck: false, placeholder: "https://www.example.com", "aria-describedby": `${id}-help` });
    const save = button("Save", () => this.save({ origins: field.value.split(/\s+/).filter(Boolean) }), { "aria-label": "Save the allowed origins", disabled: !may });
    return element(
      "div",
      { class: "studio-field" },
      element("div", { class: "studio-label" }, element("label", { htmlFor: id }, "Allowed origins")),
      field,
      element("p", { class: "studio-help", id: `${id}-help` }, "Only pages on these origins can show the widget. One per line, without a path."),
      paragraph(save),
    );
  }

  /** The code that a site includes, and a preview. */
  built() {
    const snippet = element("div", { class: "studio-inner" });
    const preview = element("iframe", { class: "studio-widget-preview", title: "Widget preview" });
    const show = () => {
      snippet.replaceChildren(this.sample("Snippet", this.snippet()), this.sample("Content-Security-Policy of the site", this.policy()));
      const chosen = Object.entries(this.look).filter(([, value]) => value);
      preview.src = `${this.store.data.urls.widget_preview}?${new URLSearchParams(chosen)}`;
    };
    const accent = element("input", { id: newId("accent"), type: "color", value: this.look.accent || ACCENT });
    accent.addEventListener("change", () => {
      this.look.accent = accent.value;
      show();
    });
    const fields = element(
      "div",
      { class: "studio-adding" },
      this.choice("Theme", "theme", THEMES, show),
      element("p", { class: "studio-field" }, element("label", { htmlFor: accent.id, class: "studio-legend" }, "Accent"), accent),
      this.choice("Side", "side", SIDES, show),
      this.choice("Language", "locale", LANGUAGES, show),
    );
    show();
    return element("div", { class: "studio-inner" }, fields, snippet, preview);
  }

  /** @param {string} label @param {string} name @param {string[][]} options @param {() => void} show */
  choice(label, name, options, show) {
    const id = newId(name);
    const select = element("select", { id }, ...options.map(([value, text]) => element("option", { value, selected: value === this.look[name] }, text)));
    select.addEventListener("change", () => {
      this.look[name] = select.value;
      show();
    });
    return element("p", { class: "studio-field" }, element("label", { htmlFor: id, class: "studio-legend" }, label), select);
  }

  snippet() {
    const { origin, slug } = this.store.data;
    const chosen = Object.entries(this.look).filter(([, value]) => value).map(([name, value]) => ` data-${name}="${value}"`);
    return `<script src="${origin}/widget.js" data-app="${slug}"${chosen.join("")} async></script>`;
  }

  policy() {
    const { origin } = this.store.data;
    return `script-src ${origin}; frame-src ${origin}`;
  }

  identities() {
    const { has_key: hasKey, algorithm, may_change: may } = this.widget;
    const signer = algorithm === "EdDSA" ? "a private key that only it has" : "the key that was created here";
    const text = hasKey
      ? `The site's server signs identities (${algorithm}) with ${signer}. A new key ends the chats of all identified users.`
      : "With a key, the site's server can identify its users to the widget.";
    const create = button(hasKey ? "Replace the key" : "Create a key", () => this.replaceKey(), { disabled: !may, "data-key": "widget-key", "aria-label": hasKey ? "Replace the key for identities" : "Create a key for identities" });
    return element("div", { class: "studio-field" }, element("div", { class: "studio-label" }, element("strong", {}, "Identities")), quiet(text), paragraph(create), this.key, this.publicKey());
  }

  /** The site can use its own key pair, so that this installation does not know its secret. */
  publicKey() {
    const { may_change: may } = this.widget;
    const id = newId("public-key");
    const field = element("textarea", { id, rows: 3, disabled: !may, spellcheck: false, placeholder: "-----BEGIN PUBLIC KEY-----", "aria-describedby": `${id}-help` });
    const save = button("Use this public key", () => this.send("widget_key", { public_key: field.value }), { disabled: !may, "data-key": "widget-public-key" });
    return element(
      "details",
      {},
      element("summary", {}, "Use a public key"),
      element("label", { htmlFor: id, class: "studio-legend" }, "Public key (Ed25519, PEM)"),
      field,
      element("p", { class: "studio-help", id: `${id}-help` }, "This public key replaces the current key. The site's server then signs identities with EdDSA."),
      paragraph(save),
    );
  }

  async replaceKey() {
    const answer = await this.send("widget_key", {});
    if (!answer) return;
    this.key.replaceChildren(paragraph("Copy the key now; it won’t be shown again."), this.sample("Key for identities", answer.key));
  }

  /** @param {object} body */
  async save(body) {
    if (await this.send("widget", body)) this.status.textContent = "Saved.";
  }

  /** @param {string} name @param {object} body @returns {Promise<any>} null if it was refused */
  async send(name, body) {
    const key = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.key : undefined;
    const response = await this.store.send(name, body).catch(() => null);
    const answer = await response?.json().catch(() => null);
    if (!response?.ok || !answer) {
      this.status.textContent = answer?.message ?? "Saving failed. Try again.";
      this.status.className = "studio-error";
      return null;
    }
    this.store.data.connect.widget = answer.widget;
    this.status.className = "studio-quiet";
    this.status.textContent = "";
    this.draw();
    if (key) focusOn(`[data-key="${CSS.escape(key)}"]`);
    return answer;
  }
}
