const MEMORY_COLOUR = {inputs: "m-inputs", parameters: "m-parameters", "optimizer state": "m-optimizer", state: "m-state",
  gradients: "m-gradients", "kept for backward": "m-kept", outputs: "m-outputs", temporaries: "m-temporaries",
  "resharded copies": "m-copies"};

/* What is held at a step: rows of the report's `held` with how many of each are, and bytes. */
const heldAt = (R, step) => {
  const rows = [];
  for (const h of R.memory.held) {
    let count = 0, size = 0;
    for (let i = 0; i < h.steps.length; i += 3) {
      if (h.steps[i] <= step && step <= h.steps[i + 1]) { count++; size += h.steps[i + 2]; }
    }
    if (count) rows.push({class: h.class, name: h.name, count, of: h.steps.length / 3, bytes: size});
  }
  return rows;
};
/* By class, bytes at each step. */
const classesOverTime = R => {
  const n = R.memory.bytes_at_step.length, by = new Map();
  for (const h of R.memory.held) {
    if (!by.has(h.class)) by.set(h.class, new Float64Array(n + 1));
    const d = by.get(h.class);
    for (let i = 0; i < h.steps.length; i += 3) { d[h.steps[i]] += h.steps[i + 2]; d[h.steps[i + 1] + 1] -= h.steps[i + 2]; }
  }
  for (const d of by.values()) for (let i = 1; i <= n; i++) d[i] += d[i - 1];
  return Object.keys(MEMORY_COLOUR).filter(c => by.has(c)).map(c => [c, by.get(c)]);
};

/* What --lower-memory has asked. */
const drawLess = (R, where) => {
  const detail = el("div");
  const show = a => detail.replaceChildren(a.made ? table([{name: "values made otherwise", code: true, show: c => c.name},
    {name: "times", right: true, show: c => c.count > 1 ? "\u00d7" + c.count : "", key: c => c.count},
    {name: "sharding", code: true, show: c => c.sharding}], a.changed, -1).element : el("p", {}, a.why));
  const calls = a => a.collectives.map(c => `${c.op} ${c.calls_before} \u2192 ${c.calls}`).join(", ");
  const made = (a, text) => a.made ? text(a) : "";
  section(where, "What less memory would take", "Click for what is cut otherwise.", table([
    {name: "within", right: true, show: a => bytes(a.capacity_bytes), key: a => a.capacity_bytes},
    {name: "holds", right: true, show: a => made(a, () => bytes(a.peak_bytes)), key: a => a.peak_bytes ?? 0},
    {name: "time", right: true, show: a => made(a, () => seconds(a.total_s)), key: a => a.total_s ?? 0},
    {name: "change", right: true, show: a => made(a, () => `${a.change < 0 ? "" : "+"}${(100 * a.change).toFixed(1)} %`), key: a => a.change ?? 0},
    {name: "values changed", right: true, show: a => made(a, () => String(a.values_changed)), key: a => a.values_changed ?? 0},
    {name: "collectives", show: a => a.made ? calls(a) : "there is no such plan"}], R.lower_memory, -1, show).element, detail);
};

