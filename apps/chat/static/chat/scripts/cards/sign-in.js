/** The card of a call that needs the user's account at another server. */

import { html } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { gettext } from "../texts.js";

/** @import { InteractionAnswer } from "../session/frames.js" */
/** @import { Interaction } from "../session/interactions.js" */

/**
 * @param {Interaction} interaction
 * @param {boolean} isOpen true if it can be answered now
 * @param {(answer: InteractionAnswer) => void} send
 */
export function signInCard({ asked }, isOpen, send) {
  // The sign-in continues in another tab; the server notifies this one when it is done.
  return html`<p>
      ${gettext("You’ll sign in on this host:")} <strong>${asked.host}</strong>. ${gettext("Tools can then use your account on this server:")}
      <strong>${asked.server}</strong>.
    </p>
    <div class="interaction-buttons">
      <a class="button primary" href="/connect/${encodeURIComponent(asked.account)}/" target="_blank" rel="noopener"
        >${icon("external-link")}${gettext("Connect")}<span class="visually-hidden"> ${gettext("(opens in a new tab)")}</span></a
      >
      <button type="button" class="button" ?disabled=${!isOpen} @click=${() => send({ outcome: "skipped" })}>
        ${gettext("Skip")}
      </button>
    </div>`;
}
