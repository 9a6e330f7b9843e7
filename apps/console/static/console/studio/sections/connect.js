// How programs reach the application.

import { button, element, group, link, paragraph, quiet } from "../elements.js";

/**
 * @import { Section } from "../sections.js"
 */

/** @type {Section} */
export const connect = {
  id: "connect",
  title: "Connect",
  render(container, store) {
    const { slug, origin, urls } = store.data;
    const base = `${origin}/openai/v1`;
    container.append(
      paragraph("The published version answers here. A number behind the name, as in ", element("code", {}, `${slug}@3`), ", asks one version."),
      group("For people", sample("The page", `${origin}/chat/${slug}/`)),
      group(
        "For programs",
        quiet("They need a key. ", urls.keys ? link("Keys", urls.keys) : "Ask an administrator for one."),
        sample(
          "curl",
          `curl ${origin}/openai/deployments/${slug}/chat/completions \\\n  -H "Authorization: Bearer $QUICKAPPS_KEY" -H "Content-Type: application/json" \\\n  -d '{"messages": [{"role": "user", "content": "Hello"}], "stream": true}'`,
        ),
        sample(
          "Python, with OpenAI's client",
          `from openai import OpenAI\n\nclient = OpenAI(base_url="${base}", api_key=key)\nanswer = client.chat.completions.create(\n    model="${slug}", messages=[{"role": "user", "content": "Hello"}]\n)\nprint(answer.choices[0].message.content)`,
        ),
      ),
      group(
        "In DIAL Core",
        quiet("Register it as an application in Core's configuration."),
        sample(
          "applications",
          JSON.stringify(
            {
              applications: {
                [slug]: {
                  displayName: store.title,
                  description: store.description || undefined,
                  endpoint: `${origin}/openai/deployments/${slug}/chat/completions`,
                },
              },
            },
            null,
            2,
          ),
        ),
      ),
      paragraph(link("The API for scripts, to try", urls.apiDocs)),
    );
  },
};

/** @param {string} title @param {string} text */
function sample(title, text) {
  const status = element("span", { role: "status", class: "studio-quiet" });
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(text);
    status.textContent = " Copied.";
  }, { "aria-label": `Copy: ${title}` });
  return element(
    "div",
    { class: "studio-field" },
    element("p", { class: "studio-label" }, element("strong", {}, title), element("span", {}, copy, status)),
    element("pre", { class: "studio-sample", tabIndex: 0, "aria-label": title }, text),
  );
}
