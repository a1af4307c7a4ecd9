// Python and the checkers, in a thread of their own: a text goes in, a verdict comes out.
const here = (name) => new URL(name, import.meta.url).href;

async function start() {
  const { loadPyodide } = await import("./pyodide/pyodide.mjs");
  const python = await loadPyodide({ indexURL: here("pyodide/") });
  const archive = await (await fetch(here("checkers.zip"))).arrayBuffer();
  python.unpackArchive(archive, "zip", { extractDir: "/checkers" });
  python.runPython("import sys; sys.path.insert(0, '/checkers')");
  postMessage({ ready: true });
  return python.pyimport("browser_check").check_text;
}

let started = null;
onmessage = async ({ data }) => {
  let check;
  try {
    check = await (started ??= start());
  } catch (error) {
    console.warn(error);
    postMessage({ missing: true });
    return;
  }
  const before = performance.now();
  const answer = check(data.text);
  const [verdict, reason, called] = answer.toJs();
  answer.destroy();
  postMessage({ verdict, reason, called, seconds: (performance.now() - before) / 1000 });
};
