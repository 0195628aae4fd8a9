const drawCollectives = (R, where, address) => {
  const G = R.reshard_groups.map(g => ({name: g.name, all: g.reshards.map(i => R.reshards[i])}));
  const single = R.reshards.map(r => ({name: r.value, all: [r]}));
  const detail = el("div"), box = el("div");
  const total = (g, of) => sum(g.all, of);
  const show = g => {
    const r = g.all[0], maker = R.ops_in_order.find(o => o.name === r.made_by), reader = R.ops_in_order.find(o => o.name === r.wanted_by[0]);
    detail.replaceChildren(el("h2", {style: "margin-top:14px"}, g.name), facts([
      ["why", r.cause], ["made by", maker ? `${maker.name}: ${maker.op}, ${maker.strategy}` : r.made_by],
      ["wanted by", r.wanted_by.join(", ")], ["which is cut as", reader ? `${reader.op}, ${reader.strategy}` : ""],
      ["from", el("code", {}, r.from)], ["to", el("code", {}, r.to)],
      ["each moves", `${bytes(r.bytes * times(r))} to the busiest device in ${seconds(r.seconds * times(r))}; no way needs less than ${bytes(r.least_bytes * times(r))}`],
      ["kernels around it", r.break_s ? `${seconds(r.break_s * times(r))} more` : ""],
      ["all of the row", g.all.length > 1 ? `${g.all.length}: ${bytes(total(g, q => q.bytes * times(q)))}, ${seconds(total(g, moving))}` : ""],
      ["runs", times(r) > 1 ? times(r) : ""], ["source", placeOf(r)], ["scope", r.scope ?? ""]]),
    el("h2", {style: "margin-top:10px"}, "Steps"),
    table([{name: "collective", code: true, show: s => s.collective}, {name: "bytes", right: true, show: s => bytes(s.bytes)},
      {name: "time", right: true, show: s => seconds(s.seconds)}], r.steps, -1).element);
  };
  const columns = [
    {name: "value", code: true, show: g => g.name},
    {name: "times", right: true, show: g => g.all.length > 1 ? "\u00d7" + g.all.length : "", key: g => g.all.length},
    {name: "how", show: g => [...new Set(how(g.all[0]).split(", "))].join(", "), title: g => g.all[0].steps.map(s => s.collective).join("\n")},
    {name: "time", right: true, show: g => seconds(total(g, moving)), key: g => total(g, moving)},
    {name: "bytes", right: true, show: g => bytes(total(g, r => r.bytes * times(r))), key: g => total(g, r => r.bytes * times(r))},
    {name: "least", right: true, show: g => bytes(total(g, r => r.least_bytes * times(r))), key: g => total(g, r => r.least_bytes * times(r))},
    {name: "cause", show: g => cause(g.all[0]), title: g => g.all[0].cause},
    {name: "from", code: true, show: g => g.all[0].from}, {name: "to", code: true, show: g => g.all[0].to},
    {name: "wanted by", show: g => g.all[0].wanted_by[0] + (g.all[0].wanted_by.length > 1 ? `, ${g.all[0].wanted_by.length - 1} more` : ""),
      title: g => g.all[0].wanted_by.join("\n")},
    {name: "source", show: g => short(placeOf(g.all[0])), title: g => placeOf(g.all[0])}];
  let t, text = "", rows = G;
  const pick = g => { show(g); address(R.reshards.indexOf(g.all[0])); };
  const draw = () => { t = table(columns, rows, 3, pick); t.filter(text); box.replaceChildren(t.element); };
  const each = el("input", {type: "checkbox", id: "each"});
  each.onchange = () => { rows = each.checked ? single : G; draw(); };
  if (R.reshards.length) {
    draw();
    section(where, "Reshards", `${plural(R.reshards.length, "value")} wanted in another sharding than made in, ${
      seconds(R.reshard_s)} in all: with the bytes that the busiest device receives and the least that any way would need. Those that are alike over layers in one row; click for why.`,
      el("div", {class: "row"}, search("filter", s => { text = s; t.filter(s); }), el("label", {}, each, " each by itself")), box, detail);
  } else {
    section(where, "Reshards", "None: every value is used as it is made.");
  }
  const own = R.ops_in_order.filter(o => o.inside_bytes > 0);
  if (own.length) section(where, "Communication inside ops", `${seconds(R.inside_ops_s)} that show, ${seconds(R.hidden_s)} behind arithmetic.`,
    table([{name: "op", code: true, show: o => o.name}, {name: "kind", show: o => o.op},
      {name: "shows", right: true, show: o => seconds(inside(o)), key: inside},
      {name: "hidden", right: true, show: o => seconds((o.hidden_s ?? 0) * times(o)), key: o => o.hidden_s ?? 0},
      {name: "bytes", right: true, show: o => bytes(o.inside_bytes * times(o)), key: o => o.inside_bytes * times(o)},
      {name: "cut as", code: true, show: o => o.strategy},
      {name: "source", show: o => short(placeOf(o)), title: placeOf}], own, 2).element);
  return i => {
    const r = R.reshards[i], g = rows.find(q => q.all.includes(r));
    if (g) { t.choose(g); show(g); }
  };
};
