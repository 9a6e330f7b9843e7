/** Forms that are sent without leaving the page. */

/** @returns {string} what proves to the server that a request comes from its own page */
export function csrfToken() {
  const token = document.querySelector("input[name=csrfmiddlewaretoken]");
  return token instanceof HTMLInputElement ? token.value : "";
}

/**
 * @param {string} path
 * @param {Record<string, string>} fields
 * @returns {Promise<boolean>} whether the server did it
 */
export async function post(path, fields) {
  const body = new URLSearchParams({ ...fields, csrfmiddlewaretoken: csrfToken() });
  try {
    const response = await fetch(path, { method: "POST", body, redirect: "manual" });
    // A form usually responds with a redirect, which is not followed here.
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
    const response = await fetch(path, { method: "POST", body });
    return { status: response.status, told: await response.json() };
  } catch {
    return { status: 0, told: null };
  }
}

/** @param {string} path @returns {Promise<boolean>} whether it is gone */
export async function remove(path) {
  try {
    const headers = { "X-CSRFToken": csrfToken() };
    const response = await fetch(path, { method: "DELETE", headers });
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
    const headers = { "Content-Type": "application/json", "X-CSRFToken": csrfToken() };
    const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, told: await response.json() };
  } catch {
    return { status: 0, told: null };
  }
}

/** @param {string} path @returns {Promise<any>} what the server says as JSON, null if it cannot be asked */
export async function get(path) {
  try {
    const response = await fetch(path, { headers: { Accept: "application/json" } });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}
