// Keeps an open page true: when the server says that something changed, the page asks for itself again
// and replaces the parts that differ, keeping focus, scroll position and whatever was unfolded or typed.

const announcer = document.getElementById("announcer");

function isBusy(part) {
  const focused = document.activeElement;
  return part.contains(focused) && focused.matches("input, select, textarea");
}

function unfolded(part) {
  return [...part.querySelectorAll("details")].map((each) => each.open);
}

function replace(part, fresh) {
  const wasOpen = unfolded(part);
  const focusedId = part.contains(document.activeElement) ? document.activeElement.id : "";
  const taken = document.importNode(fresh, true);
  const details = [...taken.querySelectorAll("details")];
  if (details.length === wasOpen.length) {
    details.forEach((each, place) => { each.open = wasOpen[place]; });
  }
  part.replaceWith(taken);
  taken.classList.add("fresh");
  if (focusedId) document.getElementById(focusedId)?.focus({ preventScroll: true });
}

let isRefreshing = false;
let isStale = false;

async function refresh() {
  if (isRefreshing) { isStale = true; return; }
  isRefreshing = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (answer.redirected && new URL(answer.url).pathname === "/login") { location.reload(); return; }
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    let changed = 0;
    let told = "";
    for (const part of document.querySelectorAll("[data-part]")) {
      const fresh = page.getElementById(part.id);
      if (!fresh || isBusy(part)) continue;
      if (fresh.innerHTML !== original.get(part.id)) {
        original.set(part.id, fresh.innerHTML);
        replace(part, fresh);
        changed += 1;
        told ||= fresh.dataset.say ?? "";
      }
    }
    if (changed && announcer) announcer.textContent = told || "The page has been updated.";
  } catch {
    // The connection is gone; the event source comes back by itself and asks again.
  } finally {
    isRefreshing = false;
    if (isStale) { isStale = false; refresh(); }
  }
}

// What the server sent, before anything was unfolded here.
const original = new Map(
  [...document.querySelectorAll("[data-part]")].map((part) => [part.id, part.innerHTML]),
);

// A script of the page asked for something else.
document.addEventListener("stale", refresh);

const since = document.body.dataset.cursor;
if (since) {
  const source = new EventSource(`/live?since=${encodeURIComponent(since)}`);
  source.addEventListener("change", refresh);
  // Refused for good: the sign-in has ended, and the page with it.
  source.addEventListener("error", () => { if (source.readyState === EventSource.CLOSED) refresh(); });
  if (document.body.dataset.offline) source.addEventListener("open", () => location.reload());
  addEventListener("pagehide", () => source.close());
}
