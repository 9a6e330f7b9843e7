// The limits for an answer, a tool and the whole application.

import { group, link, numberField, paragraph, selectField } from "../elements.js";

/**
 * @import { Section } from "../sections.js"
 */

/** @type {Section} */
export const limits = {
  id: "limits",
  render(container, store) {
    container.append(
      group(
        "One answer",
        numberField(store, {
          path: "orchestrator.max_iterations",
          min: -1,
          step: 1,
          placeholder: "Installation default",
          help: "Each round of tool calls takes one model call. An answer that needs more calls ends with an error. Enter -1 for no limit.",
        }),
        numberField(store, {
          path: "tool_defaults.timeout_seconds",
          min: 1,
          max: 3600,
          placeholder: "Installation default",
          help: "Including retries.",
        }),
      ),
      group(
        "Long conversations",
        selectField(store, {
          path: "orchestrator.context.strategy",
          options: [
            ["", "Summarize the oldest turns (default)"],
            ["summarise", "Summarize the oldest turns"],
            ["trim", "Drop the oldest turns"],
            ["refuse", "Refuse the question"],
          ],
          help: "Affects only what the model reads. Users still see the whole conversation.",
        }),
      ),
      group(
        "All callers together",
        numberField(store, {
          path: "features.rate_limits.requests_per_minute",
          min: 0,
          step: 1,
          placeholder: "Installation default",
          help: "Requests above this limit are rejected. Enter 0 for no limit.",
        }),
        numberField(store, {
          path: "features.rate_limits.tokens_per_minute",
          min: 0,
          step: 1,
          placeholder: "Installation default",
        }),
      ),
    );
    container.append(
      group(
        "Conversations",
        numberField(store, {
          path: "features.retention.days",
          min: 1,
          max: 3650,
          step: 1,
          placeholder: "As users choose",
          help: "The period starts with the conversation's last message or change, such as renaming, moving or importing it. The chat page informs users about the limit.",
        }),
      ),
    );
    const { budgets } = store.data.urls;
    if (budgets) {
      container.append(
        group("Money", paragraph("Budgets of the application, its users and its models: ", link("Budgets", budgets), ".")),
      );
    }
  },
};
