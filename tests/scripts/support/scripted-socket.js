/**
 * The server's side of the page's socket, word for word as a test wants it.
 *
 * It keeps the promises of the real one (a journal that is replayed, a question that is taken once)
 * and breaks off whenever a test says so.
 */

import { randomUUID } from "node:crypto";

/** One conversation. Use `say` to send an event of it. */
export class ScriptedSocket {
  conversation = randomUUID();
  title = "A conversation";
  run = "";
  /** Which branch is shown, by the ids of questions and of the runs of answers. */
  branches = {};
  /** @type {object[]} */
  journal = [];
  /** @type {object[]} frames of the pages */
  received = [];
  /** @type {Set<Viewer>} sockets that follow the conversation */
  viewers = new Set();
  /** @type {Viewer[]} all sockets that were opened */
  everybody = [];
  /** Take what is sent as a dead peer does: without an answer. */
  deaf = false;
  /** Refuse connections, as a network that is gone. */
  isDown = false;
  /** @type {Map<Viewer, string>} the run that each viewer was sent last */
  #told = new Map();
  /** @type {Set<string>} the runs of other branches */
  #hidden = new Set();

  /** @param {Viewer} viewer */
  connect(viewer) {
    this.everybody.push(viewer);
    for (const conversation of new URL(viewer.url).searchParams.getAll("open")) {
      this.take(viewer, { type: "open", conversation, after: 0, window: true });
    }
  }

  /** The texts that were asked. */
  get asked() {
    return this.frames("ask").map(({ text }) => text);
  }

  /** @param {string} type */
  frames(type) {
    return this.received.filter((frame) => frame.type === type);
  }

  /** @param {Viewer} viewer @param {any} frame */
  take(viewer, frame) {
    if (frame.type === "watch") return; // this server has no list and no queue
    const isKnown = this.frames("ask").some(({ id }) => id === frame.id);
    this.received.push(frame);
    if (this.deaf) return;
    if (frame.type === "open") this.#open(viewer, frame);
    else if (frame.type === "ask") {
      if (!this.viewers.has(viewer)) this.#open(viewer, { after: 0 });
      if (!isKnown || !this.journal.length) this.begin(frame);
    } else if (frame.type === "stop") this.end("stopped");
  }

  /** @param {Viewer} viewer @param {{after: number, window?: boolean}} frame */
  #open(viewer, { after, window = false }) {
    const turns = window ? this.#turns() : [];
    if (window) {
      const running = this.journal.find(({ run }) => run === this.run);
      after = this.run ? running.seq - 1 : this.journal.length;
    }
    this.viewers.add(viewer);
    this.#told.delete(viewer);
    viewer.receive({
      type: "conversation.opened",
      conversation: this.conversation,
      title: this.title,
      last: this.journal.length,
      branches: this.branches,
      run: this.run ? { id: this.run, status: "running" } : null,
      ...(window ? { turns, before: null, after } : {}),
    });
    for (const event of this.journal.slice(after)) if (!this.#hidden.has(event.run)) this.#tell(viewer, event);
  }

  /** The runs that are over, without those of other branches. */
  #turns() {
    const runs = [...new Set(this.journal.map(({ run }) => run))];
    const over = runs.filter((run) => run !== this.run && !this.#hidden.has(run));
    return over.map((run, at) => ({ run, at, events: this.journal.filter((event) => event.run === run) }));
  }

  /** Begin the run of a question. @param {{text: string, again?: string, continues?: string}} ask */
  begin(ask) {
    this.run = randomUUID();
    let message = { id: randomUUID(), role: "user", text: ask.text, created_at: "2026-01-05T10:00:00+00:00" };
    if (ask.again) {
      const asked = this.journal.filter(({ type, message: one }) => type === "message.added" && one.id === ask.again);
      for (const { run } of asked) this.#hidden.add(run);
      message = asked.at(-1).message;
      this.say("branches.changed");
    }
    if (ask.continues) Object.assign(message, { text: "Go on.", sender: { kind: "continuation", title: "" } });
    this.say("message.added", { message });
    this.say("run.status", { status: "running" });
  }

