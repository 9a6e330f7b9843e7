/** Registers the worker that keeps static files and shows a page when there is no connection. */

if ("serviceWorker" in navigator) {
  addEventListener("load", () => {
    // Private windows and insecure origins refuse; the page works without.
    navigator.serviceWorker.register("/service-worker.js").catch(() => undefined);
  });
}
