// What an answer, a tool and the application as a whole may use.

import { group, link, numberField, paragraph, selectField } from "../elements.js";

/**
 * @import { Section } from "../sections.js"
 */

/** @type {Section} */
export const limits = {
  id: "limits",
  title: "Limits",
  paths: ["orchestrator.max_iterations", "orchestrator.context", "tool_defaults", "features.rate_limits", "features.retention", "features.file_loading"],
  render(container, store) {
    container.append(
      group(
        "One answer",
        numberField(store, {
          label: "Times the model may be asked",
          path: "orchestrator.max_iterations",
          min: -1,
          step: 1,
          placeholder: "as the installation says",
          help: "Each round of tools takes one. An answer that needs more ends with an error. -1: no limit.",
        }),
        numberField(store, {
          label: "Seconds for one call of a tool",
          path: "tool_defaults.timeout_seconds",
          min: 1,
          max: 3600,
          placeholder: "as the installation says",
          help: "With all its attempts.",
        }),
      ),
      group(
        "Long conversations",
        selectField(store, {
          label: "When a conversation becomes too long for the model",
          path: "orchestrator.context.strategy",
          options: [
            ["", "Summarise the oldest turns (as usual)"],
            ["summarise", "Summarise the oldest turns"],
            ["trim", "Leave the oldest turns out"],
            ["refuse", "Refuse the question"],
          ],
          help: "Everything stays stored and shown; this is about what the model reads.",
        }),
      ),
      group(
        "All callers together",
        numberField(store, {
          label: "Questions a minute",
          path: "features.rate_limits.requests_per_minute",
          min: 0,
          step: 1,
          placeholder: "as the installation says",
          help: "Further ones are refused. 0: no limit.",
        }),
        numberField(store, {
          label: "Tokens a minute",
          path: "features.rate_limits.tokens_per_minute",
          min: 0,
          step: 1,
          placeholder: "as the installation says",
        }),
      ),
    );
    container.append(
      group(
        "Conversations",
        numberField(store, {
          label: "Days after which they are deleted",
          path: "features.retention.days",
          min: 1,
          max: 3650,
          step: 1,
          placeholder: "as long as people wish",
          help: "Counted from when something was last written in one, or it was renamed, moved or imported. The page tells people.",
        }),
      ),
    );
    const { budgets } = store.data.urls;
    if (budgets) {
      container.append(
        group("Money", paragraph("Budgets of the application, its people and its models: ", link("Budgets", budgets), ".")),
      );
    }
  },
};
