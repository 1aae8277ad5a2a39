// The service worker: keeps the files of this release, and a copy of Today and the Inbox for the time without a
// connection. The server puts RELEASE and FILES before this text. A copy belongs to one sign-in: signing in or out, and
// an answer that the sign-in has ended, delete it. Nothing else that is private is stored here.

const FILES_OF_RELEASE = `files-${RELEASE}`;
const COPIES = "copies-";
const KEPT = ["/", "/pending"];
const PATIENCE_MS = 8000;
const PROXY_SAYS_GONE = [502, 504];

// Goes up with each deletion: a page that was asked for before is not stored after it.
let deletions = 0;

async function deleteCopies(except = "") {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(COPIES) && name !== except).map((name) => caches.delete(name)));
}

function signInEnded() {
  deletions += 1;
  return deleteCopies();
}

function isSignInEnded(answer) {
  return answer.status === 401 || (answer.redirected && new URL(answer.url).pathname === "/login");
}

async function stamped(answer, seconds) {
  const headers = new Headers(answer.headers);
  for (const name of ["content-encoding", "content-length"]) headers.delete(name);
  headers.set("kinkeeper-kept-at", String(Date.now()));
  headers.set("kinkeeper-kept-until", String(Date.now() + seconds * 1000));
  return new Response(await answer.text(), { headers });
}

async function keep(path, answer, before) {
  const signIn = answer.headers.get("kinkeeper-sign-in");
  const seconds = Number(answer.headers.get("kinkeeper-offline-seconds"));
  if (answer.status !== 200 || answer.redirected || !signIn || !(seconds > 0)) return;
  const name = COPIES + signIn;
  const copy = await stamped(answer, seconds);
  if (before !== deletions) return;
  await deleteCopies(name);
  const cache = await caches.open(name);
  await cache.put(path, copy);
  if (before !== deletions) await deleteCopies();
}

async function findCopy(path) {
  for (const name of await caches.keys()) {
    if (!name.startsWith(COPIES)) continue;
    const cache = await caches.open(name);
    const found = await cache.match(path);
    if (!found) continue;
    if (Number(found.headers.get("kinkeeper-kept-until")) > Date.now()) return found;
    await cache.delete(path);
  }
  return null;
}

async function withoutConnection(path) {
  const found = await findCopy(path);
  if (!found) return (await caches.match("/offline")) ?? Response.error();
  const text = await found.text();
  const mark = `<body data-offline="${Number(found.headers.get("kinkeeper-kept-at"))}"`;
  return new Response(text.replace("<body", mark), { headers: found.headers });
}

function inTime(request) {
  const late = new Promise((_, refuse) => { setTimeout(() => refuse(new Error("late")), PATIENCE_MS); });
  return Promise.race([fetch(request), late]);
}

async function pageOf(event, url) {
  const before = deletions;
  const isVisit = event.request.mode === "navigate";
  let answer = null;
  try {
    answer = await (isVisit ? inTime(event.request) : fetch(event.request));
  } catch (error) {
    if (isVisit) return withoutConnection(url.pathname);
    throw error;
  }
  if (isSignInEnded(answer)) await signInEnded();
  else if (isVisit && PROXY_SAYS_GONE.includes(answer.status)) return withoutConnection(url.pathname);
  else if (!url.search) event.waitUntil(keep(url.pathname, answer.clone(), before));
  return answer;
}

async function visit(event) {
  try {
    const answer = await fetch(event.request);
    if (isSignInEnded(answer)) await signInEnded();
    return answer;
  } catch {
    return (await caches.match("/offline")) ?? Response.error();
  }
}

async function fileOf(request) {
  const cache = await caches.open(FILES_OF_RELEASE);
  return (await cache.match(request)) ?? fetch(request);
}

async function fillIn() {
  for (const path of KEPT) {
    if (await findCopy(path)) continue;
    const before = deletions;
    const answer = await fetch(path, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (isSignInEnded(answer)) { await signInEnded(); return; }
    await keep(path, answer, before);
  }
}

function endsSignIn(request, path) {
  const isWayOut = path === "/login" || path.startsWith("/logout");
  return isWayOut || (request.method === "POST" && path.startsWith("/invite/"));
}

self.addEventListener("install", (event) => {
  const stored = caches.open(FILES_OF_RELEASE).then((cache) => cache.addAll(FILES));
  event.waitUntil(stored.then(() => self.skipWaiting()));
});

// A copy made by another release would need that release's files.
self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name !== FILES_OF_RELEASE) await caches.delete(name);
    await self.clients.claim();
  })());
});

self.addEventListener("message", (event) => {
  if (event.data === "fill in") event.waitUntil(fillIn().catch(() => {}));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== self.location.origin) return;
  if (endsSignIn(request, url.pathname)) event.respondWith(signInEnded().then(() => visit(event)));
  else if (request.method === "GET" && url.pathname.startsWith("/static/") && url.searchParams.has("v")) event.respondWith(fileOf(request));
  else if (request.method === "GET" && KEPT.includes(url.pathname)) event.respondWith(pageOf(event, url));
  else if (request.mode === "navigate") event.respondWith(visit(event));
});
