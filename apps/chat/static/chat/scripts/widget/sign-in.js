/** The window in which a user of this site signs in to a widget: it gives the frame that has opened it a code. */

const CHANNEL = new BroadcastChannel("quickapps sign-in");
const { code, done } = document.body.dataset;

if (code) {
  // Another site that has opened this window learns nothing.
  window.opener?.postMessage(["quickapps sign-in", code], location.origin);
  window.close();
} else if (done !== undefined) CHANNEL.postMessage("done");
// The page of the sign-in is in a window of its own, because it separates itself from the frame.
else CHANNEL.addEventListener("message", () => location.reload());
