// Searches while one types, and slides through the days; without this the form does the same on Enter.

const form = document.querySelector("[data-seek]");
const day = form.elements.namedItem("on");
const slider = form.querySelector("[data-slider]");
const range = slider.querySelector("input");
const PAUSE = 250;
const DAY = 86_400_000;
let waiting = 0;

function ask() {
  const asked = new URLSearchParams(
    [...new FormData(form)].filter(([, value]) => String(value).trim()),
  );
  const address = asked.size ? `${form.action}?${asked}` : form.action;
  if (address === location.href) return;
  history.replaceState(null, "", address);
  document.dispatchEvent(new Event("stale"));
}

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(ask, PAUSE);
}

function dayAfter(first, days) {
  return new Date(Date.parse(first) + days * DAY).toISOString().slice(0, 10);
}

const first = day.min;
const days = Math.round((Date.parse(day.max) - Date.parse(first)) / DAY);

function follow() {
  const shown = day.value || day.max;
  range.value = String(Math.round((Date.parse(shown) - Date.parse(first)) / DAY));
  range.setAttribute("aria-valuetext", shown);
}

if (days > 0) {
  range.min = "0";
  range.max = String(days);
  slider.hidden = false;
  follow();
  range.addEventListener("input", () => {
    const chosen = dayAfter(first, Number(range.value));
    day.value = chosen === day.max ? "" : chosen;
    range.setAttribute("aria-valuetext", chosen);
    soon();
  });
}

form.elements.namedItem("q").addEventListener("input", soon);
day.addEventListener("input", () => { follow(); soon(); });
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(waiting);
  ask();
});
