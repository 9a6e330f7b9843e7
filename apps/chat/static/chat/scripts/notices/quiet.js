/** The user's quiet hours. */

/** @typedef {{from: string, until: string, zone: string}} QuietHours "22:00", "07:00" and a time zone */

/** @param {QuietHours | null} hours that may extend past midnight @param {Date} now */
export function isQuiet(hours, now) {
  if (!hours) return false;
  const form = { timeZone: hours.zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const time = new Intl.DateTimeFormat("en-GB", /** @type {Intl.DateTimeFormatOptions} */ (form)).format(now);
  const { from, until } = hours;
  return from < until ? from <= time && time < until : time >= from || time < until;
}
