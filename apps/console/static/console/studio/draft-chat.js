// A conversation with the page's current draft. It is not stored.
//
// Next to the answer, it shows the raw steps, the model requests, tokens and time. The live version
// can answer the same question next to it.

import "../../chat/scripts/markdown/markdown.js";
import { part, reasonOf } from "../parts.js";
import { button, element, newId } from "./elements.js";
import { readEvents } from "./events.js";
import { piece, sourceTitle } from "./prompt-layers.js";
import { plural } from "./tools/paths.js";

/**
 * @import { Message, Starter } from "./data.js"
 * @import { Store } from "./store.js"
 *
 * @typedef {{source: string, text: string, tokens: number}} Piece a part of the request to the model
 * @typedef {{text: HTMLElement, name: HTMLElement, time: HTMLElement}} Stage
 * @typedef {{line: HTMLElement, model: string, reason: string, count: number}} Failure the failed attempts to call a model, in one line
 */

export class DraftChat {
  /** @type {Message[]} with the answers of the draft */
  conversation = [];
  /** @type {Message[]} the same questions with the answers of the live version, if it was asked too */
  live = [];
  /** @type {{text: string, lengths: [number, number], manifest: string} | null} `lengths` contains the lengths of both conversations before the question */
  asked = null;
  /** The question of an earlier run. @type {Message | undefined} */
  replayed;
  /** @type {AbortController | null} */
  asking = null;

  /** @param {HTMLElement} root @param {Store} store */
  constructor(root, store) {
    this.store = store;
    this.log = part(root, "[data-log]", HTMLElement);
    this.form = part(root, "form", HTMLFormElement);
    this.input = part(this.form, "textarea", HTMLTextAreaElement);
    this.status = part(root, "[role=status]", HTMLElement);
    this.send = part(this.form, "[data-send]", HTMLButtonElement);
    this.stop = part(this.form, "[data-stop]", HTMLButtonElement);
    this.again = part(root, "[data-again]", HTMLButtonElement);
    this.restart = part(root, "[data-restart]", HTMLButtonElement);
    this.beside = part(root, "[data-beside]", HTMLInputElement);
    // On a phone, the chat is a sheet; see `Bar.toChat`.
    root.querySelector("[data-close]")?.addEventListener("click", () => root.hidePopover());
    root.addEventListener("toggle", (event) => {
      if (event.target === root && event instanceof ToggleEvent && event.newState === "closed") root.popover = null;
    });
    this.begin();
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.input.value.trim();
      if (!text || this.asking) return;
      this.input.value = "";
      this.ask(text);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.stop.addEventListener("click", () => this.asking?.abort());
    this.again.addEventListener("click", () => this.replay());
    this.restart.addEventListener("click", () => this.begin());
    store.subscribe((what) => what === "change" && this.offerReplay());
    store.subscribe(() => this.offerComparison());
    this.offerComparison();
    this.take(store.data.replay);
  }

  /** Before the first version is published, there is nothing to compare with. */
  offerComparison() {
    this.beside.disabled = !this.store.state.number;
    if (this.beside.disabled) this.beside.checked = false;
  }

  /** The turns of an earlier run, whose last question can be sent to the draft. @param {Message[]} turns */
  take(turns) {
    const question = turns.at(-1);
    if (question?.role !== "user") return;
    this.conversation = turns.slice(0, -1);
    this.live = [...this.conversation];
    this.replayed = question;
    this.input.value = question.content;
    this.status.textContent = "The run's question is in the box below. Send it to the draft.";
    if (!this.conversation.length) return;
    const said = this.conversation.map(({ role, name, content }) =>
      element(
        role === "user" ? "div" : "article",
        { class: role === "user" ? "studio-said" : "studio-answer", "data-role": role },
        name ? element("p", { class: "studio-quiet" }, name) : "",
        element("p", {}, content),
      ),
    );
    this.log.replaceChildren(...said);
  }

  begin() {
    this.asking?.abort();
    this.conversation = [];
    this.live = [];
    this.asked = null;
    this.replayed = undefined;
    this.log.replaceChildren(
      element("p", { class: "studio-quiet" }, "Message the draft. It uses your current input, saved or not; the conversation is not stored."),
      this.starters(),
    );
    this.again.disabled = true;
    this.status.textContent = "";
  }

  starters() {
    /** @type {Starter[]} */
    const list = this.store.get("conversation_starters.starters") ?? [];
    return element(
      "p",
      { class: "studio-actions" },
      ...list.filter(({ text }) => text).map(({ title, text }) => button(title || text, () => this.asking || this.ask(text))),
    );
  }

  offerReplay() {
    if (!this.conversation.length) {
      this.log.lastElementChild?.replaceWith(this.starters());
      return;
    }
    if (this.asked && JSON.stringify(this.store.manifest) !== this.asked.manifest) {
      this.status.textContent = "The draft has changed since this answer.";
    }
  }