const drawMemory = (R, where, address) => {
  const M = R.memory, at = M.bytes_at_step, n = at.length, cap = M.capacity_bytes, H = 280, L = 64, B = 22;
  const W = Math.max(300, Math.min(1100, (where.clientWidth || 1140) - 40)); /* letters keep their size on narrow pages */
  const classes = classesOverTime(R);
  const top = 1.06 * Math.max(M.peak_bytes, cap && cap < 6 * M.peak_bytes ? cap : 0) || 1;
  const x = i => L + (W - L - 8) * i / Math.max(1, n), y = v => 6 + (H - B - 6) * (1 - v / top);
  const g = svg("svg", {viewBox: `0 0 ${W} ${H}`, width: "100%", role: "img", style: "cursor:crosshair",
    "aria-label": "memory over the program"});
  for (let i = 0; i <= 4; i++) {
    g.append(svg("line", {x1: L, x2: W - 8, y1: y(top * i / 4), y2: y(top * i / 4), stroke: "var(--grid)"}));
    g.append(svg("text", {x: L - 8, y: y(top * i / 4) + 4, "text-anchor": "end"}, bytes(top * i / 4)));
  }
  /* A column of pixels shows the highest of its steps. */
  const columns = Math.min(n, W - L), highest = [];
  for (let c = 0; c < columns; c++) {
    const lo = Math.floor(c * n / columns), hi = Math.max(lo + 1, Math.floor((c + 1) * n / columns));
    let best = lo;
    for (let i = lo; i < hi; i++) if (at[i] > at[best]) best = i;
    highest.push([x(lo), x(hi), best]);
  }
  let base = new Float64Array(columns);
  for (const [name, held] of classes) {
    const next = base.map((b, c) => b + held[highest[c][2]]);
    const up = highest.map(([a, b], c) => `${a.toFixed(1)} ${y(next[c]).toFixed(1)} L${b.toFixed(1)} ${y(next[c]).toFixed(1)}`);
    const down = highest.map(([a, b], c) => `${b.toFixed(1)} ${y(base[c]).toFixed(1)} L${a.toFixed(1)} ${y(base[c]).toFixed(1)}`).reverse();
    g.append(svg("path", {d: `M${up.join(" L")} L${down.join(" L")} Z`, fill: `var(--${MEMORY_COLOUR[name]})`, opacity: 0.85}));
    base = next;
  }
  if (cap && cap <= top) {
    g.append(svg("line", {x1: L, x2: W - 8, y1: y(cap), y2: y(cap), stroke: "var(--bad)", "stroke-dasharray": "6 4"}));
    g.append(svg("text", {x: W - 12, y: y(cap) - 5, "text-anchor": "end", style: "fill:var(--bad)"}, "capacity " + bytes(cap)));
  } else if (cap) {
    g.append(svg("text", {x: W - 12, y: 18, "text-anchor": "end"}, `capacity ${bytes(cap)}, far above`));
  }
  const px = x(M.peak_step + 0.5);
  g.append(svg("circle", {cx: px, cy: y(M.peak_bytes), r: 4, fill: "var(--bad)"}));
  g.append(svg("text", {x: Math.min(Math.max(px, L + 60), W - 70), y: H - 6, "text-anchor": "middle"}, "peak " + bytes(M.peak_bytes)));
  const rule = svg("line", {y1: 6, y2: H - B, stroke: "var(--ink)"});
  g.append(rule);
  const name = i => i < R.ops_in_order.length ? R.ops_in_order[i].name : "the end";
  const hover = el("span"), title = el("h2"), tables = el("div", {class: "pair wide"});
  const stepAt = e => {
    const box = g.getBoundingClientRect(), at_x = (e.clientX - box.left) * W / box.width;
    const c = Math.floor((at_x - L) / (W - L - 8) * columns);
    return highest[Math.max(0, Math.min(columns - 1, c))][2];
  };
  const show = step => {
    const rows = heldAt(R, step), by = new Map();
    for (const r of rows) by.set(r.class, (by.get(r.class) || 0) + r.bytes);
    rule.setAttribute("x1", x(step + 0.5)); rule.setAttribute("x2", x(step + 0.5));
    title.textContent = `Alive at ${name(step)}${step === M.peak_step ? ", the peak" : ""}: ${bytes(at[step])}`;
    const op = R.ops_in_order[step];
    title.title = op ? placeOf(op) : "";
    tables.replaceChildren(
      table([{name: "values", code: true, show: r => r.name}, {name: "class", show: r => r.class},
        {name: "times", right: true, show: r => r.of > 1 ? r.count < r.of ? `${r.count} of ${r.of}` : "\u00d7" + r.of : "", key: r => r.count},
        {name: "bytes", right: true, show: r => bytes(r.bytes), key: r => r.bytes}], rows, 3).element,
      table([{name: "class", show: r => key([[r[0], MEMORY_COLOUR[r[0]]]])}, {name: "bytes", right: true, show: r => bytes(r[1]), key: r => r[1]},
        {name: "share", right: true, show: r => percent(r[1], at[step]), key: r => r[1]}], [...by], 1).element);
  };
  g.addEventListener("mousemove", e => { const i = stepAt(e); hover.textContent = `${name(i)}: ${bytes(at[i])}`; });
  g.addEventListener("click", e => { const i = stepAt(e); show(i); address(i); });
  const peak = el("button", {class: "plain", type: "button"}, "to the peak");
  peak.onclick = () => { show(M.peak_step); address(M.peak_step); };
  section(where, "Memory of one device over the program",
    "Padding, resharded copies and temporaries included. Click for what is alive then.",
    el("div", {class: "row"}, peak, hover), g, key(classes.map(([c]) => [c, MEMORY_COLOUR[c]])), title, tables);
  show(M.peak_step);
  if (R.lower_memory) drawLess(R, where);
  return i => { if (i < n) show(i); };
};
