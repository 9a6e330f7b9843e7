/** Files that are dropped onto the page. */

/**
 * @param {HTMLElement} zone is shown while files are held over the page
 * @param {(files: FileList) => void} take
 * @param {() => boolean} isPossible
 */
export function acceptDrops(zone, take, isPossible) {
  let depth = 0;
  /** @param {boolean} isOver */
  const show = (isOver) => (zone.hidden = !isOver);
  addEventListener("dragenter", (event) => {
    if (!hasFiles(event) || !isPossible()) return;
    event.preventDefault();
    depth += 1;
    show(true);
  });
  addEventListener("dragleave", (event) => {
    if (!hasFiles(event)) return;
    depth = Math.max(0, depth - 1);
    if (depth === 0) show(false);
  });
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    // Otherwise, the browser would navigate to the file.
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = isPossible() ? "copy" : "none";
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    show(false);
    if (isPossible() && event.dataTransfer) take(event.dataTransfer.files);
  });
}

/** @param {DragEvent} event */
function hasFiles(event) {
  return event.dataTransfer?.types.includes("Files") ?? false;
}
