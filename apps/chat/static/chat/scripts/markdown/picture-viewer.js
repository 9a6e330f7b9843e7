/** The pictures of a message in a dialog, one at a time, fitted or in full size. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { loadStyles } from "../style-sheets.js";
import { gettext } from "../texts.js";

const styles = new URL("../../styles/picture-viewer.css", import.meta.url).href;

/** @param {HTMLElement} place of the picture that was chosen */
export async function view(place) {
  await loadStyles(styles);
  const message = place.closest("chat-answer, .turn, markdown-text") ?? document.body;
  const viewer = new PictureViewer();
  viewer.places = /** @type {HTMLElement[]} */ ([...message.querySelectorAll("[data-zoom]")]).filter((one) => one.querySelector("img"));
  viewer.at = Math.max(0, viewer.places.indexOf(place));
  document.body.append(viewer);
}

export class PictureViewer extends LitElement {
  static properties = { at: { state: true }, isWhole: { state: true } };

  constructor() {
    super();
    /** @type {HTMLElement[]} */
    this.places = [];
    this.at = 0;
    /** True if the picture is shown in full size and can be scrolled. */
    this.isWhole = false;
  }

  createRenderRoot() {
    return this;
  }

  render() {
    const picture = this.places[this.at]?.querySelector("img");
    if (!picture) return nothing;
    const many = this.places.length > 1;
    return html`<dialog class="picture-viewer" aria-label=${gettext("Picture")} @close=${this.#leave} @keydown=${this.#steer} @click=${this.#closeOutside}>
      <div class="picture-head">
        <p class="picture-words" dir="auto" aria-live="polite">
          ${many ? html`<span class="picture-number">${gettext("Image {number} of {count}", { number: this.at + 1, count: this.places.length })}</span>` : nothing}
          ${picture.alt}
        </p>
        <button type="button" class="quiet" aria-pressed=${String(this.isWhole)} title=${gettext("Actual size")} @click=${() => (this.isWhole = !this.isWhole)}>
          ${icon(this.isWhole ? "zoom-out" : "zoom-in")}<span class="visually-hidden">${gettext("Actual size")}</span>
        </button>
        <a class="quiet" href=${picture.src} download title=${gettext("Download")}>${icon("download")}<span class="visually-hidden">${gettext("Download")}</span></a>
        <button type="button" class="quiet" title=${gettext("Close")} autofocus @click=${this.#close}>${icon("x")}<span class="visually-hidden">${gettext("Close")}</span></button>
      </div>
      <div class="picture-space ${this.isWhole ? "whole" : ""}" tabindex="0" role="group" aria-label=${gettext("Picture")}>
        <img src=${picture.src} alt=${picture.alt} />
      </div>
      ${many
        ? html`<nav aria-label=${gettext("Images")}>
            <button type="button" class="button" ?disabled=${this.at === 0} @click=${() => this.#turn(-1)}>${icon("chevron-left")}${gettext("Previous")}</button>
            <button type="button" class="button" ?disabled=${this.at === this.places.length - 1} @click=${() => this.#turn(1)}>${gettext("Next")}${icon("chevron-right")}</button>
          </nav>`
        : nothing}
    </dialog>`;
  }

  updated() {
    const dialog = this.querySelector("dialog");
    if (dialog && !dialog.open) dialog.showModal();
  }

  /** @param {KeyboardEvent} event */
  #steer(event) {
    const isLeft = event.key === "ArrowLeft";
    if ((!isLeft && event.key !== "ArrowRight") || this.isWhole) return;
    event.preventDefault();
    this.#turn(isLeft === (getComputedStyle(this).direction === "ltr") ? -1 : 1);
  }

  /** @param {number} by */
  #turn(by) {
    const at = this.at + by;
    if (!this.places[at]) return;
    this.at = at;
    this.isWhole = false;
    // A button that this disables would lose the focus.
    void this.updateComplete.then(() => {
      if (!this.contains(document.activeElement)) this.#go()?.focus();
    });
  }

  /** @returns {HTMLElement | null} a button that leads on from here */
  #go() {
    return this.querySelector("nav button:not(:disabled)");
  }

  /** @param {Event} event */
  #closeOutside(event) {
    if (event.target instanceof Element && event.target.matches("dialog, .picture-space")) this.#close();
  }

  #close() {
    this.querySelector("dialog")?.close();
  }

  #leave() {
    const place = this.places[this.at];
    this.remove();
    place?.focus();
  }
}
customElements.define("picture-viewer", PictureViewer);
