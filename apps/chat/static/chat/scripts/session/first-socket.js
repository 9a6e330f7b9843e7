// Opens the socket of the chat page, and its conversation, before the modules of the page are read.
(() => {
  const { socket: path = "", conversation = "" } = document.currentScript?.dataset ?? {};
  const address = new URL(path, location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  // What a page in the background shows is not seen, which it has to say first.
  const opens = document.hidden ? "" : conversation;
  if (opens) address.searchParams.set("open", opens);
  const socket = new WebSocket(address);
  /** @type {string[]} */
  const received = [];
  socket.onmessage = ({ data }) => received.push(data);
  Object.assign(window, { firstSocket: { socket, opens, received } });
})();
