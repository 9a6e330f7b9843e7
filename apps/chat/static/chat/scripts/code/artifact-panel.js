/** A page or drawing of an answer next to the conversation, in an isolated frame. */

import { html, LitElement, nothing, repeat } from "../../vendor/lit.js";
import { artifactOf, pageOf, versionsOf } from "./artifacts.js";
import { copy } from "../clipboard.js";
import { fileNameOf, save } from "./files.js";
import { icon } from "../icons.js";
import { loadStyles } from "../style-sheets.js";
import { gettext } from "../texts.js";

/** @import { Artifact } from "./artifacts.js" */

const styles = new URL("../../styles/artifact-panel.css", import.meta.url).href;
const COPIED_FOR = 2_000;
/** True if there is room next to the conversation. */
const wide = matchMedia("(min-width: 64rem)");

/** @param {HTMLElement} block of code @param {HTMLElement} opener that gets the focus back */
export function openBlock(block, opener) {
  const { versions, at } = versionsOf(block);
  return open(versions.length ? versions : [artifactOf(block)], at, opener);
}

/** @param {string} address of a stored file @param {string} title @param {string} language @param {HTMLElement} opener */
export async function openFile(address, title, language, opener) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(response.statusText);
  return open([{ title, language, text: await response.text() }], 0, opener);
}

/** @param {Artifact[]} versions @param {number} at @param {HTMLElement} opener */
export async function open(versions, at, opener) {
  await loadStyles(styles);
  let panel = document.querySelector("artifact-panel");
  if (!(panel instanceof ArtifactPanel)) {
    panel = new ArtifactPanel();
    document.body.append(panel);
  }
  const shown = /** @type {ArtifactPanel} */ (panel);
  Object.assign(shown, { versions, at, opener, isCode: false });
  await shown.updateComplete;
  shown.querySelector("h2")?.focus();
}

export class ArtifactPanel extends LitElement {
  static properties = {
    versions: { attribute: false },
    at: { state: true },
    isCode: { state: true },
    isFull: { state: true },
    copied: { state: true },
  };

  constructor() {
    super();
    /** @type {Artifact[]} */
    this.versions = [];
    this.at = 0;
    this.isCode = false;
    this.isFull = false;
    this.copied = false;
    /** @type {HTMLElement | null} */
    this.opener = null;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    const artifact = this.versions[this.at];
    if (!artifact) return nothing;
    return html`<dialog class="artifact ${this.isFull ? "full" : ""}" aria-labelledby="artifact-title" @close=${this.#leave} @keydown=${this.#closeByKey}>
      <div class="artifact-head">
        <h2 id="artifact-title" tabindex="-1" dir="auto">${artifact.title}</h2>
        <button type="button" class="quiet artifact-close" title=${gettext("Close")} @click=${this.#close}>${icon("x")}<span class="visually-hidden">${gettext("Close the preview")}</span></button>
        <div class="artifact-tools">
          <div class="artifact-ways" role="group" aria-label=${gettext("View")}>
            <button type="button" class="quiet" aria-pressed=${String(!this.isCode)} @click=${() => (this.isCode = false)}>${icon("eye")}${gettext("Preview")}</button>
            <button type="button" class="quiet" aria-pressed=${String(this.isCode)} @click=${() => (this.isCode = true)}>${icon("code")}${gettext("Code")}</button>
          </div>
          ${this.versions.length > 1 ? this.#versions() : nothing}
          <button type="button" class="quiet" @click=${() => this.#copy(artifact)}>${icon(this.copied ? "check" : "copy")}<span aria-live="polite">${this.copied ? gettext("Copied") : gettext("Copy")}</span></button>
          <button type="button" class="quiet" title=${gettext("Download")} @click=${() => save(artifact.text, fileNameOf(artifact, artifact.text))}>
            ${icon("download")}<span class="visually-hidden">${gettext("Download")}</span>
          </button>
          ${wide.matches
            ? html`<button type="button" class="quiet" title=${gettext("Full size")} aria-pressed=${String(this.isFull)} @click=${this.#resize}>
                ${icon(this.isFull ? "minimize-2" : "maximize-2")}<span class="visually-hidden">${gettext("Full size")}</span>
              </button>`
            : nothing}
        </div>
      </div>
      ${this.isCode ? this.#code(artifact) : this.#preview(artifact)}
    </dialog>`;
  }

  #versions() {
    const { at, versions } = this;
    return html`<div class="artifact-versions" role="group" aria-label=${gettext("Versions")}>
      <button type="button" class="quiet" aria-disabled=${String(at === 0)} @click=${() => this.#turn(-1)}>
        ${icon("chevron-left")}<span class="visually-hidden">${gettext("Earlier version")}</span>
      </button>
      <span aria-live="polite"><span class="visually-hidden">${gettext("Version")} </span>${at + 1}/${versions.length}</span>
      <button type="button" class="quiet" aria-disabled=${String(at === versions.length - 1)} @click=${() => this.#turn(1)}>
        ${icon("chevron-right")}<span class="visually-hidden">${gettext("Later version")}</span>
      </button>
    </div>`;
  }

  /** @param {number} by */
  #turn(by) {
    if (this.versions[this.at + by]) this.at += by;
  }

  /** Each version has its own frame, so that nothing of another version keeps running. @param {Artifact} artifact */
  #preview(artifact) {
    /** @param {Event} event */
    const fill = (event) => {
      const frame = /** @type {HTMLIFrameElement} */ (event.target);
      // A page that has navigated elsewhere does not get the content again.
      if (frame.dataset.filled) return;
      frame.dataset.filled = "yes";
      frame.contentWindow?.postMessage(pageOf(artifact), "*");
    };
    return html`${repeat(
      [artifact],
      (one) => one,
      () => html`<iframe
        sandbox="allow-scripts"
        referrerpolicy="no-referrer"
        src="/frames/artifact/"
        title=${gettext("Preview of {title}", { title: artifact.title })}
        @load=${fill}
      ></iframe>`,
    )}`;
  }

  /** Markdown was displayed before the panel can be opened, so its element is defined. @param {Artifact} artifact */
  #code({ language, text }) {
    const fence = "`".repeat(Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
    const markdown = `${fence}${language === "svg" ? "xml" : language}\n${text}\n${fence}`;
    return html`<div class="artifact-code"><markdown-text .text=${markdown} .complete=${true}></markdown-text></div>`;
  }

  updated() {
    const dialog = this.querySelector("dialog");
    if (!dialog || dialog.open) return;
    if (wide.matches && !this.isFull) dialog.show();
    else dialog.showModal();
  }

  /** @param {Artifact} artifact */
  async #copy({ text }) {
    this.copied = await copy(text);
    setTimeout(() => (this.copied = false), COPIED_FOR);
  }

  /** An element that covers the page keeps the focus. */
  #resize() {
    this.isFull = !this.isFull;
    this.#close();
    this.requestUpdate();
  }

  /** @param {KeyboardEvent} event */
  #closeByKey(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    this.#close();
  }

  #close() {
    this.querySelector("dialog")?.close();
  }

  #leave() {
    if (this.querySelector("dialog")?.open) return; // Open it again in its other size.
    this.remove(); // Also removes the frame, with everything that runs in it.
    this.opener?.focus();
  }
}
customElements.define("artifact-panel", ArtifactPanel);