  /** Take a run out of the branch that is shown. @param {string} run */
  hide(run) {
    this.#hidden.add(run);
    this.say("branches.changed");
  }

  /** @param {string} type @param {object} [event] */
  say(type, event = {}) {
    const numbered = { type, ...event, conversation: this.conversation, run: this.run, seq: this.journal.length + 1 };
    this.journal.push(numbered);
    for (const viewer of this.viewers) this.#tell(viewer, numbered);
  }

  /** Send an event as the server does: ids that the page knows are left out. */
  #tell(viewer, { conversation: _, run, ...event }) {
    viewer.receive(this.#told.get(viewer) === run ? event : { ...event, run });
    this.#told.set(viewer, run);
  }

  /** Stream texts of the answer. @param {...string} texts */
  write(...texts) {
    for (const text of texts) this.say("message.delta", { text });
  }

  /** Store what was written as the answer, without what is null, and end the run. */
  end(status = "done", message = {}) {
    const written = this.journal.filter(({ type, run }) => type === "message.delta" && run === this.run);
    const stored = {
      id: randomUUID(),
      role: "assistant",
      text: written.map(({ text }) => text).join(""),
      attachments: [],
      finish_reason: "stop",
      usage: { prompt_tokens: 120, completion_tokens: 34 },
      seconds: 2.4,
      ...message,
    };
    const told = Object.fromEntries(Object.entries(stored).filter(([, value]) => value !== null));
    this.say("message.complete", { message: told });
    this.say("run.status", { status });
    this.run = "";
  }

  /** Add a step that is over to the answer. @param {string} title @param {object} [step] */
  step(title, { stage = title, parent = null, text = "", failed = false, seconds = 0.1 } = {}) {
    this.say("stage.opened", { stage, title, parent });
    if (text) this.say("stage.delta", { stage, text });
    this.say("stage.closed", { stage, failed, seconds });
  }

  /** Send a frame that is not an event of the conversation. */
  send(type, frame = {}) {
    for (const viewer of this.everybody.slice(-1)) viewer.receive({ type, ...frame });
  }

  refuse(text, code) {
    this.send("error", { text, code });
  }

  /** End the connections, as a network does. */
  cut() {
    this.viewers.clear();
    this.close(3001);
  }

  /** @param {number} code */
  close(code) {
    this.everybody.at(-1).end(code);
  }
}

/** The class `WebSocket` of a window, connected to a server. */
export function socketClass(window, server) {
  /** Frames arrive in tasks of their own, in order, as those of a network. */
  return class Viewer extends window.EventTarget {
    static CONNECTING = 0;
    static OPEN = 1;
    static CLOSING = 2;
    static CLOSED = 3;
    readyState = Viewer.CONNECTING;
    onmessage = null;

    constructor(url) {
      super();
      this.url = String(url);
      this.#later(() => {
        if (server.isDown) return this.end(1006);
        this.readyState = Viewer.OPEN;
        this.dispatchEvent(new window.Event("open"));
        server.connect(this);
      });
    }

    send(text) {
      this.#later(() => server.take(this, JSON.parse(text)));
    }

    close() {
      this.readyState = Viewer.CLOSED;
      server.viewers.delete(this);
    }

    receive(frame) {
      const data = JSON.stringify(frame);
      this.#later(() => {
        const event = new window.MessageEvent("message", { data });
        this.onmessage?.(event);
        this.dispatchEvent(event);
      });
    }

    end(code) {
      server.viewers.delete(this);
      this.#later(() => {
        this.readyState = Viewer.CLOSED;
        this.dispatchEvent(Object.assign(new window.Event("close"), { code, reason: "" }));
      });
    }

    /** Unless the page has closed it, or was closed. */
    #later(act) {
      setImmediate(() => {
        if (window.isGone) server.viewers.delete(this);
        else if (this.readyState !== Viewer.CLOSED) act();
      });
    }
  };
}
