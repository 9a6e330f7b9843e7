/** The switch for notifications in this browser. Only its button asks for permission, never a page load. */

import { html, LitElement, nothing } from "../../vendor/lit.js";
import { gettext } from "../texts.js";

const KEY = "notices";

/** True if the user wants notifications in this browser, and the browser allows them. */
export function isOn() {
  return isPossible() && Notification.permission === "granted" && wish() === "on";
}

function isPossible() {
  return "Notification" in window && isSecureContext;
}

/** @returns {string | null} */
function wish() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** Shown only if the browser supports notifications. */
export class BrowserNotices extends LitElement {
  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    this.hidden = !isPossible();
  }

  render() {
    const on = isOn();
    const isForbidden = isPossible() && Notification.permission === "denied";
    return html`<h3>${gettext("Notifications in this browser")}</h3>
      <p role="status">${this.#state(on)}</p>
      ${isForbidden
        ? nothing
        : html`<div class="form-actions">
            <button type="button" class="button" @click=${on ? this.#switchOff : this.#switchOn}>
              ${on ? gettext("Turn off notifications") : gettext("Turn on notifications")}
            </button>
          </div>`}`;
  }

  /** @param {boolean} on */
  #state(on) {
    if (on) return gettext("Notifications are on. You’re notified of answers and questions in conversations that you aren’t viewing. Notifications don’t include their content.");
    if (isPossible() && Notification.permission === "denied")
      return gettext("Notifications are blocked for this site. Allow them in your browser’s settings first.");
    return gettext("Notifications are off.");
  }

  async #switchOn() {
    const permission = await Notification.requestPermission();
    if (permission === "granted") localStorage.setItem(KEY, "on");
    this.requestUpdate();
  }

  #switchOff() {
    localStorage.setItem(KEY, "off");
    this.requestUpdate();
  }
}
customElements.define("browser-notices", BrowserNotices);

// Users without saved settings are probably in their browser's time zone.
const zone = document.querySelector("#notice-form[data-new] [name=time_zone]");
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone instanceof HTMLSelectElement && zone.selectedOptions[0]?.hasAttribute("selected") && [...zone.options].some(({ value }) => value === own)) {
  zone.value = own;
  zone.form?.dispatchEvent(new Event("saved")); // The choice list reads the value again.
}
