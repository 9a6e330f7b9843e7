// Shows the chat of an application in a frame: <script src="…/widget.js" data-app="SLUG" async></script>
(() => {
  const script = /** @type {HTMLScriptElement} */ (document.currentScript);
  const { app = "", title = "Chat", locale, side, theme, ...tokens } = script.dataset;
  const address = new URL(`widget/${encodeURIComponent(app)}/`, script.src);
  const frame = document.createElement("iframe");
  const { style } = frame;
  /** @type {Record<string, any>} the messages that the frame gets again after a reload */
  const kept = { theme: { ...tokens, scheme: theme } };
  /** @type {[string, any][]} */
  let waiting = [];
  /** @type {MessagePort | undefined} */
  let port;
  /** @type {Element | null} */
  let focused;
  const api = new EventTarget();

  /** @param {string} verb @param {any} value */
  const send = (verb, value) => {
    if (verb === "theme") value = { ...kept.theme, ...value };
    if (verb === "theme" || verb === "context") kept[verb] = value;
    if (verb === "theme") style.colorScheme = value.scheme || "light dark";
    if (verb === "open") {
      focused = document.activeElement;
      frame.focus();
    }
    if (port) port.postMessage([verb, value]);
    else waiting.push([verb, value]);
  };

  /** @param {MessageEvent} message */
  const receive = ({ data: [verb, detail] }) => {
    if (verb === "size") {
      style.width = `${+detail.width}px`;
      style.height = `${+detail.height}px`;
    }
    if (verb === "opened" || verb === "closed") {
      const margin = verb === "opened" && innerWidth > 500 ? "16px" : "0px";
      const [corners, boxShadow] = verb === "opened" ? [`16px 16px ${margin} ${margin}`, "0 9px 48px #0005"] : ["0px", "none"];
      Object.assign(style, { margin, borderRadius: corners, boxShadow });
    }
    if (verb === "closed" && document.activeElement === frame && focused instanceof HTMLElement) focused.focus();
    if (verb === "closed") focused = null;
    api.dispatchEvent(new CustomEvent(verb, { detail }));
  };

  for (const verb of ["open", "close", "ask", "context", "theme", "locale", "identity"]) {
    Object.assign(api, { [verb]: (/** @type {any} */ value) => send(verb, value) });
  }
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== address.origin || data !== "quickapps ready") return;
    const { port1, port2 } = new MessageChannel();
    port = port1;
    port.onmessage = receive;
    frame.contentWindow?.postMessage(["quickapps port", [...Object.entries(kept), ...waiting]], origin, [port2]);
    waiting = [];
    style.visibility = "visible";
    api.dispatchEvent(new CustomEvent("ready"));
  });
  if (locale) address.searchParams.set("locale", locale);
  if (side) address.searchParams.set("side", side);
  frame.title = title;
  frame.allow = "clipboard-write";
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads");
  // Properties, because the policy of the page may forbid style attributes.
  Object.assign(style, { position: "fixed", bottom: "0", [side === "left" ? "left" : "right"]: "0", width: "80px", height: "80px", maxWidth: "100vw", maxHeight: "calc(100dvh - 32px)" });
  Object.assign(style, { border: "0", zIndex: "2147483000", visibility: "hidden", colorScheme: theme || "light dark" });
  frame.src = address.href;
  Object.assign(globalThis, { QuickApps: api });
  (document.body ?? document.documentElement).append(frame);
})();
