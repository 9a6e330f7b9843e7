/** A page, drawing or other code of an answer next to the conversation: shown in an isolated frame, and edited as text. */

import { html, LitElement, nothing, repeat } from "../../vendor/lit.js";
import { artifactFoot } from "./artifact-foot.js";
import { addToMessage, isIn, messageBox, readDraft, removeFromMessage, writeDraft } from "./artifact-edits.js";
import { blockOf, hasPreview, isPage, made, pageOf, versionsOf } from "./artifacts.js";
import { copy } from "../clipboard.js";
import { fileNameOf, save } from "./files.js";
import { icon } from "../icons.js";
import { notePanel } from "../rail/collapse.js";
import { loadStyles } from "../style-sheets.js";
import { gettext } from "../texts.js";

/**
 * @import { Artifact } from "./artifacts.js"
 * @typedef {"preview" | "code" | "edit"} View
 */

const styles = new URL("../../styles/artifact-panel.css", import.meta.url).href;
const COPIED_FOR = 2_000;
/** True if there is room next to the conversation. */
const wide = matchMedia("(min-width: 64rem)");

/** @param {HTMLElement} block of code @param {HTMLElement} opener that gets the focus back @param {"open" | "edit"} [act] */
export function openBlock(block, opener, act = "open") {
  const { versions, at } = versionsOf(block);
  return open(versions, at, opener, act === "edit");
}

/** @param {string} address of a stored file @param {string} title @param {string} language @param {HTMLElement} opener */
export async function openFile(address, title, language, opener) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(response.statusText);
  return openText(title, language, await response.text(), opener);
}

/** @param {string} title @param {string} language @param {string} text @param {HTMLElement} opener */
export function openText(title, language, text, opener) {
  return open([made(language, title, text)], 0, opener);
}

/** @param {Artifact[]} versions @param {number} at @param {HTMLElement} opener @param {boolean} [isEdited] */
async function open(versions, at, opener, isEdited = false) {
  await loadStyles(styles);
  let panel = document.querySelector("artifact-panel");
  if (!(panel instanceof ArtifactPanel)) {
    panel = new ArtifactPanel();
    document.body.append(panel);
  }
  const shown = /** @type {ArtifactPanel} */ (panel);
  shown.show(versions, at, opener, isEdited);
  await shown.updateComplete;
  shown.focus();
}

