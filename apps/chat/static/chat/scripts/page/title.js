/** The titles of the tab and of the conversation, with the number of other conversations that need attention. */

import { CallingConversations, dotIcon } from "../notices/attention.js";
import { isWaiting } from "./cards.js";
import { element, history, page } from "./parts.js";
import { session } from "./session.js";
import { gettext } from "../texts.js";

export const calling = new CallingConversations();
const place = element("conversation-title", HTMLButtonElement);

/** Show the title of the open conversation, and the number of others that wait for the user or have unread answers. */
export function entitle() {
  const { id, title } = session.conversation;
  const others = calling.count(id, history.rows.all);
  const waits = isWaiting() ? gettext("Waiting for you") : "";
  const count = others ? `(${others}) ` : "";
  document.title = count + [waits, title, page.title].filter(Boolean).join(" · ");
  dotIcon(others > 0 || waits !== "");
  place.textContent = title || (id ? gettext("Untitled") : gettext("New chat"));
  place.disabled = !id;
}
