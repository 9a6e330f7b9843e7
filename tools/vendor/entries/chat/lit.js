export { html, LitElement, nothing, render, svg } from "lit";
export { guard } from "lit/directives/guard.js";
export { ifDefined } from "lit/directives/if-defined.js";
export { live } from "lit/directives/live.js";
export { repeat } from "lit/directives/repeat.js";
