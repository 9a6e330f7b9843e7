// Access to the application. Changes are saved immediately, and do not affect the draft or the live version.

import { button, element, focusOn, group, newId, paragraph, quiet } from "../elements.js";
import { HolderSearch } from "../holder-search.js";
import { labelAt } from "../labels.js";

/**
 * @import { Access, Holder } from "../data.js"
 * @import { Section } from "../sections.js"
 * @import { Store } from "../store.js"
 */

const ROLES = [
  ["user", "User"],
  ["editor", "Editor"],
  ["owner", "Owner"],
];

/** @type {Section} */
export const access = {
  id: "access",
  render(container, store) {
    new AccessPanel(container, store).draw();
  },
};

class AccessPanel {
  /** @param {HTMLElement} container @param {Store} store */
  constructor(container, store) {
    this.store = store;
    this.parts = element("div", { class: "studio-inner" });
    container.append(
      paragraph("Who can find and use the application. Changes apply immediately and do not affect the draft."),
      this.parts,
    );
  }

  /** @returns {Access} */
  get access() {
    return this.store.data.access;
  }

  /** @param {string} column */
  label(column) {
    return labelAt(this.store, `(${column})`) ?? column;
  }

  draw() {
    const { may_grant: mayGrant } = this.access;
    this.parts.replaceChildren(
      this.enabled(),
      group("Audience", this.audience(), mayGrant ? "" : quiet("Only owners can change this.")),
      group("Users, groups and teams", this.grants(), mayGrant ? this.adding() : ""),
      group(this.label("owner"), ...this.owner()),
      group("Publishing", this.twoPeople()),
    );
  }

  enabled() {
    const { is_enabled: isOn, is_published: isPublished, may_enable: may } = this.access;
    const help = isPublished ? "If this setting is off, nobody can use the application. Nothing is deleted." : "Publishing the first version turns it on.";
    return toggle("enabled", this.label("is_enabled"), help, isOn, may && isPublished, (on) => this.save("access", { is_enabled: on }));
  }

  twoPeople() {
    const { takes_two: isOn, may_rule: may } = this.access;
    const help = "A user who has not changed the draft must publish it. Only superusers can turn this off.";
    return toggle("two", this.label("needs_second_publisher"), help, isOn, may, (on) => this.save("access", { takes_two: on }));
  }

  audience() {
    const { audience, may_grant: may } = this.access;
    const name = newId("audience");
    const audiences = [
      ["private", "The users, groups and teams below", ""],
      ["shared", this.label("is_shared"), ""],
      ["public", this.label("is_public"), "No sign-in required."],
    ];
    return element(
      "div",
      { class: "studio-models", role: "radiogroup", "aria-label": "Audience" },
      ...audiences.map(([value, title, help]) => {
        const id = newId("audience");
        const input = element("input", { type: "radio", name, id, value, checked: value === audience, disabled: !may, "data-key": `audience-${value}` });
        input.addEventListener("change", () => this.save("access", { audience: value }));
        const text = element("div", {}, element("label", { htmlFor: id }, title), help ? quiet(help) : "");
        return element("div", { class: "studio-model" }, input, text, element("span", {}));
      }),
    );
  }

  grants() {
    const { grants, may_grant: may } = this.access;
    if (!grants.length) return quiet("No roles granted yet.");
    return element("ul", { class: "studio-holders", "aria-label": "Roles" }, ...grants.map((one) => this.grant(one, may)));
  }

  /** @param {Holder & {role: string}} grant @param {boolean} may */
  grant(grant, may) {
    const { kind, name, title, role } = grant;
    const key = `${kind}-${name}`;
    const select = roleSelect(role, { "aria-label": `Role of ${title}`, disabled: !may, "data-key": key });
    select.addEventListener("change", () => this.save("grant", { kind, name, role: select.value }));
    const remove = () => this.remove(grant);
    return element(
      "li",
      {},
      about(grant),
      select,
      may ? button("Remove", remove, { "aria-label": `Remove ${title}` }) : "",
    );
  }

  /** @param {Holder} holder */
  async remove({ kind, name }) {
    if (await this.save("grant", { kind, name, role: "" })) focusOn("[data-key=add]");
  }

  adding() {
    const role = roleSelect("user", { id: newId("role") });
    /** @param {Holder} holder */
    const add = async ({ kind, name }) => {
      if (await this.save("grant", { kind, name, role: role.value })) focusOn("[data-key=add]");
    };
    const search = new HolderSearch(this.store, {
      label: "Add a user, group or team",
      key: "add",
      verb: "Add",
      pick: add,
      exact: !this.access.finds_all,
      known: this.access.grants,
    });
    return element(
      "div",
      { class: "studio-adding" },
      search.root,
      element("p", { class: "studio-field" }, element("label", { htmlFor: role.id, class: "studio-legend" }, "Role"), role),
    );
  }

  owner() {
    const { owner, may_grant: may } = this.access;
    const named = owner ? element("ul", { class: "studio-holders" }, element("li", {}, about(owner))) : quiet("None. Administrators and users with the role Owner manage the application.");
    if (!may) return [named];
    const search = new HolderSearch(this.store, {
      label: "Change the owner",
      key: "owner",
      verb: "Make owner",
      pick: ({ name }) => this.save("access", { owner: name }),
      kind: "user",
      known: owner ? [owner] : [],
    });
    const nobody = button("No owner", () => this.save("access", { owner: "" }), { "data-key": "nobody" });
    return [named, search.root, owner ? paragraph(nobody) : ""];
  }

  /** Save, and show the stored state. @param {string} name @param {object} body */
  async save(name, body) {
    const isSaved = await this.store.saveAtOnce(name, body);
    const key = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.key : undefined;
    this.draw();
    if (key) focusOn(`[data-key="${CSS.escape(key)}"]`);
    return isSaved;
  }
}

/** @param {Holder} holder */
const about = ({ what, name, title }) =>
  element("span", { class: "studio-holder" }, element("strong", {}, title), " ", element("span", { class: "studio-quiet" }, title === name ? what : `${what}, ${name}`));

/** @param {string} role @param {Record<string, any>} properties */
const roleSelect = (role, properties) =>
  element("select", properties, ...ROLES.map(([value, text]) => element("option", { value, selected: value === role }, text)));

/**
 * A switch that is saved immediately.
 * @param {string} key @param {string} label @param {string} help @param {boolean} isOn @param {boolean} may
 * @param {(on: boolean) => unknown} save
 */
function toggle(key, label, help, isOn, may, save) {
  const id = newId("switch");
  const control = element("input", { type: "checkbox", role: "switch", id, checked: isOn, disabled: !may, "data-key": key });
  control.setAttribute("aria-describedby", `${id}-help`);
  control.addEventListener("change", () => save(control.checked));
  return element(
    "div",
    { class: "studio-switch" },
    control,
    element(
      "div",
      {},
      element("div", { class: "studio-label" }, element("label", { htmlFor: id }, label)),
      element("p", { class: "studio-help", id: `${id}-help` }, help),
    ),
  );
}
