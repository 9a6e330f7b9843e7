// The studio of one application: its menu, the open section, the bar, and the draft's chat.

import { Bar } from "./bar.js";
import { Checker } from "./checker.js";
import { DraftChat } from "./draft-chat.js";
import { part, parts } from "../parts.js";
import { button, element } from "./elements.js";
import { DROPPED, files } from "./sections/files.js";
import { aboutSection, isAt, sectionOf, SECTIONS } from "./sections.js";
import { Store } from "./store.js";

/**
 * @import { Section } from "./sections.js"
 */

const PROBLEM = "This section could not be loaded. Check your connection, and whether you are still signed in.";

class Studio {
  isOutdated = false;
  /** Resolves when the section is drawn. @type {Promise<unknown>} */
  drawn = Promise.resolve();

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.menu = part(root, "[data-menu]", HTMLElement);
    this.panel = part(root, "[data-section]", HTMLElement);
    this.store = new Store(JSON.parse(part(document, "#studio-data", HTMLScriptElement).text));
    this.bar = new Bar(part(root, "[data-bar]", HTMLElement), this.store);
    this.checker = new Checker(this.store);
    const chat = root.querySelector("[data-chat]");
    if (chat instanceof HTMLElement) this.chat = new DraftChat(chat, this.store);
    this.links = SECTIONS.map((section) => this.entry(section));
    this.section = this.wanted();
  }

  start() {
    part(this.menu, "ul", HTMLUListElement).append(...this.links.map((link) => element("li", {}, link)));
    window.addEventListener("hashchange", () => this.open(this.wanted(), true));
    window.addEventListener("beforeunload", (event) => (this.store.isChanged || this.store.unread) && event.preventDefault());
    this.store.subscribe((what) => {
      if (what === "findings") this.markMenu();
      if (what === "stored") this.redraw();
    });
    document.addEventListener("visibilitychange", () => document.hidden || this.store.renewChoices());
    this.panel.addEventListener("focusout", ({ relatedTarget }) => {
      const isLeft = !(relatedTarget instanceof Node && this.panel.contains(relatedTarget));
      if (isLeft && this.isOutdated) this.open(this.section);
    });
    this.root.addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
    this.root.addEventListener("drop", (event) => this.upload(event));
    // The menu becomes a row while the draft is compared with the live version.
    this.chat?.beside.addEventListener("change", () => this.markMenu());
    this.bar.goTo = (path) => this.goTo(path);
    // The menu and the chat stay below the bar, which may have several lines.
    const bar = part(this.root, ".studio-bar", HTMLElement);
    new ResizeObserver(() => this.root.style.setProperty("--bar", `${bar.offsetHeight}px`)).observe(bar);
    this.open(this.wanted());
    this.root.dataset.ready = "";
    this.checker.check();
  }

  /** Draw the stored state once the user is no longer typing in the section. */
  redraw() {
    this.isOutdated = this.panel.contains(document.activeElement) && document.activeElement?.id !== "studio-section";
    if (!this.isOutdated) this.open(this.section);
  }

  wanted() {
    const id = location.hash.slice(1);
    return SECTIONS.find((section) => section.id === id) ?? SECTIONS[0];
  }

  /** @param {Section} section */
  entry(section) {
    return element("a", { href: `#${section.id}` }, element("span", {}, aboutSection(this.store, section).title), element("span", { class: "studio-mark" }));
  }

  /** @param {Section} section */
  open(section, isChosen = false) {
    this.section = section;
    this.isOutdated = false;
    SECTIONS.forEach(({ id }, index) => {
      if (id === section.id) this.links[index].setAttribute("aria-current", "true");
      else this.links[index].removeAttribute("aria-current");
    });
    const heading = element("h2", { id: "studio-section", tabIndex: -1 }, aboutSection(this.store, section).title);
    const body = this.body(section);
    this.panel.replaceChildren(heading, body);
    this.drawn = this.draw(section, body);
    if (isChosen) heading.focus({ preventScroll: true });
    this.links[SECTIONS.indexOf(section)].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Users with read-only access see disabled fields. @param {Section} section */
  body(section) {
    const isReadOnly = aboutSection(this.store, section).paths && !this.store.data.may_change;
    return isReadOnly ? element("fieldset", { class: "studio-body", disabled: true }) : element("div", { class: "studio-body" });
  }

  /** Open the section with the field of a finding, and move to the field. @param {string} path */
  async goTo(path) {
    const section = sectionOf(this.store, path);
    history.pushState(null, "", `#${section.id}`);
    this.open(section, true);
    const move = await this.drawn;
    if (typeof move === "function") move(path);
    else focusField(this.panel, path);
  }

  /** Uploads files that are dropped anywhere in the studio. @param {DragEvent} event */
  async upload(event) {
    const dropped = event.dataTransfer?.files;
    const isInput = event.target instanceof HTMLInputElement && event.target.type === "file";
    if (!dropped?.length || isInput || !this.store.data.may_change) return;
    event.preventDefault();
    // A drop's list of files is emptied once its listeners have returned.
    const sent = [...dropped];
    history.pushState(null, "", `#${files.id}`);
    this.open(files, true);
    await this.drawn;
    part(this.panel, "[data-upload]", HTMLElement).dispatchEvent(new CustomEvent(DROPPED, { detail: sent }));
  }

  /** If the data of a section cannot be fetched, the section offers a retry. @param {Section} section @param {HTMLElement} body */
  async draw(section, body) {
    try {
      return await section.render(body, this.store);
    } catch (error) {
      console.error(error);
      const again = button("Try again", () => {
        const anew = this.body(section);
        said.replaceWith(anew);
        this.drawn = this.draw(section, anew);
      });
      const said = element("div", { class: "studio-body" }, element("p", { class: "studio-error", role: "alert" }, PROBLEM), again);
      body.replaceWith(said);
      return undefined;
    }
  }

  markMenu() {
    // Each finding counts once, in the section to which its link leads.
    SECTIONS.forEach((section, index) => {
      const found = this.store.findings.filter(({ path }) => sectionOf(this.store, path) === section);
      const errors = found.filter(({ severity }) => severity === "error").length;
      const mark = part(this.links[index], ".studio-mark", HTMLElement);
      mark.replaceChildren();
      if (!found.length) return;
      mark.dataset.severity = errors ? "error" : "warning";
      const name = errors ? "error" : "warning";
      const number = errors || found.length;
      mark.append(
        element("span", { "aria-hidden": "true" }, String(number)),
        element("span", { class: "console-hidden" }, `, ${number} ${name}${number === 1 ? "" : "s"}`),
      );
    });
    // On a narrow page, the menu is a row, in which the marks need space.
    const current = this.links[SECTIONS.indexOf(this.section)];
    this.menu.scrollTo({ left: current.offsetLeft - (this.menu.clientWidth - current.offsetWidth) / 2 });
  }
}

/** Focuses the field at a path, or the nearest enclosing field. @param {HTMLElement} panel @param {string} path */
function focusField(panel, path) {
  const fields = parts(panel, "[data-path]", HTMLElement).filter(({ dataset }) => isAt(path, dataset.path ?? ""));
  fields.sort((a, b) => (b.dataset.path ?? "").length - (a.dataset.path ?? "").length);
  const [field] = fields;
  if (!field) return;
  for (const fold of parts(panel, "details", HTMLDetailsElement)) if (fold.contains(field)) fold.open = true;
  field.scrollIntoView({ block: "center" });
  field.focus({ preventScroll: true });
}

const root = document.querySelector("[data-studio]");
if (root instanceof HTMLElement) new Studio(root).start();
