"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const plots = JSON.parse(byId("page_plots").textContent);
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = byId("page_theme");
  const charts = Object.entries(plots.charts).map(([slug, spec]) => connect(slug, spec));
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const template = () => plots.themes[root.classList.contains("printing") ? "print" : isDark() ? "dark" : "light"];
  root.classList.add("js");

  /* Which series a chart shows: those of the chosen filters, without those that the legend hides. */
  function choose(chart) {
    const picked = chart.spec.data.map((_, i) =>
      chart.selects.every(({ value }, k) => value === "" || [null, Number(value)].includes(chart.spec.filters[k][i])));
    for (const entry of chart.buttons) {
      const own = entry.dataset.series.split(" ");
      entry.parentElement.hidden = !own.some((i) => picked[i]);
      if (entry.getAttribute("aria-pressed") === "false") for (const i of own) picked[i] = false;
    }
    const output = chart.figure.querySelector("output");
    if (output) output.textContent = `${picked.filter(Boolean).length} of ${picked.length} series`;
    if (chart.drawn) Plotly.restyle(chart.plot, { visible: picked });
    return picked;
  }

  function connect(slug, spec) {
    const figure = byId(slug);
    const all = (selector) => [...figure.querySelectorAll(selector)];
    const chart = { spec, figure, plot: byId(`${slug}_plot`), selects: all("select"), buttons: all(".legend button"), drawn: false };
    for (const select of chart.selects) select.addEventListener("change", () => choose(chart));
    for (const entry of chart.buttons) {
      entry.addEventListener("click", () => {
        entry.setAttribute("aria-pressed", String(entry.getAttribute("aria-pressed") !== "true"));
        choose(chart);
      });
    }
    figure.querySelector(".reset").addEventListener("click", () => {
      const whole = ["xaxis", "yaxis"].map((axis) => {
        const { range } = spec.layout[axis];
        return range ? [`${axis}.range`, [...range]] : [`${axis}.autorange`, true];
      });
      if (chart.drawn) Plotly.relayout(chart.plot, Object.fromEntries(whole));
    });
    return chart;
  }

  async function unpack() {
    const packed = byId("page_plotly").textContent;
    const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(packed) : Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  }

  /* Without `await` all is drawn when the call returns, which printing needs. */
  function draw(chart, size = {}) {
    const drawn = choose(chart);
    const data = chart.spec.data.map((trace, i) => ({ ...trace, visible: drawn[i] }));
    const dragmode = matchMedia("(pointer: coarse)").matches ? false : "zoom";
    const layout = { ...structuredClone(chart.spec.layout), template: template(), dragmode, ...size };
    chart.drawn = true;
    return Plotly.newPlot(chart.plot, data, layout, { displayModeBar: false, responsive: true });
  }

  const isFolded = (chart) => chart.figure.closest("details:not([open])") !== null;

  function recolour(size = () => ({})) {
    button.setAttribute("aria-pressed", String(isDark()));
    for (const chart of charts.filter((c) => c.drawn)) {
      Plotly.relayout(chart.plot, { template: template(), ...size(chart) });
    }
  }

  /* What is folded is unfolded, and what is not drawn yet is drawn now. */
  function print(begins) {
    const [line, square] = [{ width: 660, height: 280 }, { width: 380, height: 380 }];
    const size = ({ spec }) =>
      begins ? { ...(spec.layout.yaxis.scaleanchor ? square : line), autosize: false } : { width: null, height: null, autosize: true };
    root.classList.toggle("printing", begins);
    if (begins) unfolded = [...document.querySelectorAll(".more:not([open])")];
    for (const more of unfolded) more.open = begins;
    recolour(size);
    if (begins && globalThis.Plotly) for (const chart of charts.filter((c) => !c.drawn)) draw(chart, size(chart));
  }

  /* Tables say so where they have more columns than are seen. */
  function hint() {
    for (const box of document.querySelectorAll(".scroll")) {
      box.nextElementSibling.hidden = box.scrollWidth <= box.clientWidth + 1;
    }
  }

  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    recolour();
  });
  system.addEventListener("change", () => recolour());
  let unfolded = [];
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  addEventListener("resize", hint);
  document.addEventListener("toggle", (event) => {
    hint();
    if (event.target.open && globalThis.Plotly) {
      for (const chart of charts) if (!chart.drawn && event.target.contains(chart.figure)) draw(chart);
    }
  }, true);
  recolour();
  charts.forEach(choose);
  hint();

  (async () => {
    // an empty frame that is not closed keeps the page loading until plots can be drawn: who prints then prints them all
    const frame = document.body.appendChild(Object.assign(document.createElement("iframe"), { hidden: true }));
    frame.contentDocument.open();
    try {
      if (charts.length) await unpack();
    } catch (error) {
      root.classList.remove("js"); // an old browser: the page is read as without scripts
      console.warn(`no plots: ${error}`);
      return;
    } finally {
      frame.contentDocument.close();
      frame.remove();
    }
    for (const chart of charts.filter((c) => !isFolded(c))) {
      if (chart.drawn) continue;
      const below = chart.plot.getBoundingClientRect().top > innerHeight;
      if (below && !root.dataset.ready) root.dataset.ready = Math.round(performance.now());
      await draw(chart);
      await new Promise((done) => setTimeout(done));
    }
    root.dataset.ready ??= Math.round(performance.now());
    root.dataset.drawn = Math.round(performance.now());
  })();
})();
