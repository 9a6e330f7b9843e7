export function renderToString(formula: string, options: object): string;