  // Send the last question again, to the current draft.
  replay() {
    if (this.asking || !this.asked) return;
    const { text, lengths } = this.asked;
    [this.conversation.length, this.live.length] = lengths;
    this.ask(text);
  }

  /** @param {string} text */
  async ask(text) {
    const { conversation, live } = this;
    this.asked = { text, lengths: [conversation.length, live.length], manifest: JSON.stringify(this.store.manifest) };
    if (!conversation.length) this.log.replaceChildren();
    const { name } = this.replayed?.content.trim() === text ? this.replayed : { name: undefined };
    for (const one of [conversation, live]) one.push({ role: "user", content: text, ...(name && { name }) });
    this.log.append(element("div", { class: "studio-said" }, element("p", {}, text)));
    const which = this.beside.checked ? ["draft", "live"] : ["draft"];
    const row = element("div", { class: "studio-answers" });
    this.log.append(row);
    const answers = which.map((name) => new Answer(name, this, which.length > 1));
    row.append(...answers.map(({ root }) => root));
    this.asking = new AbortController();
    const { signal } = this.asking;
    this.busy(true);
    this.status.textContent = "Answering…";
    const sent = [structuredClone(conversation), structuredClone(live)];
    await Promise.all(answers.map((answer, place) => answer.run(sent[place], signal)));
    this.asking = null;
    this.busy(false);
    const [draft, other = draft] = answers;
    this.status.textContent = draft.end;
    if (draft.message) conversation.push(draft.message);
    if (other.message) live.push(other.message);
  }

  /** Scroll to the end of the answer, unless the user scrolled up. The question stays in view. */
  follow() {
    const { log } = this;
    if (log.scrollHeight - log.scrollTop - log.clientHeight >= 200) return;
    const question = log.lastElementChild?.previousElementSibling;
    const top = question instanceof HTMLElement ? question.offsetTop - log.offsetTop : Infinity;
    log.scrollTop = Math.min(top, log.scrollHeight);
  }

  /** @param {boolean} isBusy */
  busy(isBusy) {
    this.send.hidden = isBusy;
    this.stop.hidden = !isBusy;
    this.again.disabled = isBusy || !this.asked;
    this.log.setAttribute("aria-busy", String(isBusy));
  }
}

class Answer {
  /** @type {Map<string, Stage>} */
  stages = new Map();
  /** The tools of stages whose calls have not been reported yet. @type {string[]} */
  called = [];
  /** @type {Map<string, HTMLElement>} */
  notices = new Map();
  /** The last request to a model. @type {HTMLElement | undefined} */
  sent;
  /** @type {Failure | undefined} */
  failure;
  /** @type {Message | undefined} */
  message;

  /** @param {string} which @param {DraftChat} chat @param {boolean} isNamed */
  constructor(which, chat, isNamed) {
    this.which = which;
    this.chat = chat;
    this.written = "";
    this.end = "";
    this.text = element("markdown-text");
    this.steps = element("div", { class: "studio-steps" });
    this.facts = element("p", { class: "studio-quiet" });
    const name = which === "live" ? `Live version ${chat.store.state.number}` : "Draft";
    this.root = element(
      "article",
      { class: "studio-answer", "aria-label": `Answer of the ${name.toLowerCase()}`, "data-which": which },
      isNamed ? element("h3", {}, name) : "",
      this.steps,
      this.text,
      this.facts,
    );
  }

  /** @param {Message[]} messages @param {AbortSignal} signal */
  async run(messages, signal) {
    const { store } = this.chat;
    const body = { ...store.current, which: this.which, messages };
    try {
      const response = await store.send("answer", body, signal);
      if (!response.ok) {
        const answer = await response.json().catch(() => ({}));
        throw new Error(answer.message ?? `The request failed (status ${response.status}).`);
      }
      await readEvents(response.body, (name, data) => this.take(name, data));
    } catch (error) {
      if (signal.aborted) this.end = "Stopped.";
      else this.fail(error instanceof TypeError ? "This server is unreachable." : reasonOf(error));
    }
    this.text.complete = true;
  }

  /** The error is shown with the answer, so the status does not repeat it. @param {string} text */
  fail(text) {
    this.end = "The draft did not answer.";
    this.root.append(element("p", { class: "studio-error", role: "alert" }, text));
  }

  /** Pass an event to the method with its name. @param {string} name @param {any} data */
  take(name, data) {
    /** @type {any} */ (this)[`on_${name}`]?.(data);
    this.chat.follow();
  }

  /** @param {{text: string}} data */
  on_text({ text }) {
    this.written += text;
    this.text.text = this.written;
  }

  /** @param {{id: string, title: string, tool: string}} data */
  on_stage({ id, title, tool }) {
    if (tool) this.called.push(tool);
    const text = element("pre", { class: "studio-sample", tabIndex: 0, "aria-label": title });
    const name = element("span", {}, title);
    const time = element("span", { class: "studio-quiet" });
    this.stages.set(id, { text, name, time });
    this.steps.append(element("details", { class: "studio-fold" }, element("summary", {}, name, time), text));
  }

