/**
 * Waits a moment for the socket that opens the conversation, before the elements of the page are created.
 *
 * The browser reads the server's frames from the network only after the page has handled the `open` event. It handles
 * no events while the elements are created and drawn, which takes longer than the server takes to answer.
 */

/** Milliseconds that the socket of a nearby server still needs at this point. For a distant server, the wait is insignificant. */
const LONGEST = 12;

const { firstSocket } = /** @type {{firstSocket?: import("./connection.js").FirstSocket}} */ (globalThis);
if (firstSocket?.opens && firstSocket.socket.readyState === WebSocket.CONNECTING) {
  await new Promise((resolve) => {
    firstSocket.socket.addEventListener("open", resolve, { once: true });
    setTimeout(resolve, LONGEST);
  });
}
