// Bundles the third-party browser code into the apps that use it, with licences and hashes.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/**
 * @typedef {{entries: string, folder: string, icons: string[]}} Target
 * @typedef {{sha256: string, packages: Record<string, string>}} Written
 */

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const modules = join(here, "node_modules");

const icons = [
  "archive", "archive-restore", "arrow-down", "arrow-up", "arrow-up-down", "bell", "brain", "camera", "check",
  "chevron-down", "chevron-left", "chevron-right", "chevrons-up-down", "circle-alert", "clock", "code", "columns-2",
  "copy", "database", "download", "ellipsis", "external-link", "eye", "file-text", "files", "folder", "folder-plus",
  "image", "key-round", "keyboard", "layout-grid", "loader-circle", "lock", "log-in", "log-out", "maximize-2",
  "message-circle", "mic", "minimize-2", "monitor", "moon", "notebook-pen", "palette", "panel-left", "paperclip",
  "pause", "pen-line", "pencil", "pin", "play", "plug", "plus", "printer", "refresh-cw", "search", "settings",
  "share-2", "shield", "shield-check", "sliders-horizontal", "square", "square-pen", "sun", "tag", "text-wrap",
  "thumbs-down", "thumbs-up", "trash-2", "triangle-alert", "user", "users", "volume-2", "wifi-off", "x", "zoom-in",
  "zoom-out",
];

/** @type {Target[]} */
const targets = [
  { entries: "chat", folder: "apps/chat/static/chat/vendor", icons },
  { entries: "catalog", folder: "apps/console/static/console/vendor", icons: [] },
];

/** @type {import("esbuild").Plugin} */
const highlighter = {
  name: "plain-code",
  setup({ onResolve }) {
    onResolve({ filter: /^(shiki\/|@shikijs\/)/ }, () => ({
      path: join(here, "entries", "catalog", "plain-code.js"),
    }));
  },
};

// Formulas in diagrams stay as they are written: KaTeX would be a tenth of the file.
/** @type {import("esbuild").Plugin} */
const noFormulas = {
  name: "no-formulas",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^katex$/ }, ({ importer }) =>
      importer.includes("node_modules/mermaid/") ? { path: "katex", namespace: "left-out" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "export default {};" }));
  },
};

// A frame without an origin loads plain scripts, but modules only with a permission of the server.
const classic = new Set(["mermaid.js"]);

for (const target of targets) await vendor(target);

/** @param {Target} target */
async function vendor({ entries, folder, icons }) {
  const out = join(root, folder);
  const source = join(here, "entries", entries);
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });

  /** @type {Record<string, Written>} */
  const files = {};
  const licences = new Map();
  for (const name of (await readdir(source)).sort()) {
    if (name === "plain-code.js") continue;
    if (name.endsWith(".d.ts")) {
      files[name] = await write(join(out, name), await readFile(join(source, name), "utf8"), []);
      continue;
    }
    const { code, packages } = await bundle(join(source, name));
    files[name] = await write(join(out, name), code, packages);
  }
  if (icons.length) {
    files["icons.svg"] = await write(join(out, "icons.svg"), await sprite(icons), ["lucide-static"]);
  }
  for (const { packages } of Object.values(files)) {
    for (const name of Object.keys(packages)) licences.set(name, await licence(name));
  }
  await writeFile(join(out, "LICENSES.txt"), [...licences.keys()].sort().map((k) => licences.get(k)).join("\n"));
  await writeFile(join(out, "versions.json"), `${JSON.stringify(files, null, 2)}\n`);
}

/** @param {string} entry */
async function bundle(entry) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: here,
    bundle: true,
    charset: "utf8",
    entryPoints: [entry],
    format: classic.has(basename(entry)) ? "iife" : "esm",
    legalComments: "none",
    metafile: true,
    minify: true,
    plugins: [highlighter, noFormulas],
    target: "es2022",
    write: false,
  });
  // A source map that is not there stops `collectstatic` with hashed names.
  const code = outputFiles[0].text.replace(/^\/\/# sourceMappingURL=.*$/gm, "");
  const packages = Object.entries(Object.values(metafile.outputs)[0].inputs)
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path.match(/^(node_modules\/(?:@[^/]+\/)?[^/]+\/)+/)?.[0])
    .filter((folder) => folder !== undefined)
    .map((folder) => folder.slice("node_modules/".length, -1));
  return { code, packages };
}

/** @param {string} path @param {string} code @param {string[]} names of packages @returns {Promise<Written>} */
async function write(path, code, names) {
  await writeFile(path, code);
  /** @type {Record<string, string>} */
  const packages = {};
  for (const name of [...new Set(names)].sort()) packages[name] = (await manifest(name)).version;
  return { sha256: createHash("sha256").update(code).digest("hex"), packages };
}

/** @param {string} name as `mermaid/node_modules/marked` where a package brings its own */
async function manifest(name) {
  return JSON.parse(await readFile(join(modules, name, "package.json"), "utf8"));
}

/** @param {string} name */
async function licence(name) {
  const { version, license } = await manifest(name);
  const found = (await readdir(join(modules, name))).filter((file) => /^(licen[cs]e|copying)/i.test(file)).sort();
  const texts = await Promise.all(found.map((file) => readFile(join(modules, name, file), "utf8")));
  const text = texts.join("\n\n").trim() || (await licenceInReadme(name)) || `Licensed under ${license}; the package brings no licence text.`;
  return `${"=".repeat(78)}\n${name} ${version} (${license})\n${"=".repeat(78)}\n\n${text}\n`;
}

/** @param {string} name */
async function licenceInReadme(name) {
  const readme = await readFile(join(modules, name, "README.md"), "utf8").catch(() => "");
  return readme.match(/^#+ Licen[cs]e\s*$([\s\S]*?)(?=^#|(?![\s\S]))/m)?.[1].trim();
}

/** @param {string[]} names */
async function sprite(names) {
  const symbols = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(modules, "lucide-static", "icons", `${name}.svg`), "utf8");
      const shapes = text.replace(/<!--.*?-->/gs, "").replace(/^\s*<svg[^>]*>|<\/svg>\s*$/gs, "");
      return `<symbol id="${name}" viewBox="0 0 24 24">${shapes.replace(/\s*\n\s*/g, "")}</symbol>`;
    }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg">\n${symbols.join("\n")}\n</svg>\n`;
}

console.log(targets.map(({ folder }) => relative(process.cwd(), join(root, folder))).join("\n"));
