/** Forms that are sent without leaving the page. */

/**
 * @param {string} path
 * @param {Record<string, string>} fields
 * @returns {Promise<boolean>} whether the server did it
 */
export async function post(path, fields) {
  const token = document.querySelector("input[name=csrfmiddlewaretoken]");
  const body = new URLSearchParams(fields);
  if (token instanceof HTMLInputElement) body.set("csrfmiddlewaretoken", token.value);
  try {
    const response = await fetch(path, { method: "POST", body, redirect: "manual" });
    // A form's usual thanks is a redirect, which is not followed here.
    return response.ok || response.type === "opaqueredirect";
  } catch {
    return false;
  }
}
