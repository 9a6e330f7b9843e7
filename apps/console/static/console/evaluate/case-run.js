// Keeps the page of a test run up to date while the run is active.

const place = document.querySelector("[data-results][data-going]");
if (place) void follow(place);

/** @param {Element} place */
async function follow(place) {
  while (place.querySelector("[data-goes-on]")) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    try {
      const response = await fetch(location.href, { headers: { "X-Fragment": "1" }, redirect: "error" });
      if (!response.ok) return;
      const open = new Set(summaries(place).filter((one) => one.open).map((one) => number(place, one)));
      place.innerHTML = await response.text();
      for (const one of summaries(place)) one.open = open.has(number(place, one));
    } catch {
      return; // The server is unreachable; the content stays.
    }
  }
}

/** @param {Element} place */
const summaries = (place) => [...place.querySelectorAll("details")];
/** @param {Element} place @param {HTMLDetailsElement} one */
const number = (place, one) => summaries(place).indexOf(one);
