import type { Extension } from "@codemirror/state";

export { indentWithTab } from "@codemirror/commands";
export { json, jsonParseLinter } from "@codemirror/lang-json";
export { markdown } from "@codemirror/lang-markdown";
export { type Diagnostic, forceLinting, linter, lintGutter } from "@codemirror/lint";
export { Compartment, EditorState } from "@codemirror/state";
export { oneDark } from "@codemirror/theme-one-dark";
export { EditorView, keymap } from "@codemirror/view";
export { basicSetup } from "codemirror";
export function jsonSchema(schema: object): Extension;
