const colourOf = op => /^(dot_general|convolution)/.test(op.op) ? "local" : /^attention/.test(op.op) ? "attention" : "light";

/* As streams run beside each other. */
const laidOut = R => {
  const lanes = ["work", ...R.timeline.levels.map(l => l.level)], steps = new Map(R.ops_in_order.map((op, i) => [op.name, i]));
  const events = R.timeline.entries.map(e => {
    const step = e.op === undefined ? R.reshards[e.reshard].step : steps.get(e.op);
    const what = e.op === undefined ? R.reshards[e.reshard] : R.ops_in_order[step];
    return {lane: lanes.indexOf(e.stream), start: e.start_s, s: e.end_s - e.start_s, step, name: e.op ?? what.value,
      colour: e.op === undefined ? "reshard" : colourOf(what), what, exposed: e.exposed_s};
  });
  let held = 0; /* the step of the kernel that runs */
  for (const e of events.sort((a, b) => a.start - b.start)) e.step = e.lane ? held : held = e.step;
  return {events, end: R.total_s, lanes};
};

/* One device's step, as it is priced: what each op waits for, then its work. */
const oneByOne = R => {
  const events = [], at = new Map();
  R.reshards.forEach((r, i) => { if (!at.has(r.step)) at.set(r.step, []); at.get(r.step).push(i); });
  let t = 0;
  const add = (lane, s, step, name, colour, what) => {
    if (!(s > 0)) return;
    events.push({lane, start: t, s, step, name, colour, what});
    t += s;
  };
  for (let i = 0; i <= R.ops_in_order.length; i++) {
    for (const k of at.get(i) || []) add(1, moving(R.reshards[k]), i, R.reshards[k].value, "reshard", R.reshards[k]);
    const op = R.ops_in_order[i];
    if (!op) continue;
    add(1, inside(op), i, op.name, "inside", op);
    add(0, work(op), i, op.name, colourOf(op), op);
  }
  return {events, end: t, lanes: ["work", "communication"]};
};

