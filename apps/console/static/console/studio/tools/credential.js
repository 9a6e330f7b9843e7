// The authentication of a service and its credential: a secret's name, or typed text, which saving
// converts to a secret.

import { element, field, newId, quiet, selectField, textField } from "../elements.js";
import { pickerField } from "../pickers.js";

/**
 * @import { Choices, Json } from "../data.js"
 * @import { Store } from "../store.js"
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
 * @param {Store} store @param {string} path @param {Choices} choices @param {boolean} isRest
 */
export function authorizationField(store, path, choices, isRest) {
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
    if (credential) rest.push(credentialField(store, `${path}.${credential}`, choices));
    for (const name of TEXTS[kind] ?? []) {
      rest.push(textField(store, { path: `${path}.${name}`, empty: name === "scope" ? undefined : "" }));
    }
    if (kind === "api_key") {
      const options = [["header", "A header"], ["query", "The URL"]];
      if (isRest) options.push(["body", "The body"]);
      rest.push(selectField(store, { path: `${path}.location`, options }));
    }
    box.replaceChildren(field(store, { path, control, isExact: true }), ...rest);
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

/** @param {Store} store @param {string} path @param {Choices} choices */
function credentialField(store, path, choices) {
  const value = store.get(path);
  const name = value?.$secret ?? "";
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
  const isMissing = name && !choices.secrets.includes(name);
  const { secret: add } = choices.add;
  const box = pickerField(store, {
    path,
    value: name,
    choices: () => choices.secrets.map((one) => [one, one]),
    empty: "Entered here",
    unknown: "Does not exist yet",
    add: add && isMissing ? [`Add the secret ${name}`, `${add}?name=${encodeURIComponent(name)}`] : add && ["Add a secret", add],
    onchange: (chosen) => {
      own.hidden = Boolean(chosen);
      store.change(path, chosen ? { $secret: chosen } : typed.value);
    },
  });
  box.append(own);
  return box;
}
