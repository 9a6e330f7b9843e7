// Loaded before a server: it listens on the loopback alone, on LOOPBACK_PORT or a free
// port, which it prints.
const { Server } = require("node:net");

const { listen } = Server.prototype;
/** @this {import("node:net").Server} @param {unknown} _port @param {any[]} rest */
Server.prototype.listen = function (_port, ...rest) {
  this.once("listening", () => {
    const address = /** @type {import("node:net").AddressInfo} */ (this.address());
    console.log(`port ${address.port}`);
  });
  return Reflect.apply(listen, this, [Number(process.env.LOOPBACK_PORT ?? 0), "127.0.0.1", ...rest]);
};
