/** The chosen filters of a search, as chips that remove them and as parameters of its address. */

import { html, nothing } from "../../vendor/lit.js";
import { icon } from "../icons.js";
import { gettext } from "../texts.js";

/** @import { Filter } from "./search-filters.js" */

/** @param {Filter[]} filters @param {(filter: Filter) => void} remove */
export function filterChips(filters, remove) {
  if (!filters.length) return nothing;
  return html`<ul class="search-chips" aria-label=${gettext("Filters")}>
    ${filters.map(
      (filter) => html`<li>
        <button type="button" class="button" aria-label=${gettext("Remove the filter {name}", { name: filter.title })} @click=${() => remove(filter)}>
          <span dir="auto">${filter.title}</span>${icon("x")}
        </button>
      </li>`,
    )}
  </ul>`;
}

/** @param {Filter[]} filters @returns {[string, string][]} */
export function parametersOf(filters) {
  return filters.map(({ name, value }) => [name, value]);
}
