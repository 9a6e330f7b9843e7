export { html, LitElement, nothing } from "lit";
export { ifDefined } from "lit/directives/if-defined.js";
export { live } from "lit/directives/live.js";
export { repeat } from "lit/directives/repeat.js";
