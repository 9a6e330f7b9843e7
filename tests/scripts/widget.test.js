/** The loader of the widget on another site, and what its frame says and hears through the port. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openWindow } from "./support/tab.js";
import { settle } from "./support/until.js";

const SITE = "https://chat.example";
const SHOP = "https://shop.example";
const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads";

/** A page that has included the loader, and what it sent into its frame. */
async function include(t, data = {}) {
  const tab = await openWindow(t);
  const { window, document } = tab;
  window.happyDOM.settings.disableIframePageLoading = true;
  /** @type {any[]} */
  const sent = [];
  const port1 = { onmessage: null, postMessage: (said) => sent.push(said) };
  window.MessageChannel = function Channel() {
    return { port1, port2: "port" };
  };
  const inner = { postMessage: (...told) => sent.push(told) };
  Object.defineProperty(window.HTMLIFrameElement.prototype, "contentWindow", { get: () => inner });
  const script = document.createElement("script");
  Object.assign(script.dataset, { app: "desk", ...data });
  Object.defineProperty(script, "src", { value: `${SITE}/widget.js` });
  tab.scripts.run("/static/chat/scripts/widget/loader.js", script);
  const say = (said, source = inner, origin = SITE) =>
    window.dispatchEvent(new window.MessageEvent("message", { data: said, source, origin }));
  return { tab, window, sent, say, frame: document.querySelector("iframe"), hear: (said) => port1.onmessage({ data: said }) };
}

test("the loader adds a hidden frame with a sandbox, by properties alone", async (t) => {
  const { frame } = await include(t, { title: "Ask us", locale: "de", side: "left", theme: "dark" });

  assert.equal(frame.src, `${SITE}/widget/desk/?locale=de&side=left`);
  assert.equal(frame.title, "Ask us");
  assert.equal(frame.getAttribute("sandbox"), SANDBOX);
  assert.equal(frame.style.visibility, "hidden");
  assert.equal(frame.style.left, "0px");
  assert.equal(frame.style.colorScheme, "dark");
});

test("only the frame itself gets a port, with what was said before", async (t) => {
  const { window, sent, say, frame } = await include(t, { accent: "#123456" });
  window.QuickApps.ask("How much?");
  window.QuickApps.context({ product: "Boots" });

  say("quickapps ready", {});
  say("quickapps ready", undefined, "https://evil.example");
  say("hello");
  assert.deepEqual(sent, []);
  say("quickapps ready");

  const [[name, waiting], origin, ports] = JSON.parse(JSON.stringify(sent[0]));
  assert.deepEqual([name, origin, ports], ["quickapps port", SITE, ["port"]]);
  assert.deepEqual(waiting, [
    ["theme", { accent: "#123456" }],
    ["context", { product: "Boots" }],
    ["ask", "How much?"],
    ["context", { product: "Boots" }],
  ]);
  assert.equal(frame.style.visibility, "visible");
});

test("a frame that has reloaded is told its theme and its context again, and nothing twice", async (t) => {
  const { window, sent, say } = await include(t);
  say("quickapps ready");
  window.QuickApps.theme({ accent: "#abcdef" });
  window.QuickApps.context("Boots");
  window.QuickApps.ask("How much?");
  sent.length = 0;

  say("quickapps ready");

  assert.deepEqual(JSON.parse(JSON.stringify(sent[0][0][1])), [["theme", { accent: "#abcdef" }], ["context", "Boots"]]);
});

test("the frame sets its size, and its events are those of the page", async (t) => {
  const { window, say, hear, frame } = await include(t);
  const heard = [];
  for (const name of ["opened", "error"]) window.QuickApps.addEventListener(name, ({ detail }) => heard.push([name, detail]));
  say("quickapps ready");

  hear(["size", { width: 400, height: "1px; x" }]);
  hear(["size", { width: 400, height: 600 }]);
  hear(["opened", {}]);
  hear(["error", { code: "x", text: "y" }]);

  assert.equal(frame.style.width, "400px");
  assert.equal(frame.style.height, "600px");
  assert.deepEqual(heard, [["opened", {}], ["error", { code: "x", text: "y" }]]);
});

/** A frame whose parent is another site. */
async function openFrame(t) {
  const tab = await openWindow(t);
  const { Host } = await tab.scripts.import("/static/chat/scripts/widget/host.js");
  const told = [];
  const parent = { postMessage: (...said) => told.push(said) };
  const host = new Host([SHOP], parent);
  const heard = [];
  for (const name of ["connected", "refused", "ask", "identity"]) host.addEventListener(name, ({ detail }) => heard.push([name, detail]));
  const answers = [];
  const port = { onmessage: null, postMessage: (said) => answers.push(said) };
  const greet = (data, { source = parent, origin = SHOP, ports = [port] } = {}) => {
    const event = new tab.window.MessageEvent("message", { data, source, origin });
    Object.defineProperty(event, "ports", { value: ports });
    tab.window.dispatchEvent(event);
  };
  return { host, told, heard, answers, greet, port };
}

