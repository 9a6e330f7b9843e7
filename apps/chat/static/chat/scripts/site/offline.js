/** The page for no connection: loads what was asked for as soon as the server can be reached. */

/** Milliseconds between two looks. */
const PAUSE = 5000;

document.getElementById("retry")?.addEventListener("click", () => location.reload());
addEventListener("online", () => location.reload());
setInterval(() => void look(), PAUSE);

async function look() {
  try {
    const answer = await fetch("/manifest.webmanifest", { cache: "no-store", method: "HEAD" });
    if (answer.ok) location.reload();
  } catch {
    // Still away.
  }
}
