/** Formats durations and times. */

import { gettext, language, locale } from "./texts.js";

/** The server's formats (`quickapps_site/formats`). */
const DAYS = new Intl.DateTimeFormat({ en: "en-GB", ar: locale }[language] ?? language, {
  day: "numeric",
  month: language === "uk" ? "long" : "short",
  year: "numeric",
});
const TIMES = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** @param {number} seconds @returns {string} such as "0.4 s", "12 s", "1 min" or "2 min 5 s" */
export function secondsText(seconds) {
  if (seconds < 0.05) return gettext("< {seconds} s", { seconds: tenths(0.1) });
  if (seconds < 9.95) return gettext("{seconds} s", { seconds: tenths(seconds) });
  const whole = Math.round(seconds);
  if (whole < 60) return gettext("{seconds} s", { seconds: whole });
  if (whole % 60 === 0) return gettext("{minutes} min", { minutes: whole / 60 });
  return gettext("{minutes} min {seconds} s", { minutes: Math.floor(whole / 60), seconds: whole % 60 });
}

/** @param {string} moment as ISO 8601 @returns {string} such as "3 Nov 2026, 17:05", because a relative time would become wrong on an open page */
export function momentText(moment) {
  const then = new Date(moment);
  if (Number.isNaN(then.getTime())) return "";
  return `${DAYS.format(then)}${language === "ar" ? "،" : ","} ${TIMES.format(then)}`;
}

/** @param {number} seconds */
function tenths(seconds) {
  return seconds.toLocaleString(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}