test("the frame hears a listed site alone, and takes one port", async (t) => {
  const { host, told, heard, greet } = await openFrame(t);
  host.begin();

  greet(["quickapps port", []], { origin: "https://evil.example" });
  greet(["quickapps port", []], { source: {} });
  greet(["quickapps port", []], { ports: [] });
  greet("quickapps port");
  greet(["quickapps port", [["ask", "Hi"]]]);
  greet(["quickapps port", [["ask", "Again"]]]);

  assert.deepEqual(told, [["quickapps ready", "*"]]);
  assert.deepEqual(heard, [["refused", "https://evil.example"], ["connected", SHOP], ["ask", "Hi"]]);
  assert.equal(host.origin, SHOP);
});

test("an unknown verb is answered with an error", async (t) => {
  const { heard, answers, greet, port } = await openFrame(t);
  greet(["quickapps port", "nothing"]);

  for (const said of [["eval", "x"], "ask", null, ["constructor"]]) port.onmessage({ data: said });

  assert.deepEqual(heard, [["connected", SHOP]]);
  assert.deepEqual(answers.map(([verb, { code }]) => [verb, code]), Array(4).fill(["error", "verb_unknown"]));
});

test("a theme sets only known tokens with harmless values", async (t) => {
  const tab = await openWindow(t);
  const { applyTheme } = await tab.scripts.import("/static/chat/scripts/widget/theme.js");
  const { style, dataset } = tab.document.documentElement;

  const good = applyTheme({ scheme: "dark", accent: "#639", onAccent: "#ffffff", radius: "4px" });
  const bad = applyTheme({ scheme: "x", accent: "red", paper: "url(//x)", radius: "1e9px", constructor: "#fff", sans: "#fff" });

  assert.deepEqual([...good], []);
  assert.deepEqual([...bad], ["scheme", "accent", "paper", "radius", "constructor", "sans"]);
  assert.deepEqual([style.getPropertyValue("--accent"), style.getPropertyValue("--radius")], ["#639", "4px"]);
  assert.equal(dataset.theme, "dark");
  for (const value of [null, undefined, "dark", 1]) applyTheme(value);
});

test("a visitor is known by site until the token ends, also where nothing can be stored", async (t) => {
  const tab = await openWindow(t);
  const { Memory, knownVisitor } = await tab.scripts.import("/static/chat/scripts/widget/visitor.js");
  const now = Date.now() / 1000;
  const [here, there] = [new Memory("desk", SHOP), new Memory("desk", "https://b.example")];
  const visitor = { token: "t", expires: now + 3600, visitor: "v" };

  here.write("visitor", JSON.stringify(visitor));
  assert.deepEqual(JSON.parse(JSON.stringify(knownVisitor(here))), visitor);
  assert.equal(knownVisitor(there), null);
  here.write("visitor", JSON.stringify({ ...visitor, expires: now + 10 }));
  assert.equal(knownVisitor(here), null);
  here.write("visitor", "{");
  assert.equal(knownVisitor(here), null);

  Object.defineProperty(tab.window, "localStorage", {
    get() {
      throw new Error("Storage is refused.");
    },
  });
  here.write("visitor", JSON.stringify(visitor));
  assert.equal(knownVisitor(here)?.token, "t");
  await settle();
});

test("a frame sends its requests and files below its own address, with its token", async (t) => {
  const tab = await openWindow(t);
  const requests = await tab.scripts.import("/static/chat/scripts/requests.js");
  const { readFilesBelow, fileAddress, webAddress } = await tab.scripts.import("/static/chat/scripts/addresses.js");
  const { Uploads } = await tab.scripts.import("/static/chat/scripts/files/uploads.js");
  const headers = { Authorization: "Bearer t", "Accept-Language": "de" };
  tab.network.answer("GET /widget/desk/feedback/", { feedback: {} });

  requests.sendBelow("/widget/desk", headers);
  readFilesBelow("/widget/desk/key/k");
  await requests.get("/feedback/");
  await requests.post("/messages/1/feedback/", { rating: "up" });
  await requests.remove("/files/b/a.txt");
  const uploads = new Uploads("/widget/desk/files/", { size: 10, types: [], names: "", most: 1 }, () => "c");
  uploads.add([new tab.window.File(["Hi"], "a.txt", { type: "text/plain" })]);
  await settle();

  const told = tab.network.requests.map(({ method, path, headers: sent }) => [method, path, sent.Authorization]);
  assert.deepEqual(told, [
    ["GET", "/widget/desk/feedback/", "Bearer t"],
    ["POST", "/widget/desk/messages/1/feedback/", "Bearer t"],
    ["DELETE", "/widget/desk/files/b/a.txt", "Bearer t"],
  ]);
  const [upload] = tab.network.uploads;
  assert.deepEqual([upload.address, upload.headers.Authorization], ["/widget/desk/files/", "Bearer t"]);
  assert.equal(fileAddress("files/b/a b.txt").pathname, "/widget/desk/key/k/files/b/a%20b.txt");
  assert.equal(webAddress("files/b/a.txt").pathname, "/widget/desk/key/k/files/b/a.txt");
  assert.equal(fileAddress("files/b/../../../a"), null);
  assert.equal(webAddress("https://a.example/files/b/a").pathname, "/files/b/a");
});
