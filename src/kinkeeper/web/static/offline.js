// Starts the service worker, and says plainly when a page is only a copy or the connection is gone: what needs the
// server is switched off until it is back.

const notice = document.getElementById("offline");
const { offline, at, clock, day } = document.body.dataset;
const held = [];

function asOf() {
  const made = new Date(offline ? Number(offline) : Date.parse(at));
  const isToday = made.toDateString() === new Date().toDateString();
  return isToday ? clock : `${day}, ${clock}`;
}

function hold() {
  if (held.length) return;
  for (const each of document.querySelectorAll("main button, main input, main select, main textarea, .me button")) {
    if (each.disabled) continue;
    each.disabled = true;
    held.push(() => { each.disabled = false; });
  }
  for (const each of document.querySelectorAll("a[href]:not(.skip)")) {
    const href = each.getAttribute("href");
    if (href === "/" || href === "/pending" || href.startsWith("#")) continue;
    each.removeAttribute("href");
    each.setAttribute("role", "link");
    each.setAttribute("aria-disabled", "true");
    held.push(() => { each.href = href; each.removeAttribute("role"); each.removeAttribute("aria-disabled"); });
  }
}

function lost() {
  if (!notice) return;
  notice.textContent = `Offline. As of ${asOf()}.`;
  notice.hidden = false;
  hold();
}

function back() {
  if (offline) { location.reload(); return; }
  if (notice) notice.hidden = true;
  for (const release of held.splice(0)) release();
  document.dispatchEvent(new Event("stale"));
}

if (notice) {
  if (offline || !navigator.onLine) lost();
  addEventListener("offline", lost);
  addEventListener("online", back);
}

async function start(workers) {
  await workers.register("/service-worker.js", { scope: "/", updateViaCache: "none" });
  const ready = await workers.ready;
  ready.active.postMessage("fill in");
}

if (navigator.serviceWorker) {
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    navigator.serviceWorker.controller?.postMessage("fill in");
  });
  // Private windows and plain HTTP have none; the pages work without it.
  start(navigator.serviceWorker).catch(() => {});
}
