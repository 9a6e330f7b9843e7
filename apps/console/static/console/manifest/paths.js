// Paths in the server's format: `tool_sets[2].tools[0]["odd key"]`; "$" is the whole document.

const PART = /\.?([^.[\]"]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gy;

/** @param {string} path @returns {(string | number)[]} */
export function split(path) {
  if (!path || path === "$") return [];
  return [...path.matchAll(PART)].map(([, name, index, quoted]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? name : JSON.parse(quoted);
  });
}

/** @param {(string | number)[]} parts @returns {string} */
export function join(parts) {
  return parts.reduce((/** @type {string} */ path, part) => {
    if (typeof part === "number") return `${path}[${part}]`;
    if (!/^[A-Za-z_][\w-]*$/.test(part)) return `${path}[${JSON.stringify(part)}]`;
    return path ? `${path}.${part}` : part;
  }, "");
}