export class ArtifactPanel extends LitElement {
  static properties = {
    versions: { state: true },
    at: { state: true },
    view: { state: true },
    isFull: { state: true },
    copied: { state: true },
    discarded: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** @type {Artifact[]} */
    this.versions = [];
    this.at = 0;
    /** @type {View} */
    this.view = "preview";
    this.isFull = false;
    this.copied = false;
    /** @type {Artifact | null} the user's version, which can be restored */
    this.discarded = null;
    /** The reason why the changes could not be added to the message, or "". */
    this.problem = "";
    /** @type {HTMLElement | null} */
    this.opener = null;
  }

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    document.addEventListener("input", this.#redraw); // The user may change the message.
    messageBox()?.addEventListener("ask", this.#noteSent);
    wide.addEventListener("change", this.#reopen);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    document.removeEventListener("input", this.#redraw);
    messageBox()?.removeEventListener("ask", this.#noteSent);
    wide.removeEventListener("change", this.#reopen);
    notePanel(false);
  }

  /**
   * Show the versions, and the user's changes that were not sent yet.
   * @param {Artifact[]} versions @param {number} at @param {HTMLElement} opener @param {boolean} isEdited whether to begin with the text
   */
  show(versions, at, opener, isEdited) {
    Object.assign(this, { versions, at, opener, discarded: null, problem: "" });
    this.view = isEdited ? "edit" : hasPreview(versions[at]) ? "preview" : "code";
    const draft = readDraft(versions[at]);
    if (draft && versions.some(({ text }) => text === draft)) writeDraft(versions[at], "");
    else if (draft) this.#addOwn(draft);
    else if (isEdited) this.#edit();
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
            ${hasPreview(artifact) ? this.#way("preview", "eye", gettext("Preview")) : nothing}
            ${this.#way("code", "code", gettext("Code"))}
            ${messageBox() ? this.#way("edit", "pencil", gettext("Edit")) : nothing}
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
      ${this.#content(artifact)} ${artifactFoot(artifact, this.#editing(artifact), this.#acts)}
    </dialog>`;
  }

  /** @param {View} view @param {string} symbol @param {string} words */
  #way(view, symbol, words) {
    const choose = () => (view === "edit" ? this.#edit() : this.#show(view));
    return html`<button type="button" class="quiet" aria-pressed=${String(this.view === view)} @click=${choose}>${icon(symbol)}${words}</button>`;
  }

  /** Without the user's version if it has no changes. @param {View} view */
  #show(view) {
    const own = this.versions[this.at];
    if (own.own === "draft" && !this.#isChanged(own)) this.#remove(own);
    this.view = view;
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
    const next = this.versions[this.at + by];
    if (!next) return;
    this.at += by;
    // Only the user's own version is edited.
    if (this.view === "edit" && next.own !== "draft") this.view = "code";
  }

  /** @param {Artifact} artifact */
  #content(artifact) {
    if (this.view === "edit") return this.#editor(artifact);
    if (this.view === "code" || !hasPreview(artifact)) return this.#code(blockOf({ ...artifact, language: artifact.language === "svg" ? "xml" : artifact.language, written: "" }));
    return isPage(artifact) ? this.#preview(artifact) : this.#code(artifact.text);
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

  /** Markdown was displayed before the panel can be opened, so its element is defined. @param {string} markdown */
  #code(markdown) {
    return html`<div class="artifact-code"><markdown-text .text=${markdown} .complete=${true}></markdown-text></div>`;
  }

  /** @param {Artifact} artifact */
  #editor({ title, language, text }) {
    return html`<textarea class="artifact-editor" aria-label=${gettext("Text of {title}", { title })} dir=${language in { markdown: 0, md: 0, text: 0 } ? "auto" : "ltr"}
      spellcheck="false" autocapitalize="off" .value=${text} @input=${this.#typed}></textarea>`;
  }

  /** @param {Artifact} artifact */
  #editing(artifact) {
    return { isDiscarded: this.discarded !== null, isChanged: this.#isChanged(artifact), isAdded: isIn(artifact), problem: this.problem };
  }

  #acts = {
    add: () => this.#add(this.versions[this.at]),
    discard: () => this.#discard(),
    remove: () => {
      removeFromMessage(this.versions[this.at]);
      this.requestUpdate();
    },
    restore: () => this.#restore(),
  };

  /** @param {Artifact} own */
  #isChanged(own) {
    return own.text.trim() !== "" && this.versions.every((one) => one === own || one.text !== own.text);
  }

  /** Begins with the shown version, unless the user has already changed one. */
  #edit() {
    const known = this.versions.findIndex(({ own }) => own === "draft");
    if (known < 0) this.#addOwn(this.versions[this.at].text);
    else this.at = known;
    this.view = "edit";
    void this.updateComplete.then(() => this.focus());
  }

  focus() {
    this.querySelector(this.view === "edit" ? "textarea" : "h2")?.focus();
  }

  /** @param {string} text */
  #addOwn(text) {
    this.versions = [...this.versions, { ...this.versions[this.at], text, own: "draft" }];
    this.at = this.versions.length - 1;
    this.discarded = null;
  }

  /** @param {Event} event */
  #typed(event) {
    const { value } = /** @type {HTMLTextAreaElement} */ (event.target);
    const own = { ...this.versions[this.at], text: value };
    this.versions = this.versions.with(this.at, own);
    this.problem = "";
    writeDraft(own, this.#isChanged(own) ? value : "");
  }

  /** @param {Artifact} own */
  #remove(own) {
    this.versions = this.versions.filter((one) => one !== own);
    this.at = this.versions.length - 1;
  }

  #discard() {
    const own = this.versions[this.at];
    removeFromMessage(own);
    writeDraft(own, "");
    this.#remove(own);
    this.view = hasPreview(own) ? "preview" : "code";
    if (this.#isChanged(own)) this.discarded = own;
    void this.updateComplete.then(() => /** @type {HTMLElement | null} */ (this.querySelector(".artifact-foot button, h2"))?.focus());
  }

  #restore() {
    const own = this.discarded;
    if (!own) return;
    this.#addOwn(own.text);
    writeDraft(own, own.text);
    this.#edit();
  }

  /** @param {Artifact} own */
  #add(own) {
    this.problem = addToMessage(own);
    if (this.problem) return;
    if (wide.matches && !this.isFull) {
      this.requestUpdate();
      return;
    }
    this.opener = messageBox();
    this.#close();
  }

  #redraw = () => this.requestUpdate();

  /** The user's version is part of the conversation now. @param {Event} event */
  #noteSent = (event) => {
    const { text } = /** @type {CustomEvent<{text: string}>} */ (event).detail;
    this.versions = this.versions.map((one) => {
      if (one.own !== "draft" || !isIn(one, text)) return one;
      writeDraft(one, "");
      return { ...one, own: "sent" };
    });
    if (this.view === "edit" && this.versions[this.at]?.own === "sent") this.view = "code";
  };

  updated() {
    const dialog = this.querySelector("dialog");
    if (!dialog || dialog.open) return;
    const isBeside = wide.matches && !this.isFull;
    if (isBeside) dialog.show();
    else dialog.showModal();
    notePanel(isBeside);
  }

  /** @param {Artifact} artifact */
  async #copy({ text }) {
    this.copied = await copy(text);
    setTimeout(() => (this.copied = false), COPIED_FOR);
  }

  #resize() {
    this.isFull = !this.isFull;
    this.#reopen();
  }

  /** An element that covers the page keeps the focus; one next to the page does not. */
  #reopen = () => {
    this.#close();
    this.requestUpdate();
  };

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
