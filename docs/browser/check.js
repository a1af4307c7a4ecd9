// The page "Check a certificate in the browser": files go to a worker, one after the other, and its verdicts into a table.
const part = (id) => document.getElementById(id);
const rows = part("verdicts").tBodies[0];
const queue = [];
let worker = null;
let checking = null;

const say = (text) => { part("state").textContent = text; };

function show(name, verdict, reason, called, seconds) {
  const row = rows.insertRow();
  for (const text of [name, verdict, reason, called, seconds]) row.insertCell().textContent = text;
  row.dataset.verdict = verdict;
  part("verdicts").hidden = false;
}

function stop(why) {
  worker?.terminate();
  worker = checking = null;
  queue.length = 0;
  part("stop").disabled = true;
  say(why);
}

function next() {
  checking = queue.shift() ?? null;
  part("stop").disabled = checking === null;
  if (checking === null) {
    say("Done.");
    return;
  }
  say(worker === null ? "Loading Python and the checkers …" : `Checking ${checking.name} …`);
  worker ??= start();
  worker.postMessage(checking);
}

function start() {
  const made = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  made.onmessage = ({ data }) => {
    if (data.missing) {
      stop("This copy of the site was built without Pyodide: `make browser` puts it in; or check on the command line.");
      return;
    }
    if (data.ready) {
      say(`Checking ${checking.name} …`);
      return;
    }
    show(checking.name, data.verdict, data.reason, data.called, data.seconds.toFixed(2));
    next();
  };
  made.onerror = (event) => stop(`The checkers could not be started: ${event.message ?? "no module workers in this browser"}`);
  return made;
}

async function add(name, text) {
  queue.push({ name, text: await text });
  if (checking === null) next();
}

part("certificates").addEventListener("change", ({ target }) => {
  for (const file of target.files) add(file.name, file.text());
  target.value = "";
});
part("example").addEventListener("click", async () => {
  const answer = await fetch(new URL("s3.json", import.meta.url));
  add("s3.json", answer.text());
});
part("stop").addEventListener("click", () => stop("Stopped."));
const area = part("browser-check");
area.addEventListener("dragover", (event) => event.preventDefault());
area.addEventListener("drop", (event) => {
  event.preventDefault();
  for (const file of event.dataTransfer.files) add(file.name, file.text());
});
