export { Marked, type TokenizerAndRendererExtension, type Tokens } from "marked";