  /** @param {{id: string, text: string}} data */
  on_stage_text({ id, text }) {
    this.stages.get(id)?.text.append(text);
  }

  /** @param {{id: string, suffix: string}} data */
  on_stage_name({ id, suffix }) {
    this.stages.get(id)?.name.append(suffix);
  }

  /** @param {{id: string, seconds: number | null, failed: boolean}} data */
  on_stage_end({ id, seconds, failed }) {
    const stage = this.stages.get(id);
    if (!stage) return;
    stage.time.textContent = `${failed ? " failed" : ""}${seconds === null ? "" : ` ${seconds.toFixed(2)} s`}`;
    if (failed) stage.time.classList.add("studio-error");
  }

  /** A notice that is repeated, such as before each attempt to call a model, replaces the earlier one. @param {{id: string, text: string}} data */
  on_notice({ id, text }) {
    const line = this.notices.get(id) ?? element("p", { class: "studio-quiet" });
    line.textContent = text;
    if (!this.notices.has(id)) this.steps.append(line);
    this.notices.set(id, line);
  }

  /** @param {{title?: string, type?: string, url?: string}} data */
  on_attachment({ title, type, url }) {
    this.root.append(element("p", { class: "studio-quiet" }, `Attachment: ${title || url || type}`));
  }

  /**
   * @param {{model: string, prompt: Piece[], messages: Piece[], tools: Piece[], parameters: string, tokens: number}} data
   */
  on_sent({ model, prompt, messages, tools, parameters, tokens }) {
    const parts = [
      ...prompt.map((one) => piece(`Prompt: ${sourceTitle(this.chat.store, one.source)}`, one.text, one.tokens)),
      ...messages.map((one) => piece(`Message: ${one.source}`, one.text, one.tokens)),
      ...tools.map((one) => piece(`Tool: ${one.source}`, one.text, one.tokens)),
      piece("Parameters", parameters),
    ];
    const name = element("span", { title: model }, model);
    this.sent = element(
      "details",
      { class: "studio-fold" },
      element("summary", {}, "Request to ", name, element("span", { class: "studio-quiet" }, ` about ${plural(tokens, "token")}`)),
      ...parts,
    );
    this.steps.append(this.sent);
    const { store } = this.chat;
    // Without the choices, the ID remains.
    store.choices().then(({ deployments }) => (name.textContent = deployments.find(({ id }) => id === model)?.name || model), () => {});
  }

  /** A call without a stage of its own. @param {{tool: string, title: string, seconds: number | null, failed: boolean}} data */
  on_tool({ tool, title, seconds, failed }) {
    const stage = this.called.indexOf(tool);
    if (stage >= 0) {
      this.called.splice(stage, 1);
      return;
    }
    const time = seconds === null ? "" : `, ${seconds.toFixed(2)} s`;
    this.steps.append(element("p", { class: failed ? "studio-error" : "studio-quiet" }, `${title}${failed ? " failed" : ""}${time}`));
  }

  /**
   * A failed model call, with the service's message. A retry that fails in the same way only adds to the number of attempts.
   * @param {{model: string, error: string, said: string}} data
   */
  on_failed({ model, error, said }) {
    const reason = `(${error})${said ? `: ${said}` : ""}`;
    const last = this.failure;
    if (last?.model === model && last.reason === reason && last.line.nextElementSibling === this.sent) {
      this.sent?.remove();
      last.count += 1;
      last.line.textContent = `${model}: ${last.count} attempts failed ${reason}`;
      return;
    }
    const line = element("p", { class: "studio-error" }, `${model} failed ${reason}`);
    this.failure = { line, model, reason, count: 1 };
    this.steps.append(line);
  }

  /** @param {{kind: string}} asked */
  on_ask(asked) {
    /** @param {string} text */
    const reply = (text) => {
      box.remove();
      this.chat.ask(text);
    };
    const id = newId("reply");
    const choices = asked.kind === "approval" ? [["Approve", "1"], ["Deny", "2"]] : [];
    const box = element(
      "p",
      { class: "studio-actions", id },
      ...choices.map(([name, text]) => button(name, () => this.chat.asking || reply(text))),
    );
    this.root.append(box);
  }

  /** @param {{text: string}} data */
  on_problem({ text }) {
    this.fail(text);
  }

  /** @param {{input: number, output: number, seconds: number, calls: number, tool_calls: number, state: unknown}} data */
  on_end({ input, output, seconds, calls, tool_calls, state }) {
    const parts = [`${seconds.toFixed(1)} s`, `${number(input)} + ${number(output)} tokens`, plural(calls, "model call")];
    if (tool_calls) parts.push(plural(tool_calls, "tool call"));
    this.facts.textContent = parts.join(" · ");
    this.message = { role: "assistant", content: this.written, custom_content: { state } };
  }
}

/** @param {number} value */
const number = (value) => value.toLocaleString("en");