const drawTimeline = (R, where, address) => {
  const {events, end, lanes: LANES} = (R.timeline ? laidOut : oneByOne)(R), M = R.memory, L = 110, H = 34, GAP = 6, MEM = 60;
  let latest = 0;
  const ended = events.map(e => latest = Math.max(latest, e.start + e.s)); /* all up to it have */
  const height = LANES.length * (H + GAP) + MEM + 26;
  const canvas = el("canvas", {tabindex: 0, height, "aria-label": "timeline of one step", style: `height:${height}px`});
  const hover = el("div", {class: "hover soft"}), detail = el("div");
  const zoom = (text, f) => { const b = el("button", {class: "plain", type: "button"}, text); b.onclick = f; return b; };
  let view = [0, end], chosen = null, drag = null;
  const clamp = (a, b) => {
    const w = Math.min(end, Math.max(b - a, end * 1e-6)), s = Math.min(Math.max(a, 0), end - w);
    view = [s, s + w]; draw();
  };
  const scale = (f, about = (view[0] + view[1]) / 2) => clamp(about - (about - view[0]) * f, about + (view[1] - about) * f);
  const pixels = () => canvas.clientWidth || 1100;
  const x = t => L + (t - view[0]) / (view[1] - view[0] || 1) * (pixels() - L);
  const timeAt = px => view[0] + (px - L) / (pixels() - L) * (view[1] - view[0]);
  const firstAfter = t => { /* the first event that ends after t */
    let lo = 0, hi = events.length;
    while (lo < hi) { const m = lo + hi >> 1; if (ended[m] <= t) lo = m + 1; else hi = m; }
    return lo;
  };
  const eventAt = e => {
    const t = timeAt(e.offsetX), first = Math.min(firstAfter(t), events.length - 1), lane = Math.floor(e.offsetY / (H + GAP));
    if (e.offsetX < L) return undefined;
    for (let i = first; R.timeline && i < events.length && events[i].start <= t; i++)
      if (events[i].lane === lane && events[i].start + events[i].s > t) return events[i];
    return events[first];
  };
  function draw() {
    const W = pixels(), ratio = window.devicePixelRatio || 1, c = canvas.getContext("2d"), css = getComputedStyle(where);
    const colour = name => css.getPropertyValue("--" + name);
    canvas.width = W * ratio; canvas.height = height * ratio;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.font = "12px system-ui, sans-serif"; c.textBaseline = "middle";
    LANES.forEach((name, i) => {
      c.fillStyle = colour("grid"); c.fillRect(L, i * (H + GAP), W - L, H);
      c.fillStyle = colour("soft"); c.fillText(name, 0, i * (H + GAP) + H / 2);
    });
    const first = firstAfter(view[0]), drawn = LANES.map(() => -1);
    for (let i = first; i < events.length && events[i].start < view[1]; i++) {
      const e = events[i], a = Math.max(L, x(e.start)), b = Math.min(W, x(e.start + e.s));
      if (b <= L || (b - a < 0.5 && a - drawn[e.lane] < 0.5)) continue; /* its pixel is filled */
      drawn[e.lane] = a;
      c.fillStyle = colour(e.colour);
      c.fillRect(a, e.lane * (H + GAP), Math.max(0.5, b - a - (b - a > 4 ? 1 : 0)), H);
      if (b - a > 30 && c.measureText(e.name).width < b - a - 8) {
        c.fillStyle = colour("card");
        c.fillText(e.name, a + 4, e.lane * (H + GAP) + H / 2);
      }
    }
    if (chosen) {
      c.strokeStyle = colour("ink"); c.lineWidth = 2;
      c.strokeRect(x(chosen.start), chosen.lane * (H + GAP) + 1, Math.max(2, x(chosen.start + chosen.s) - x(chosen.start)), H - 2);
    }
    const top = LANES.length * (H + GAP);
    c.fillStyle = colour("soft"); c.fillText("memory", 0, top + MEM / 2);
    c.fillStyle = colour("other");
    for (let px = L, i = first; px < W; px++) {
      const until = timeAt(px + 1);
      let most = 0;
      do { most = Math.max(most, M.bytes_at_step[events[i]?.step ?? 0] || 0); } while (events[i] && events[i].start + events[i].s < until && ++i < events.length);
      if (i >= events.length) i = events.length - 1;
      const h = MEM * most / (M.peak_bytes || 1);
      c.fillRect(px, top + MEM - h, 1, h);
    }
    c.fillStyle = colour("soft"); c.textBaseline = "alphabetic";
    const marks = Math.max(1, Math.min(5, Math.floor((W - L) / 100)));
    for (let k = 0; k <= marks; k++) {
      const t = view[0] + (view[1] - view[0]) * k / marks, px = x(t);
      c.textAlign = k === marks ? "right" : k ? "center" : "left";
      c.fillText(seconds(t), px, height - 6);
    }
    c.textAlign = "left";
  }
  const choose = e => {
    chosen = e;
    const w = e.what, op = w.op !== undefined;
    detail.replaceChildren(el("h2", {style: "margin-top:14px"}, e.name), facts([
      [op ? "op" : "reshard", op ? w.op : how(w)], ["starts at", seconds(e.start)], ["takes", `${seconds(e.s)} (${percent(e.s, end)})`],
      ["not hidden", e.exposed === undefined ? "" : seconds(e.exposed)], ["runs", times(w) > 1 ? times(w) : ""], ["cut as", op ? el("code", {}, w.strategy) : ""],
      ["from", op ? "" : el("code", {}, w.from)], ["to", op ? "" : el("code", {}, w.to)], ["why", op ? "" : w.cause],
      ["wanted by", op ? "" : w.wanted_by.join(", ")], ["kernel", op && R.compiler !== "none" ? w.kernel : ""],
      ["memory then", bytes(M.bytes_at_step[e.step])], ["source", placeOf(w)], ["scope", w.scope ?? ""]]));
    draw();
  };
  canvas.onwheel = e => { e.preventDefault(); scale(e.deltaY > 0 ? 1.25 : 0.8, timeAt(e.offsetX)); };
  canvas.onpointerdown = e => { drag = {x: e.offsetX, view, moved: false}; canvas.setPointerCapture(e.pointerId); };
  canvas.onpointermove = e => {
    if (drag) {
      const by = (drag.x - e.offsetX) / (pixels() - L) * (drag.view[1] - drag.view[0]);
      drag.moved ||= Math.abs(drag.x - e.offsetX) > 3;
      if (drag.moved) clamp(drag.view[0] + by, drag.view[1] + by);
      return;
    }
    const at = eventAt(e);
    hover.textContent = at ? `${at.name}: ${seconds(at.s)} at ${seconds(at.start)}` : "";
  };
  canvas.onpointerup = e => {
    const at = drag && !drag.moved ? eventAt(e) : undefined;
    drag = null;
    if (at) { choose(at); address(events.indexOf(at)); }
  };
  canvas.onkeydown = e => {
    const w = view[1] - view[0], step = {ArrowLeft: -0.2, ArrowRight: 0.2}[e.key];
    if (step) clamp(view[0] + step * w, view[1] + step * w);
    if (e.key === "+") scale(0.5);
    if (e.key === "-") scale(2);
  };
  window.addEventListener("resize", draw);
  section(where, "One step on one device", `${plural(events.filter(e => e.lane === 0).length, "op")} and ${
    plural(events.filter(e => e.lane > 0).length, R.timeline ? "collective" : "reshard")} that take time: ${seconds(end)}. What runs in a loop is drawn as ${
    R.timeline ? "its first trip" : "all its runs together"}. Turn the wheel to zoom, drag to move, click for more.`,
    el("div", {class: "row"}, zoom("zoom in", () => scale(0.5)), zoom("zoom out", () => scale(2)), zoom("all", () => clamp(0, end)),
      search("find an op or value", text => {
        const at = text && events.find(e => e.name.includes(text));
        if (at) { clamp(at.start - 20 * at.s, at.start + 21 * at.s); choose(at); }
      }), hover),
    canvas, key([["products and convolutions", "local"], ["attention", "attention"], ["other work", "light"],
      ["reshards", "reshard"], ["communication inside ops", "inside"], ["memory held", "other"]]), detail);
  const long = events.slice().sort((a, b) => b.s - a.s).slice(0, 100);
  const list = table([{name: "longest", code: true, show: e => e.name}, {name: "what", show: e => e.what.op ?? how(e.what)},
    {name: "starts at", right: true, show: e => seconds(e.start), key: e => e.start},
    {name: "time", right: true, show: e => seconds(e.s), key: e => e.s},
    {name: "share", right: true, show: e => percent(e.s, end), key: e => e.s},
    {name: "source", show: e => short(placeOf(e.what)), title: e => placeOf(e.what)}], long, 3,
  e => { clamp(e.start - 20 * e.s, e.start + 21 * e.s); choose(e); address(events.indexOf(e)); });
  section(where, "What takes longest", "", list.element);
  draw();
  return i => { if (events[i]) choose(events[i]); };
};
