/* What each line, and each scope or layer, of the program costs, with the reshards that it asks for. */
const costsOf = R => [
  ...R.ops_in_order.map(o => ({place: o.source, path: o.scope ? o.scope.split("/") : o.name.split("."), work: work(o), comm: inside(o), ops: 1})),
  ...R.reshards.map(r => {
    const of = R.ops_in_order[r.step];
    return {place: r.source, path: r.scope ? r.scope.split("/") : of ? of.name.split(".") : [r.value], work: 0, comm: moving(r), ops: 0};
  })];

const costCells = (x, most) => [
  stack([["work", x.work, "local"], ["communication", x.comm, "reshard"]], most), el("span", {}, seconds(x.work + x.comm))];

const drawLines = (R, where, costs) => {
  const lines = new Map(), text = new Map(R.source_lines.map(l => [`${l.file}:${l.line}`, l.text]));
  for (const c of costs) {
    const place = c.place ? c.place.replace(/(:\d+):\d+$/, "$1") : "no line";
    const l = lines.get(place) || {place, work: 0, comm: 0, ops: 0};
    l.work += c.work; l.comm += c.comm; l.ops += c.ops;
    lines.set(place, l);
  }
  const rows = [...lines.values()].filter(l => l.work + l.comm > 0 || l.ops), most = Math.max(...rows.map(l => l.work + l.comm));
  const t = table([
    {name: "line", show: l => short(l.place), title: l => l.place},
    {name: "time", right: true, show: l => seconds(l.work + l.comm), key: l => l.work + l.comm},
    {name: "share", right: true, show: l => percent(l.work + l.comm, R.sum_s ?? R.total_s), key: l => l.work + l.comm},
    {name: "communication", right: true, show: l => seconds(l.comm), key: l => l.comm},
    {name: "beside others", show: l => costCells(l, most)[0], key: l => l.work + l.comm},
    {name: "text", code: true, show: l => (text.get(l.place) ?? "").trim(), title: l => text.get(l.place) ?? ""},
    {name: "ops", right: true, show: l => String(l.ops), key: l => l.ops}], rows, 1);
  section(where, "Lines of the program", text.size ? "" : "The files are not at hand here, so their text is not shown.",
    el("div", {class: "row"}, search("filter", t.filter)), t.element);
};

/* Names that differ in numbers are one branch: layers.{0..31}. */
const treeOf = costs => {
  const node = () => ({work: 0, comm: 0, ops: 0, low: [], high: [], children: new Map()});
  const root = node();
  for (const c of costs) {
    let at = root;
    for (let depth = 0; ; depth++) {
      at.work += c.work; at.comm += c.comm; at.ops += c.ops;
      if (depth === c.path.length) break;
      const part = c.path[depth], like = part.replace(/\d+/g, "#"), numbers = (part.match(/\d+/g) || []).map(Number);
      if (!at.children.has(like)) at.children.set(like, node());
      at = at.children.get(like);
      numbers.forEach((v, i) => { at.low[i] = Math.min(v, at.low[i] ?? v); at.high[i] = Math.max(v, at.high[i] ?? v); });
    }
  }
  return root;
};
const drawTree = (R, where, costs) => {
  const whole = R.sum_s ?? R.total_s; // what is hidden counts in full
  const line = (name, n) => el("span", {class: "line"}, el("code", {}, name), ...costCells(n, whole),
    el("span", {}, percent(n.work + n.comm, whole)), el("span", {class: "soft"}, plural(n.ops, "op")));
  const label = (like, n) => {
    let i = 0;
    return like.replace(/#/g, () => { const lo = n.low[i], hi = n.high[i++]; return lo < hi ? `{${lo}..${hi}}` : lo; });
  };
  const branch = (like, n, open) => {
    if (!n.children.size) return el("div", {class: "leaf"}, line(label(like, n), n));
    const d = el("details", {}, el("summary", {}, line(label(like, n), n)));
    const fill = () => {
      if (d.childElementCount > 1) return;
      const children = [...n.children].sort(([, a], [, b]) => b.work + b.comm - a.work - a.comm);
      d.append(...children.map(([k, c]) => branch(k, c, open > 0 && c.work + c.comm > 0.3 * (n.work + n.comm) ? open - 1 : 0)));
    };
    d.ontoggle = () => { if (d.open) fill(); };
    if (open) { fill(); d.open = true; }
    return d;
  };
  section(where, costs.some(c => c.place) ? "Scopes of the program" : "Parts of the program",
    "Names that differ in numbers together; open a branch for what is in it.",
    el("div", {class: "tree"}, branch(R.model, treeOf(costs), 3)));
};

const drawSource = (R, where) => {
  const costs = costsOf(R);
  where.append(key([["work", "local"], ["communication", "reshard"]]));
  if (costs.some(c => c.place)) drawLines(R, where, costs);
  drawTree(R, where, costs);
};
