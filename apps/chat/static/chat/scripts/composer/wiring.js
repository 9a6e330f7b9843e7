/** Connects the message box with its menus, prompts, commands, shortcuts, and the question in the URL. */

import { takeAddressQuestion } from "./address-question.js";
import { Choices } from "./choices.js";
import { offeredModels } from "../session/offered-models.js";
import { pageCommands } from "./commands.js";
import { offerCommands } from "./palette-commands.js";
import { afterPainting } from "../painting.js";
import { isSendKey } from "../preferences.js";
import { listenForShortcuts, ShortcutList } from "./shortcuts.js";
import { gettext } from "../texts.js";

/**
 * @import { Announcer } from "../notices/announcer.js"
 * @import { Prompt, RecentFile } from "./choices.js"
 * @import { ChatComposer } from "./composer.js"
 * @import { Session } from "../session/session.js"
 * @import { Starter } from "../log/starters.js"
 */

/**
 * @param {object} page
 * @param {ChatComposer} page.composer
 * @param {Session} page.session
 * @param {Announcer} page.announcer
 * @param {() => Starter[]} page.starters the application's starters
 * @param {() => string} page.base URL of the application
 * @param {(problem: string) => void} page.tell
 * @param {(href: string) => Promise<void>} page.go opens another conversation in place
 */
export function wireComposer({ composer, session, announcer, starters, base, tell, go }) {
  const list = new ShortcutList();
  document.body.append(list);
  const commands = pageCommands({ session, composer, announcer, go, showShortcuts: () => list.open() });
  const choices = new Choices(base, () => session.conversation.id);
  list.commands = choices.commands = commands;
  choices.starters = starters();
  listenForShortcuts(commands);
  offerCommands(commands);

  const acts = {
    /** @param {Prompt} prompt */
    prompt: (prompt) => {
      if (prompt.text.includes("{{")) void fillIn(prompt, composer);
      else composer.insert(prompt.text);
    },
    /** @param {string} slug */
    application: (slug) => void goTo(`/chat/${slug}/`, composer, go),
    /** @param {RecentFile} file */
    attach: (file) => composer.uploads?.borrow(file),
  };
  composer.offer = (sign) => choices.groups(sign, acts);

  /** The user waits for the conversation, and the server handles one request at a time. */
  const loadChoices = () => {
    if (composer.ended) return;
    if (session.loaded) void choices.load();
    else session.addEventListener("opened", () => afterPainting(() => void choices.load()), { once: true });
  };
  choices.addEventListener("change", () => {
    composer.applications = choices.offered.applications.map(({ slug, title, detail }) => ({ value: slug, title, detail }));
    composer.efforts = choices.offered.efforts;
    composer.effort = session.effort = choices.offered.effort;
    composer.models = choices.offered.models;
    composer.model = session.deployment = choices.offered.model;
    composer.tools = choices.offered.tools ?? [];
    session.tools = Object.fromEntries(composer.tools.map(({ name, on }) => [name, on]));
    offeredModels.take(choices.offered.models);
    composer.menu.refresh();
  });
  composer.addEventListener("application", (event) => acts.application(/** @type {CustomEvent<string>} */ (event).detail));
  composer.addEventListener("effort", async (event) => {
    const effort = /** @type {CustomEvent<string>} */ (event).detail;
    if (await choices.choose(effort)) announcer.say(gettext("Thinking changed. Applies from your next message."));
    else tell(gettext("That didn’t work. Check your connection and try again."));
  });
  composer.addEventListener("model", async (event) => {
    const model = /** @type {CustomEvent<string>} */ (event).detail;
    if (await choices.chooseModel(model)) announcer.say(gettext("Model changed. Applies from your next message."));
    else tell(gettext("That didn’t work. Check your connection and try again."));
  });
  composer.addEventListener("tool", async (event) => {
    const { name, on } = /** @type {CustomEvent<{name: string, on: boolean}>} */ (event).detail;
    if (await choices.switchTool(name, on)) announcer.say(gettext("Tools changed. Applies from your next message."));
    else tell(gettext("That didn’t work. Check your connection and try again."));
  });
  session.addEventListener("switched", () => {
    choices.starters = starters();
    choices.forget();
    loadChoices();
  });
  loadChoices();
  void composer.updateComplete.then(() => fillFromAddress(composer, tell));
}

/** Insert a prompt after the user has filled in its fields. @param {Prompt} prompt @param {ChatComposer} composer */
async function fillIn(prompt, composer) {
  const { PromptDialog, variablesOf } = await import("./prompt-dialog.js");
  if (!variablesOf(prompt.text).length) return composer.insert(prompt.text);
  const dialog = new PromptDialog(isSendKey);
  dialog.addEventListener("filled", (event) => composer.insert(/** @type {CustomEvent<string>} */ (event).detail));
  dialog.addEventListener("left", () => composer.focus());
  for (const name of ["filled", "left"]) dialog.addEventListener(name, () => dialog.remove());
  dialog.prompt = prompt;
  document.body.append(dialog);
}

/**
 * The text is appended to the draft of the other application.
 * @param {string} address @param {ChatComposer} composer @param {(href: string) => Promise<void>} go
 */
async function goTo(address, composer, go) {
  const text = composer.text.trim();
  const before = composer.drafts?.read(address) ?? "";
  if (text) composer.drafts?.write(address, before ? `${before}\n\n${text}` : text);
  if (text) composer.fill("");
  await go(new URL(address, location.href).href);
}

/** @param {ChatComposer} composer @param {(problem: string) => void} tell */
function fillFromAddress(composer, tell) {
  const found = takeAddressQuestion(composer.limit);
  if (!found || composer.disabled || composer.ended) return;
  composer.fill(composer.text ? `${composer.text}\n\n${found.text}` : found.text);
  if (found.isCut) tell(gettext("The question in the link was too long, so only its beginning was used. Check it before you send it."));
}
