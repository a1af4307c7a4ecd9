"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const specs = JSON.parse(byId("page_charts").textContent);
  const system = matchMedia("(prefers-color-scheme: dark)");
  const charts = [];
  let printing = false;
  root.classList.add("js");

  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

  function colours() {
    const style = getComputedStyle(root);
    const of = (name) => style.getPropertyValue(name).trim();
    return { ink: of("--ink"), quiet: of("--quiet"), grid: of("--grid"), ground: of("--ground") };
  }

  function spaced(axis, width) {
    if (!axis.tickvals) return axis;
    const step = Math.ceil((axis.tickvals.length * 15) / Math.max(width - 80, 1));
    const kept = (texts) => texts.filter((_, i) => i % step === 0);
    return { ...axis, tickvals: kept(axis.tickvals), ticktext: kept(axis.ticktext) };
  }

  function themed(chart) {
    const layout = chart.spec.layout;
    const c = colours();
    const axis = { gridcolor: c.grid, zerolinecolor: c.quiet, zerolinewidth: 1, linecolor: c.quiet, automargin: true };
    const lines = (layout.shapes || []).map((s) => ({ ...s, line: { width: 1.2, ...s.line, color: c.quiet } }));
    return {
      ...layout,
      shapes: lines,
      annotations: (layout.annotations || []).map((a) => ({ ...a, font: { size: 12, color: c.ink } })),
      font: { family: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif', size: 12.5, color: c.ink },
      hoverlabel: { bgcolor: c.ground, bordercolor: c.quiet, font: { color: c.ink }, align: "left" },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      xaxis: { ...axis, ...spaced(layout.xaxis, chart.plot.clientWidth) },
      yaxis: { ...axis, ...layout.yaxis },
    };
  }

  function layoutOf(chart) {
    return {
      ...themed(chart),
      margin: { l: 56, r: 16, b: 48, ...chart.spec.layout.margin },
      hovermode: "closest",
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
      bargap: 0.25,
    };
  }

  function visible(chart, series) {
    return chart.selects.every((select, k) => {
      const own = chart.spec.filters[k][series];
      return select.value === "" || own === null || own === Number(select.value);
    });
  }

  function show(chart) {
    const shown = chart.spec.traces.map((_, i) => visible(chart, i));
    const drawn = shown.map((yes, i) => yes && !chart.hidden.has(i));
    for (const button of chart.buttons) {
      button.parentElement.hidden = !button.dataset.series.split(" ").some((i) => shown[i]);
    }
    const count = drawn.filter(Boolean).length;
    if (chart.output) chart.output.textContent = `${count} of ${drawn.length} series`;
    if (chart.drawn) Plotly.restyle(chart.plot, { visible: drawn });
    return drawn;
  }

  function wire(slug, spec) {
    const figure = byId(slug);
    const chart = {
      spec,
      plot: byId(`${slug}_plot`),
      selects: [...figure.querySelectorAll("select")],
      buttons: [...figure.querySelectorAll(".legend button")],
      output: figure.querySelector("output"),
      hidden: new Set(),
      drawn: false,
    };
    for (const select of chart.selects) select.addEventListener("change", () => show(chart));
    for (const button of chart.buttons) {
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(on));
        for (const i of button.dataset.series.split(" ")) chart.hidden[on ? "delete" : "add"](Number(i));
        show(chart);
      });
    }
    figure.querySelector(".reset").addEventListener("click", () => {
      const range = chart.spec.layout.yaxis.range;
      const y = range ? { "yaxis.range": range } : { "yaxis.autorange": true };
      if (chart.drawn) Plotly.relayout(chart.plot, { "xaxis.autorange": true, ...y });
    });
    show(chart);
    charts.push(chart);
  }

  async function unpack() {
    const packed = byId("page_plotly").textContent;
    const bytes = Uint8Array.fromBase64
      ? Uint8Array.fromBase64(packed)
      : Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  }

  async function draw(chart) {
    const drawn = show(chart);
    const traces = chart.spec.traces.map((trace, i) => ({ ...trace, visible: drawn[i] }));
    chart.drawn = true;
    await Plotly.newPlot(chart.plot, traces, layoutOf(chart), { displayModeBar: false, responsive: true });
  }

  function recolour() {
    const button = byId("page_theme");
    button.setAttribute("aria-pressed", String(dark()));
    for (const chart of charts) {
      if (chart.drawn) Plotly.relayout(chart.plot, themed(chart));
    }
  }

  function print(begins) {
    printing = begins;
    root.classList.toggle("printing", begins);
    for (const chart of charts.filter((c) => c.drawn)) {
      const size = begins ? { width: chart.spec.layout.yaxis.scaleanchor ? 420 : 660, autosize: false } : { width: null, autosize: true };
      Plotly.relayout(chart.plot, { ...themed(chart), ...size });
    }
  }

  const button = byId("page_theme");
  button.hidden = false;
  button.setAttribute("aria-pressed", String(dark()));
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    recolour();
  });
  system.addEventListener("change", () => printing || recolour());
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  for (const [slug, spec] of Object.entries(specs)) wire(slug, spec);

  (async () => {
    try {
      if (charts.length) await unpack();
    } catch (error) {
      root.classList.remove("js"); // an old browser: the page is read as without scripts
      console.warn(`no plots: ${error}`);
      return;
    }
    for (const chart of charts) {
      const below = chart.plot.getBoundingClientRect().top > innerHeight;
      if (below && !root.dataset.ready) root.dataset.ready = Math.round(performance.now());
      await draw(chart);
      await new Promise((done) => setTimeout(done));
    }
    root.dataset.ready ??= Math.round(performance.now());
    root.dataset.drawn = Math.round(performance.now());
  })();
})();
