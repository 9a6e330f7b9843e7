// Joins the scripts and styles that templates name with all that these import.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const staticFiles = join(root, "apps", "chat", "static");
const folder = "chat/bundles";

// Classic scripts stand alone. A style is worth a bundle if it imports others.
const moduleScript = /<script type="module" src="\{% static '(chat\/scripts\/[\w/-]+\.js)' %\}">/g;
const style = /<link rel="stylesheet" href="\{% static '(chat\/styles\/[\w-]+\.css)' %\}">/g;

// Vendored files stay files of their own: pages fetch them once, and their licences stand beside them.
/** @type {import("esbuild").Plugin} */
const vendored = {
  name: "vendored",
  setup({ onResolve }) {
    onResolve({ filter: /^(\.\.\/)+vendor\// }, ({ path }) => {
      return { path: path.replace(/^(\.\.\/)+/, "../"), external: true };
    });
  },
};

// A bundle stands elsewhere than the scripts it was made of, and names files as seen from there.
/** @type {import("esbuild").Plugin} */
const addresses = {
  name: "addresses",
  setup({ onLoad }) {
    onLoad({ filter: /\/chat\/scripts\/.*\.js$/ }, async ({ path }) => {
      const seenFrom = (/** @type {string} */ named) =>
        posix.relative(join(staticFiles, folder), join(dirname(path), named));
      const contents = (await readFile(path, "utf8")).replaceAll(
        /(new URL\(")(\.[^"]+)(", import\.meta\.url\))/g,
        (_, before, named, after) => before + seenFrom(named) + after,
      );
      return { contents, loader: "js" };
    });
  },
};

const entries = await namedByTemplates();
const isOfWidget = (/** @type {string} */ entry) => entry.includes("/widget/");
// Together, more files would be split, and the pages would need more requests.
const builds = [
  await bundle(entries.filter((one) => !isOfWidget(one))),
  await bundle(entries.filter(isOfWidget)),
];
const outputFiles = builds.flatMap((one) => one.outputFiles);
/** @type {import("esbuild").Metafile} */
const metafile = {
  inputs: Object.assign({}, ...builds.map((one) => one.metafile.inputs)),
  outputs: Object.assign({}, ...builds.map((one) => one.metafile.outputs)),
};
const out = join(staticFiles, folder);
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
for (const { path, contents } of outputFiles) await writeFile(path, contents);
await writeFile(join(out, "bundles.json"), `${JSON.stringify(await description(), null, 2)}\n`);
console.log(`${relative(process.cwd(), out)}: ${outputFiles.length} files`);

/** @param {string[]} entryPoints */
function bundle(entryPoints) {
  return build({
    absWorkingDir: staticFiles,
    bundle: true,
    charset: "utf8",
    chunkNames: "[name]-[hash]",
    entryPoints,
    entryNames: "[name]",
    external: ["*.svg", "*.png", "*.woff2"],
    format: "esm",
    legalComments: "none",
    metafile: true,
    minify: true,
    outdir: folder,
    plugins: [vendored, addresses],
    splitting: true,
    target: "es2022",
    write: false,
  });
}

async function namedByTemplates() {
  const found = new Set();
  const names = await readdir(join(root, "templates"), { recursive: true });
  for (const name of names.filter((one) => one.endsWith(".html"))) {
    const template = await readFile(join(root, "templates", name), "utf8");
    for (const [, entry] of template.matchAll(moduleScript)) found.add(entry);
    for (const [, entry] of template.matchAll(style)) if (await importsOthers(entry)) found.add(entry);
  }
  return [...found].sort();
}

/** @param {string} entry */
async function importsOthers(entry) {
  return (await readFile(join(staticFiles, entry), "utf8")).includes("@import");
}

/** Which bundle stands for which file, what each imports, and the SHA-256 of every file that went into one. */
async function description() {
  /** @type {Record<string, string>} */
  const bundles = {};
  /** @type {Record<string, string[]>} */
  const imports = {};
  for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (!entryPoint || !entries.includes(entryPoint)) continue;
    bundles[entryPoint] = path;
    imports[path] = [...importsOf(path)].sort();
  }
  /** @type {Record<string, string>} */
  const sources = {};
  for (const name of Object.keys(metafile.inputs).sort()) {
    const text = await readFile(join(staticFiles, name));
    sources[name] = createHash("sha256").update(text).digest("hex");
  }
  return { bundles, imports, sources };
}

/** All that has to be there before a script runs. @param {string} path @param {Set<string>} found */
function importsOf(path, found = new Set()) {
  for (const { path: named, kind, external } of metafile.outputs[path]?.imports ?? []) {
    const name = external ? posix.join(folder, named) : named;
    if (kind !== "import-statement" || found.has(name)) continue;
    found.add(name);
    importsOf(name, found);
  }
  return found;
}
