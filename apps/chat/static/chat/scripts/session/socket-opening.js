/**
 * Waits a moment for the socket that opens the conversation, before the elements of the page are made.
 *
 * What the server sends is not read from the network until the page has seen that its socket is open. Nothing is
 * seen while the elements are made and drawn, which takes longer than the server takes to answer.
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
