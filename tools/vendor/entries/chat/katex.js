export { renderToString } from "katex";
