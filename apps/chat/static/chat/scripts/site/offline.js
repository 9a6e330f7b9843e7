/** The offline page: loads the requested page as soon as the server is reachable. */

/** Milliseconds between two checks. */
const PAUSE = 5000;

document.getElementById("retry")?.addEventListener("click", () => location.reload());
addEventListener("online", () => location.reload());
setInterval(() => void look(), PAUSE);

async function look() {
  try {
    const answer = await fetch("/manifest.webmanifest", { cache: "no-store", method: "HEAD" });
    if (answer.ok) location.reload();
  } catch {
    // Still unreachable.
  }
}
