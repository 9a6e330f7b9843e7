/* Keeps static files, whose names change with their content, and the page for no connection.
   Pages, answers and files of people are never kept. */
// biome-ignore lint/suspicious/noRedundantUseStrict: workers are scripts, not modules.
"use strict";

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const CACHE = "quickapps-{{ version }}";
const OFFLINE = "{% url 'offline' %}";
/** @type {string[]} */
const FILES = JSON.parse('{{ files|escapejs }}');
const HASHED = /^\/static\/.+\.[0-9a-f]{12}\.[a-z0-9.]+$/;

worker.addEventListener("install", (event) => {
  event.waitUntil(keepOffline());
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(forgetOthers());
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const address = new URL(request.url);
  if (request.method !== "GET" || address.origin !== worker.location.origin) return;
  if (request.mode === "navigate") event.respondWith(page(event));
  else if (HASHED.test(address.pathname)) event.respondWith(staticFile(request));
  else if (FILES.includes(address.pathname)) {
    event.respondWith(fetch(request).catch(() => kept(address.pathname)));
  }
});

async function keepOffline() {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES.map((file) => new Request(file, { cache: "no-cache", credentials: "omit" })));
  await worker.skipWaiting();
}

async function forgetOthers() {
  // The browser asks for a page while the worker still starts.
  await worker.registration.navigationPreload?.enable();
  const names = await caches.keys();
  const others = names.filter((name) => name.startsWith("quickapps-") && name !== CACHE);
  await Promise.all(others.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/** @param {FetchEvent} event */
async function page({ request, preloadResponse }) {
  try {
    return (await preloadResponse) ?? (await fetch(request));
  } catch {
    return kept(OFFLINE);
  }
}

/** @param {Request} request */
async function staticFile(request) {
  const cache = await caches.open(CACHE);
  const known = await cache.match(request);
  if (known) return known;
  const answer = await fetch(request);
  if (answer.ok && answer.type === "basic") await cache.put(request, answer.clone());
  return answer;
}

/** @param {string} address */
async function kept(address) {
  const cache = await caches.open(CACHE);
  return (await cache.match(address)) ?? Response.error();
}
