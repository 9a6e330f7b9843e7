/** Forms that are sent without leaving the page. */

/**
 * Configures the requests of a frame on another site, which has no cookie: they go below its own URL, with a token.
 * @type {{base: string, headers: Record<string, string>}}
 */
const sender = { base: "", headers: {} };

/** @param {string} base of all paths @param {Record<string, string>} headers of all requests */
export function sendBelow(base, headers) {
  Object.assign(sender, { base, headers });
}

/** @param {string} path @param {RequestInit} [given] @returns {Promise<Response>} */
function send(path, given = {}) {
  return fetch(sender.base + path, { ...given, headers: { ...given.headers, ...sender.headers } });
}

/** @returns {Record<string, string>} the headers of a request that changes something */
export function proof() {
  return { "X-CSRFToken": csrfToken(), ...sender.headers };
}

/** @returns {string} the token that proves that a request comes from the server's own page */
export function csrfToken() {
  const token = document.querySelector("input[name=csrfmiddlewaretoken]");
  return token instanceof HTMLInputElement ? token.value : "";
}

/**
 * @param {string} path
 * @param {Record<string, string>} fields
 * @returns {Promise<boolean>} true if the request succeeded
 */
export async function post(path, fields) {
  const body = new URLSearchParams({ ...fields, csrfmiddlewaretoken: csrfToken() });
  try {
    const response = await send(path, { method: "POST", body, redirect: "manual" });
    // A form's usual thanks is a redirect, which is not followed here.
    return response.ok || response.type === "opaqueredirect";
  } catch {
    return false;
  }
}

/**
 * @param {string} path @param {Record<string, string>} fields
 * @returns {Promise<{status: number, told: any}>} the answer, which is JSON; status 0 if there is none
 */
export async function postForm(path, fields) {
  const body = new URLSearchParams({ ...fields, csrfmiddlewaretoken: csrfToken() });
  try {
    const response = await send(path, { method: "POST", body });
    return { status: response.status, told: await response.json() };
  } catch {
    return { status: 0, told: null };
  }
}

/** @param {string} path @returns {Promise<boolean>} true if it is deleted */
export async function remove(path) {
  try {
    const headers = proof();
    const response = await send(path, { method: "DELETE", headers });
    return response.ok || response.status === 404;
  } catch {
    return false;
  }
}

/**
 * @param {string} path @param {object} body
 * @returns {Promise<{status: number, told: any}>} the answer, which is JSON; status 0 if there is none
 */
export async function postJson(path, body) {
  try {
    const headers = { "Content-Type": "application/json", ...proof() };
    const response = await send(path, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, told: await response.json() };
  } catch {
    return { status: 0, told: null };
  }
}

/** @param {string} path @returns {Promise<any>} the response as JSON, or null if the server is unreachable */
export async function get(path) {
  try {
    const response = await send(path, { headers: { Accept: "application/json" } });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}
