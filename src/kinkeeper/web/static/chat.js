// The conversation page: says what is written, and shows what the thread's stream tells while an answer is made. It
// resumes behind the last event that was seen, so a lost connection loses nothing. Cards, questions and what was used
// are drawn by the server alone: once an answer is whole, its part of the page is fetched.

const talk = document.getElementById("talk");
const log = document.getElementById("talk-log");
const form = document.getElementById("talk-form");
const box = document.getElementById("talk-text");
const send = document.getElementById("talk-send");
const halt = document.getElementById("talk-stop");
const status = document.getElementById("talk-status");
const doing = document.getElementById("talk-doing");
const announcer = document.getElementById("announcer");
const { thread, csrf } = talk.dataset;
const HEADERS = { "Content-Type": "application/json", "X-CSRF-Token": csrf };
const MOST_SHOWN_STATUS_MS = 600;

const open = new Set();
let after = Number(talk.dataset.after);
// The stream begins before the first exchange that is under way; what the page shows to its end is told again with it.
const whole = new Set([...log.querySelectorAll(".exchange:not([data-open])")].map((part) => part.dataset.turn));
const seen = Number(talk.dataset.seen);

function copyOf(name) {
  return document.getElementById(name).content.firstElementChild.cloneNode(true);
}

function partOf(turnId) {
  return log.querySelector(`[data-turn="${CSS.escape(turnId)}"]`);
}

function isAtEnd() {
  return innerHeight + scrollY >= document.documentElement.scrollHeight - 160;
}

function keepEndInSight(wasAtEnd) {
  if (wasAtEnd) scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
}

function exchangeOf(turnId) {
  let part = partOf(turnId);
  if (!part) {
    part = copyOf("talk-turn");
    part.dataset.turn = turnId;
    part.querySelector(".mine").remove();
    log.append(part);
  }
  return part;
}

function showBusy() {
  const isBusy = open.size > 0;
  halt.hidden = !isBusy;
  send.hidden = isBusy && !box.value.trim();
  log.setAttribute("aria-busy", String(isBusy));
  if (!isBusy) status.hidden = true;
}

function tell(text) {
  doing.textContent = text;
  status.hidden = false;
}

// Whole sentences only: a screen reader that gets syllables reads nothing.
const unread = new Map();

function announce(turnId, piece, isEnd) {
  const text = (unread.get(turnId) ?? "") + piece;
  const end = isEnd ? text.length : Math.max(...[". ", "! ", "? ", "\n"].map((sign) => text.lastIndexOf(sign) + 1));
  if (end > 0 && text.slice(0, end).trim()) announcer.textContent = text.slice(0, end).trim();
  if (isEnd) unread.delete(turnId);
  else unread.set(turnId, text.slice(end));
}

// What can be said next with one tap.
function offer(part, replies) {
  if (part.querySelector(".replies") || !replies.length) return;
  const row = document.createElement("p");
  row.className = "replies buttons";
  for (const words of replies) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button plain";
    button.dataset.say = words;
    button.textContent = words[0].toUpperCase() + words.slice(1);
    row.append(button);
  }
  part.querySelector(".reply").after(row);
}

function settle(question, text, isTrouble = false) {
  const stands = question.querySelector(".ask-stands");
  stands.textContent = text;
  stands.hidden = false;
  stands.classList.toggle("trouble", isTrouble);
  announcer.textContent = text;
  if (isTrouble) return;
  question.querySelector(".buttons")?.remove();
  question.dataset.settled = "";
  bringUpToDate();
}

async function decide(question, verb) {
  const buttons = question.querySelectorAll("button");
  buttons.forEach((button) => { button.disabled = true; });
  const { action, hash } = question.dataset;
  const [path, body] = verb === "undo"
    ? [`/api/actions/${encodeURIComponent(action)}/undo`, {}]
    : [`/api/pending/${encodeURIComponent(action)}/${verb}`, { payload_hash: hash }];
  try {
    const answer = await fetch(path, { method: "POST", headers: HEADERS, body: JSON.stringify(body) });
    const told = await answer.json();
    const isSettled = "message" in told;
    settle(question, told.message ?? told.detail ?? "That did not work; try again.", !isSettled);
  } catch {
    settle(question, "No connection; nothing was decided. Try again.", true);
  } finally {
    buttons.forEach((button) => { button.disabled = false; });
  }
}

// What is decided or done in one turn changes what stands under others: the server shows them all as they are now.
let isStale = false;

