// The authentication of a service and its credential: a secret's name, or typed text, which saving
// converts to a secret.

import { element, field, link, newId, quiet, selectField, textField } from "../elements.js";

/**
 * @import { Json } from "../data.js"
 * @import { Store } from "../store.js"
 *
 * @typedef {{names: string[], add?: string}} Secrets `add`: the URL of the form for a new one
 */

/** @type {Record<string, [title: string, written: Json]>} */
const KINDS = {
  "": ["No credentials", {}],
  bearer: ["Bearer token", { token: "" }],
  api_key: ["API key", { key: "", name: "X-API-Key" }],
  basic: ["Username and password", { username: "", password: "" }],
  client_id_secret: ["OAuth client credentials", { client_id: "", client_secret: "", token_url: "" }],
  oauth: ["Each user signs in (OAuth)", {}],
  forward_auth_token: ["The caller's own token", {}],
};
/** @type {Record<string, string>} */
const LABELS = {
  username: "Name",
  name: "Name of the header or parameter",
  client_id: "Client ID",
  token_url: "Token URL",
  authorization_url: "Authorization URL",
  scope: "Scopes",
};
/** @type {Record<string, string>} */
const CREDENTIALS = { bearer: "token", api_key: "key", basic: "password", client_id_secret: "client_secret" };
/** @type {Record<string, string[]>} */
const TEXTS = {
  api_key: ["name"],
  basic: ["username"],
  client_id_secret: ["client_id", "token_url", "scope"],
  oauth: ["client_id", "authorization_url", "token_url", "scope"],
};

/**
 * `isRest`: a REST service, which also supports a key in the body and the caller's token.
 * @param {Store} store @param {string} path @param {Secrets} secrets @param {boolean} isRest
 */
export function authorizationField(store, path, secrets, isRest) {
  const box = element("div", { class: "studio-inner" });
  const draw = () => {
    const kind = store.get(path)?.type ?? "";
    const options = Object.entries(KINDS)
      .filter(([one]) => isRest || one !== "forward_auth_token")
      .map(([one, [text]]) => [one, text]);
    const control = element(
      "select",
      {},
      ...options.map(([value, text]) => element("option", { value, selected: value === kind }, text)),
    );
    control.addEventListener("change", () => {
      store.change(path, control.value ? written(control.value, isRest) : undefined);
      draw();
      box.querySelector("select")?.focus();
    });
    const rest = [];
    const credential = CREDENTIALS[kind];
    if (credential) rest.push(credentialField(store, `${path}.${credential}`, secrets));
    for (const name of TEXTS[kind] ?? []) {
      rest.push(textField(store, { label: LABELS[name], path: `${path}.${name}`, empty: name === "scope" ? undefined : "" }));
    }
    if (kind === "api_key") {
      const options = [["header", "A header"], ["query", "The URL"]];
      if (isRest) options.push(["body", "The body"]);
      rest.push(selectField(store, { label: "Sent in", path: `${path}.location`, options }));
    }
    const label = "Authentication";
    box.replaceChildren(field(store, { label, path, control, isExact: true }), ...rest);
  };
  draw();
  return box;
}

/** @param {string} kind @param {boolean} isRest */
const written = (kind, isRest) => ({
  type: kind,
  ...structuredClone(KINDS[kind][1]),
  ...(kind === "api_key" ? { location: "header" } : {}),
  ...(kind === "oauth" && isRest ? { client_id: "", authorization_url: "", token_url: "" } : {}),
});

/** @param {Store} store @param {string} path @param {Secrets} secrets */
function credentialField(store, path, secrets) {
  const value = store.get(path);
  const name = value?.$secret ?? "";
  const known = secrets.names.includes(name) || !name ? secrets.names : [name, ...secrets.names];
  const typed = element("input", {
    type: "password",
    id: newId("credential"),
    autocomplete: "off",
    value: typeof value === "string" ? value : "",
    placeholder: value?.$hidden === undefined ? "" : "Stored; enter a new one to replace it",
  });
  typed.addEventListener("input", () => store.change(path, typed.value));
  const own = element(
    "div",
    { class: "studio-inner" },
    element("label", { htmlFor: typed.id }, "Credential"),
    typed,
    quiet("When you leave the field, the credential becomes a secret, and the application only refers to it."),
  );
  own.hidden = Boolean(name);
  const control = element(
    "select",
    {},
    element("option", { value: "", selected: !name }, "Entered here"),
    ...known.map((one) =>
      element("option", { value: one, selected: one === name }, secrets.names.includes(one) ? one : `${one} (does not exist yet)`),
    ),
  );
  control.addEventListener("change", () => {
    own.hidden = Boolean(control.value);
    store.change(path, control.value ? { $secret: control.value } : typed.value);
  });
  const box = field(store, { label: "Secret", path, control });
  if (name && !secrets.names.includes(name) && secrets.add) {
    box.append(link(`Add the secret ${name}`, `${secrets.add}?name=${encodeURIComponent(name)}`));
  }
  box.append(own);
  return box;
}
