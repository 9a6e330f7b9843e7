/** Times as a person reads them. */

/** @param {number} seconds @returns {string} such as "0.4 s", "12 s" or "2 min 5 s" */
export function secondsText(seconds) {
  if (seconds < 0.05) return "< 0.1 s";
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** @param {string} moment as ISO 8601 @returns {string} the time today, else the day */
export function momentText(moment) {
  const then = new Date(moment);
  if (Number.isNaN(then.getTime())) return "";
  const isToday = then.toDateString() === new Date().toDateString();
  return isToday
    ? then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : then.toLocaleDateString([], { day: "numeric", month: "short" });
}
