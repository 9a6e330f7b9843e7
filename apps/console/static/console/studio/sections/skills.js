// Instructions that the model reads when a task calls for them.

import { button, element, findings, group, link, paragraph, quiet, selectField, textField } from "../elements.js";

const PATH = "skills";

export const skills = {
  id: "skills",
  title: "Skills",
  paths: [PATH],
  async render(container, store) {
    const choices = await store.choices();
    if (!container.isConnected) return;
    const redraw = () => {
      container.replaceChildren();
      this.render(container, store);
    };
    const list = store.get(PATH) ?? [];
    const add = () => {
      store.change(PATH, [...list, { type: "dial-prompt", url: "" }]);
      redraw();
    };
    const installed = choices.skills.map(({ name, description }) => [element("dt", {}, name), element("dd", {}, description)]);
    container.append(
      paragraph("The model is told the name and the purpose of each skill, and reads the whole of it when a task calls for it."),
      group(
        "Every application has",
        installed.length ? element("dl", { class: "studio-facts" }, ...installed.flat()) : quiet("None are installed."),
        choices.add.content ? paragraph(link("Write a skill", choices.add.content)) : "",
      ),
      group(
        "This application alone",
        ...list.map((_, index) => card(store, index, redraw)),
        list.length ? "" : quiet("None. Skills that are kept in DIAL can be added by their paths."),
        element("p", {}, button("Add a skill of DIAL", add)),
        list.length ? "" : findings(store, PATH),
      ),
    );
  },
};

function card(store, index, redraw) {
  const path = `${PATH}[${index}]`;
  const remove = () => {
    const rest = store.get(PATH).filter((_, place) => place !== index);
    store.change(PATH, rest.length ? rest : undefined);
    redraw();
  };
  return element(
    "fieldset",
    { class: "studio-card" },
    element("legend", {}, `Skill ${index + 1}`),
    selectField(store, {
      label: "What it is",
      path: `${path}.type`,
      options: [
        ["dial-prompt", "A prompt of DIAL"],
        ["dial-skill", "A folder of DIAL, with files beside it"],
      ],
    }),
    textField(store, { label: "Path", path: `${path}.url`, placeholder: "prompts/<bucket>/<path>", empty: "" }),
    element("p", { class: "studio-actions" }, button("Remove", remove, { "aria-label": `Remove skill ${index + 1}` })),
  );
}
