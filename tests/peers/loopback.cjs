// Loaded before a server: it listens on the loopback alone, on LOOPBACK_PORT or a free
// port, which it prints.
const { Server } = require("node:net");

const { listen } = Server.prototype;
Server.prototype.listen = function (_port, ...rest) {
  this.once("listening", () => console.log(`port ${this.address().port}`));
  return listen.call(this, Number(process.env.LOOPBACK_PORT ?? 0), "127.0.0.1", ...rest);
};