async function bringUpToDate() {
  isStale = true;
  try {
    const answer = await fetch(`/chat?thread=${encodeURIComponent(thread)}`, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const wasAtEnd = isAtEnd();
    for (const fresh of page.querySelectorAll(".exchange:not([data-open])")) {
      const part = partOf(fresh.dataset.turn);
      if (!part || part.contains(document.activeElement)) continue;
      const wasOpen = part.querySelector(".used")?.open;
      const taken = document.importNode(fresh, true);
      const used = taken.querySelector(".used");
      if (used && wasOpen) used.open = true;
      if (part.innerHTML !== taken.innerHTML) part.replaceWith(taken);
    }
    keepEndInSight(wasAtEnd);
    isStale = false;
  } catch {
    // The connection is gone; what is shown stays as it was told until it is back.
  }
}

const SHOW = {
  status(part, data) {
    if (data.restart) {
      part.querySelector(".reply").textContent = "";
      unread.delete(part.dataset.turn);
    }
    if (data.text) { tell(data.text); announcer.textContent = data.text; }
  },
  token(part, data) {
    status.hidden = true;
    part.querySelector(".reply").textContent += data.text;
    announce(part.dataset.turn, data.text, false);
  },
  error(part, data) {
    const said = part.querySelector(".reply");
    said.textContent = data.message;
    said.classList.add("trouble");
    announcer.textContent = data.message;
    open.delete(part.dataset.turn);
  },
  done(part, data) {
    const said = part.querySelector(".reply");
    if (data.text !== undefined && said.textContent !== data.text) said.textContent = data.text;
    offer(part, data.replies ?? []);
    announce(part.dataset.turn, "", true);
    open.delete(part.dataset.turn);
    bringUpToDate();
  },
};

function take(event) {
  const number = Number(event.lastEventId);
  if (number <= after) return;
  after = number;
  const data = JSON.parse(event.data);
  if (number <= seen && whole.has(data.turn)) return;
  const wasAtEnd = isAtEnd();
  const part = exchangeOf(data.turn);
  if (!["done", "error"].includes(event.type)) open.add(data.turn);
  SHOW[event.type](part, data);
  showBusy();
  keepEndInSight(wasAtEnd);
}

let source = null;
let retry = null;

function listen() {
  source?.close();
  source = new EventSource(`/chat/${encodeURIComponent(thread)}/events?after=${after}`);
  for (const name of Object.keys(SHOW)) source.addEventListener(name, take);
  source.addEventListener("open", () => { if (isStale) bringUpToDate(); });
  // A thread that has no message yet is not there: the browser then gives up, and the first message calls again.
  source.addEventListener("error", () => {
    if (source.readyState !== EventSource.CLOSED || !log.children.length) return;
    clearTimeout(retry);
    retry = setTimeout(listen, 3000);
  });
}

async function say(text) {
  const messageId = crypto.randomUUID();
  document.getElementById("talk-start")?.remove();
  const part = copyOf("talk-turn");
  part.querySelector(".mine").textContent = text;
  log.append(part);
  keepEndInSight(true);
  const waiting = setTimeout(() => tell("One moment…"), MOST_SHOWN_STATUS_MS);
  try {
    const answer = await fetch("/chat", {
      method: "POST", headers: HEADERS, body: JSON.stringify({ text, thread, message_id: messageId }),
    });
    if (!answer.ok) {
      const told = await answer.json();
      throw new Error(told.detail ?? "That did not work.");
    }
    const turnId = answer.headers.get("X-Turn");
    const early = partOf(turnId);
    part.dataset.turn = turnId;
    if (early) {
      // The stream was faster than this answer: what it showed moves under what was said.
      part.querySelector(".theirs").replaceWith(early.querySelector(".theirs"));
      early.remove();
    } else {
      open.add(turnId);
    }
    answer.body?.cancel();
    history.replaceState(null, "", `/chat?thread=${encodeURIComponent(thread)}`);
    if (!source || source.readyState === EventSource.CLOSED) listen();
  } catch (error) {
    const said = part.querySelector(".reply");
    said.textContent = error instanceof TypeError ? "No connection; this was not sent." : error.message;
    said.classList.add("trouble");
    announcer.textContent = said.textContent;
    if (!box.value) box.value = text;
  } finally {
    clearTimeout(waiting);
    showBusy();
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = box.value.trim();
  if (!text) return;
  box.value = "";
  say(text);
  box.focus();
});

box.addEventListener("keydown", (event) => {
  const isSend = event.key === "Enter" && !event.shiftKey && !event.isComposing;
  if (!isSend || matchMedia("(pointer: coarse)").matches) return;
  event.preventDefault();
  form.requestSubmit();
});

box.addEventListener("input", showBusy);

halt.addEventListener("click", async () => {
  tell("Stopping…");
  await fetch(`/chat/${encodeURIComponent(thread)}/stop`, { method: "POST", headers: HEADERS });
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.say) { say(button.dataset.say); return; }
  const question = button.closest(".ask");
  if (!question) return;
  if (button.matches(".ask-yes")) decide(question, "confirm");
  if (button.matches(".ask-no")) decide(question, "reject");
  if (button.matches(".ask-undo")) decide(question, "undo");
});

for (const part of log.querySelectorAll("[data-open]")) open.add(part.dataset.turn);
if (log.children.length) listen();
showBusy();
keepEndInSight(true);
addEventListener("pagehide", () => source?.close());
