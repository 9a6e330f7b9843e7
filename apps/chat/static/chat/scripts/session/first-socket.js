// Opens the socket of the chat page, and its conversation, before the modules of the page are loaded.
(() => {
  const { socket: path = "", conversation = "" } = document.currentScript?.dataset ?? {};
  const address = new URL(path, location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  // A page in the background does not mark its conversation as seen; it has to report that first.
  const opens = document.hidden ? "" : conversation;
  if (opens) address.searchParams.set("open", opens);
  const socket = new WebSocket(address);
  /** @type {string[]} */
  const received = [];
  socket.onmessage = ({ data }) => received.push(data);
  Object.assign(window, { firstSocket: { socket, opens, received } });
})();
