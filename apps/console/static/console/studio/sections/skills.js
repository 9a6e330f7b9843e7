// Instructions that the model reads when a task needs them.

import { button, cardHead, element, findings, focusOn, group, link, paragraph, quiet, selectField, textField, withChoices } from "../elements.js";
import { freeName } from "../tools/paths.js";
import { newSkill, skillEditor } from "../skill-editor.js";

/**
 * @import { Json } from "../data.js"
 * @import { Section } from "../sections.js"
 * @import { Store } from "../store.js"
 */

const PATH = "skills";

/** @type {Section} */
export const skills = {
  id: "skills",
  render: withChoices((store, choices, redraw) => {
    const own = Object.keys(store.skills);
    /** @type {Json[]} */
    const kept = store.get(PATH) ?? [];
    const write = () => {
      const name = freeName("new-skill", own, "-");
      store.name({ skills: { ...store.skills, [name]: newSkill(name) } });
      redraw();
      focusOn(`[data-skill="${name}"] input`);
    };
    const add = () => {
      store.change(PATH, [...kept, { type: "dial-prompt", url: "" }]);
      redraw();
      focusOn(`[data-kept="${kept.length}"] select`);
    };
    const installed = choices.skills.map(({ name, description }) => [element("dt", {}, name), element("dd", {}, description)]);
    return [
      paragraph("The model gets the name and description of each skill, and reads it when a task needs it."),
      group(
        "Only this application",
        ...own.map((name) => skillEditor(store, name, redraw)),
        ...kept.map((_, index) => keptCard(store, index, redraw)),
        own.length || kept.length ? "" : quiet("None yet. A skill is a how-to, such as your writing style or how to handle a claim."),
        element("p", { class: "studio-actions" }, button("Write a skill", write, { class: "console-button console-primary", "data-write": "" }), button("Add a skill from DIAL", add)),
        kept.length ? "" : findings(store, PATH, true),
      ),
      group(
        "All applications",
        installed.length ? element("dl", { class: "studio-facts" }, ...installed.flat()) : quiet("None are installed."),
        choices.add.content ? paragraph(link("Write one for all applications", choices.add.content)) : "",
      ),
    ];
  }),
};

/** @param {Store} store @param {number} index @param {() => void} redraw */
function keptCard(store, index, redraw) {
  const path = `${PATH}[${index}]`;
  const remove = () => {
    const rest = store.get(PATH).toSpliced(index, 1);
    store.change(PATH, rest.length ? rest : undefined);
    redraw();
    focusOn("[data-write]");
  };
  return element(
    "fieldset",
    { class: "studio-card", "data-kept": String(index) },
    ...cardHead(`Skill from DIAL ${index + 1}`, button("Remove", remove, { "aria-label": `Remove skill from DIAL ${index + 1}` })),
    selectField(store, {
      path: `${path}.type`,
      options: [
        ["dial-prompt", "A prompt in DIAL"],
        ["dial-skill", "A folder in DIAL, with files"],
      ],
    }),
    textField(store, { path: `${path}.url`, placeholder: "prompts/<bucket>/<path>", empty: "" }),
  );
}
