export { parse, View, Warn } from "vega";
export { expressionInterpreter } from "vega-interpreter";
export { compile } from "vega-lite";
