/** The dialog for sharing a conversation: the content of a link, its audience and expiry, and the existing links. */

import { html, LitElement, nothing, repeat } from "../../vendor/lit.js";
import { copy } from "../clipboard.js";
import { momentText } from "../durations.js";
import { icon } from "../icons.js";
import { get, post, postForm } from "../requests.js";
import { gettext, ngettext, pgettext } from "../texts.js";

/**
 * @typedef {{id: number, address: string, title: string, steps: boolean, files: boolean,
 *   audience: "people" | "anyone", created_at: string, expires_at: string | null}} Link
 * @typedef {{shares: Link[], anyone: boolean, answers: number, until: string}} Shared `answers` that a link would show, `until` the last question among them
 */

const COPIED_FOR = 2_000;
const LOST = gettext("The server can’t be reached. Check your connection and try again.");
const TIMES = {
  1: ngettext("{count} day", "{count} days", 1),
  7: ngettext("{count} day", "{count} days", 7),
  30: ngettext("{count} day", "{count} days", 30),
  never: pgettext("a link never expires", "Never"),
};
const USUAL = "7";

/** Dispatches `said` (detail: the text for screen readers). */
export class ShareDialog extends LitElement {
  static properties = {
    address: { state: true },
    shared: { state: true },
    problem: { state: true },
    copied: { state: true },
    busy: { state: true },
  };

  constructor() {
    super();
    /** The URL of the shared conversation; "" while the dialog is closed. */
    this.address = "";
    /** @type {Shared | null} */
    this.shared = null;
    this.problem = "";
    /** The link that was copied, 0 for none. */
    this.copied = 0;
    this.busy = false;
    /** @type {Element | null} the element that had the focus */
    this.opener = null;
  }

  createRenderRoot() {
    return this;
  }

  /** @param {string} address the URL of a conversation */
  async ask(address) {
    this.opener = document.activeElement;
    this.problem = "";
    this.shared = null;
    this.address = address;
    await this.#load();
  }

  updated() {
    const dialog = this.querySelector("dialog");
    if (dialog && !dialog.open) dialog.showModal();
  }

