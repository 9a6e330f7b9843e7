/** Registers the service worker, which caches static files and provides the offline page. */

if ("serviceWorker" in navigator) {
  addEventListener("load", () => {
    // Private windows and insecure origins refuse it; the page works without it.
    navigator.serviceWorker.register("/service-worker.js").catch(() => undefined);
  });
}
