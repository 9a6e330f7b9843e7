/** A click on a picture opens it in a dialog, with the other pictures of the message. */

document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const place = event.target instanceof Element ? event.target.closest("[data-zoom]") : null;
  if (!(place instanceof HTMLElement)) return;
  event.preventDefault();
  void import("./picture-viewer.js").then(({ view }) => view(place));
});
