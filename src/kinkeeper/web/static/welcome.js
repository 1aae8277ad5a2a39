// Plays the scenes one by one as the server sends them. Without this script, or where motion is unwanted, they
// simply stand there.

const list = document.getElementById("scenes");
const counts = [...document.querySelectorAll("#counts dd")];
const again = document.getElementById("again");
let source = null;

function show(number, ledger) {
  for (const each of list.querySelectorAll(`[data-scene="${number}"]`)) each.hidden = false;
  ledger.forEach((count, place) => { counts[place].textContent = count; });
}

function end() {
  source?.close();
  for (const each of list.children) each.hidden = false;
  again.hidden = false;
}

function play() {
  again.hidden = true;
  for (const each of list.children) each.hidden = true;
  for (const each of counts) each.textContent = "0";
  source = new EventSource("/welcome/live");
  source.addEventListener("scene", (event) => {
    const { scene, ledger } = JSON.parse(event.data);
    show(scene, ledger);
  });
  source.addEventListener("end", end);
  source.addEventListener("error", () => { if (source.readyState === EventSource.CLOSED) end(); });
}

if (list && list.children.length) {
  again.addEventListener("click", play);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) again.hidden = false;
  else play();
}