  async #load() {
    const { address } = this;
    const told = await get(`${address}shares/`);
    if (address !== this.address) return;
    this.shared = told ?? this.shared;
    if (!told) this.problem = LOST;
  }

  render() {
    const { address, shared } = this;
    if (!address) return nothing;
    return html`<dialog class="share-dialog" aria-labelledby="share-heading" @close=${this.#closed}>
      <h2 id="share-heading">${gettext("Share this conversation")}</h2>
      ${shared ? this.#form(shared) : nothing} ${shared || this.problem ? nothing : html`<p class="working">${gettext("Loading…")}</p>`}
      ${this.problem ? html`<p class="field-error" role="alert">${this.problem}</p>` : nothing}
      ${shared?.shares.length ? this.#links(shared.shares) : nothing}
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${this.#close}>${gettext("Close")}</button>
        ${shared?.answers ? html`<button class="button ${shared.shares.length ? "" : "primary"}" form="share-form" aria-disabled=${this.busy ? "true" : nothing}>${gettext("Create link")}</button>` : nothing}
      </div>
    </dialog>`;
  }

  /** @param {Shared} shared */
  #form({ answers, until, anyone }) {
    if (!answers) return html`<p>${gettext("There is no answer to share yet. Try again after the first answer.")}</p>`;
    return html`<form id="share-form" @submit=${this.#create}>
      <p>
        ${ngettext("A shared link shows the conversation as it is now, including its answer.", "A shared link shows the conversation as it is now, including its {count} answers.", answers)}
        ${until ? html`${gettext("Last question included:")} <q dir="auto">${until}</q>.` : nothing}
        ${gettext("Later messages are not included.")}
      </p>
      <fieldset>
        <legend>${gettext("Include")}</legend>
        ${tick("steps", gettext("Steps"), gettext("Tool calls and their results"))}
        ${tick("files", gettext("Files"), gettext("Your attachments and files from answers"))}
      </fieldset>
      ${anyone
        ? html`<fieldset>
            <legend>${gettext("Who can open the link")}</legend>
            ${choice("people", gettext("Signed-in users"), true)}
            ${choice("anyone", gettext("Anyone with the link, without signing in"), false)}
          </fieldset>`
        : html`<p>${gettext("Signed-in users can open the link.")}</p>`}
      <fieldset class="segmented">
        <legend>${gettext("Expires after")}</legend>
        <div>
          ${Object.entries(TIMES).map(([value, words]) => html`<label><input type="radio" name="expires" value=${value} ?checked=${value === USUAL} />${words}</label>`)}
        </div>
      </fieldset>
    </form>`;
  }

  /** @param {Link[]} links */
  #links(links) {
    return html`<section class="share-links" aria-labelledby="share-links-heading">
      <h3 id="share-links-heading" tabindex="-1">${gettext("Links to this conversation")}</h3>
      <ul>
        ${repeat(
          links,
          ({ id }) => id,
          (link, place) => this.#link(link, place === 0),
        )}
      </ul>
    </section>`;
  }

  /** @param {Link} link @param {boolean} isNewest */
  #link(link, isNewest) {
    const { id, address, created_at } = link;
    const name = momentText(created_at);
    const isCopied = this.copied === id;
    return html`<li data-link=${id}>
      <input readonly aria-label=${gettext("Link from {moment}", { moment: name })} .value=${address} @focus=${select} />
      <p>${wordsOf(link)}</p>
      <div class="share-buttons">
        <button type="button" class="button ${isNewest ? "primary" : ""}" data-copy @click=${() => this.#copy(link)}>
          ${icon(isCopied ? "check" : "copy")}${isCopied ? gettext("Copied") : gettext("Copy link")}<span class="visually-hidden"> ${gettext("from {moment}", { moment: name })}</span>
        </button>
        <button type="button" class="button danger" @click=${() => this.#revoke(link)}>
          ${gettext("Revoke")}<span class="visually-hidden"> ${gettext("the link from {moment}", { moment: name })}</span>
        </button>
      </div>
    </li>`;
  }

  /** @param {SubmitEvent} event */
  async #create(event) {
    event.preventDefault();
    if (this.busy) return;
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    this.busy = true;
    this.problem = "";
    const { address } = this;
    const fields = Object.fromEntries([...form].map(([name, value]) => [name, String(value)]));
    const { status, told } = await postForm(`${address}shares/`, fields);
    this.busy = false;
    if (address !== this.address || !this.shared) return;
    if (status !== 201) {
      this.problem = told?.error?.message ?? LOST;
      return;
    }
    this.shared = { ...this.shared, shares: [told.share, ...this.shared.shares] };
    this.#say(gettext("Link created."));
    await this.updateComplete;
    const made = this.querySelector(`[data-link="${told.share.id}"] [data-copy]`);
    if (made instanceof HTMLElement) made.focus();
  }

  /** @param {Link} link */
  async #copy({ id, address }) {
    if (!(await copy(address))) return;
    this.copied = id;
    this.#say(gettext("Link copied."));
    setTimeout(() => (this.copied = 0), COPIED_FOR);
  }

  /** @param {Link} link */
  async #revoke({ id }) {
    this.problem = "";
    if (!(await post(`/shares/${id}/revoke/`, {}))) {
      this.problem = gettext("The link was not revoked. Check your connection and try again.");
      return;
    }
    const { shared } = this;
    if (shared) this.shared = { ...shared, shares: shared.shares.filter((one) => one.id !== id) };
    this.#say(gettext("Link revoked."));
    await this.updateComplete;
    const next = this.querySelector("#share-links-heading") ?? this.querySelector("#share-form input");
    if (next instanceof HTMLElement) next.focus();
  }

  #close() {
    this.querySelector("dialog")?.close();
  }

  #closed() {
    this.address = "";
    if (this.opener instanceof HTMLElement && this.opener.isConnected) this.opener.focus();
  }

  /** @param {string} words */
  #say(words) {
    this.dispatchEvent(new CustomEvent("said", { detail: words }));
  }
}
customElements.define("share-dialog", ShareDialog);

/** @param {string} name @param {string} words @param {string} help */
function tick(name, words, help) {
  return html`<label><input type="checkbox" name=${name} value="true" /><span>${words}<small>${help}</small></span></label>`;
}

/** @param {string} value @param {string} words @param {boolean} checked */
function choice(value, words, checked) {
  return html`<label><input type="radio" name="audience" value=${value} ?checked=${checked} /><span>${words}</span></label>`;
}

/** @param {Link} link */
function wordsOf({ audience, steps, files, expires_at }) {
  return [
    audience === "anyone" ? gettext("Anyone with the link") : gettext("Signed-in users"),
    steps && gettext("with steps"),
    files && gettext("with files"),
    expires_at ? gettext("expires {moment}", { moment: momentText(expires_at) }) : gettext("does not expire"),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** @param {FocusEvent} event */
function select({ target }) {
  if (target instanceof HTMLInputElement) target.select();
}
