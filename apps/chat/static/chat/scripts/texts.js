/**
 * Texts in the language of the page. The catalog is a separate script that is loaded first; English has none.
 */

/** @typedef {Record<string, string | number>} Values the values of the placeholders in a text, such as `{name}` */
/** @typedef {{gettext: (text: string) => string, pgettext: (meaning: string, text: string) => string, ngettext: (one: string, many: string, count: number) => string}} Catalogue */

export const language = document.documentElement.lang || "en";

/** The locale of dates and numbers: the user's region if the browser reports one, with the digits of the page's language. */
export const locale =
  language === "ar" ? "ar-u-nu-latn" : (navigator.languages.find((one) => one.split("-")[0] === language) ?? language);

// Pages of the admin have an object of this name without a catalog.
const catalogue = globalThis.django?.gettext && globalThis.django;

/** @param {string} text @param {Values} [values] @returns {string} */
export function gettext(text, values = {}) {
  return filled(catalogue ? catalogue.gettext(text) : text, values);
}

/** The same for a text with several meanings. @param {string} meaning @param {string} text @param {Values} [values] @returns {string} */
export function pgettext(meaning, text, values = {}) {
  return filled(catalogue ? catalogue.pgettext(meaning, text) : text, values);
}

/** A text with a number, which is `{count}` in it. @param {string} one @param {string} many @param {number} count @param {Values} [values] @returns {string} */
export function ngettext(one, many, count, values = {}) {
  const english = count === 1 ? one : many;
  return filled(catalogue ? catalogue.ngettext(one, many, count) : english, { count, ...values });
}

/** @param {string} text @param {Values} values */
function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? value.toLocaleString(locale) : value;
  });
}
