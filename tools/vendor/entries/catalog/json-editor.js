export { JSONEditor as default } from "@json-editor/json-editor";
