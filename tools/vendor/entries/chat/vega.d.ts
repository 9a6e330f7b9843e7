export const expressionInterpreter: object;
export function compile(spec: object, options: { config: object }): { spec: object };
export function parse(spec: object, config?: object, options?: { ast: boolean }): object;
export class View {
  constructor(runtime: object, options: object);
  toSVG(): Promise<string>;
  scenegraph(): { root: { items: object[] } };
  finalize(): this;
}
