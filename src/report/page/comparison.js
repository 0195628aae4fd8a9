const drawComparison = (R, where) => {
  const mine = {plan: "this plan", in_words: R.in_words, made: true, fits: !(R.memory.capacity_bytes < R.memory.peak_bytes), total_s: R.total_s,
    local_s: R.local_s, reshard_s: R.reshard_s, inside_ops_s: R.inside_ops_s, hidden_s: R.hidden_s,
    peak_bytes: R.memory.peak_bytes, classes_at_peak: R.memory.classes_at_peak, shardings: R.argument_groups.map(g => g.sharding)};
  const plans = [mine, ...R.comparisons.filter(c => c.made)];
  section(where, "Predicted time of one step", "Under the same cost model.", bars(plans.map(c => ({name: c.plan,
    value: c.total_s, colour: c === mine ? "this" : "other",
    text: `${seconds(c.total_s)}, ${bytes(c.peak_bytes)}${c.fits ? "" : ", does not fit"}${c.breaks ? ", breaks a requirement" : ""}`}))));
  const rows = [["plan", c => c.in_words], ["time", c => seconds(c.total_s)], ["against this plan", c => (c.total_s / R.total_s).toFixed(2) + "\u00d7"],
    ["work", c => seconds(c.local_s)], ["resharding", c => seconds(c.reshard_s)],
    ["communication inside ops", c => seconds(c.inside_ops_s)], ["hidden communication", c => seconds(c.hidden_s)],
    ["peak memory", c => bytes(c.peak_bytes)]];
  for (const name of Object.keys(MEMORY_COLOUR)) {
    const of = c => c.classes_at_peak?.find(m => m.class === name)?.bytes;
    if (plans.some(of)) rows.push([name, c => of(c) === undefined ? "" : bytes(of(c))]);
  }
  rows.push(["fits", c => c.fits ? "yes" : "no"], ["breaks", c => c.breaks ?? ""], ["left whole", c => c.uncut ?? ""], ["batch", c => c.spread ?? ""]);
  section(where, "Side by side", "", table([{name: "", show: r => r[0]},
    ...plans.map(c => ({name: c.plan, right: true, show: r => r[1](c)}))], rows, -1).element);
  for (const c of R.comparisons.filter(c => !c.made)) where.append(el("p", {class: "soft"}, `${c.plan}: cannot be made: ${c.breaks}`));

  const groups = R.argument_groups.map((g, i) => ({g, i})), only = el("input", {type: "checkbox", id: "only"}), box = el("div");
  const shown = (c, r) => c.shardings[r.i] ?? "several", differs = c => r => shown(c, r) !== r.g.sharding;
  const draw = () => box.replaceChildren(table([{name: "arguments", code: true, show: r => r.g.name},
    ...plans.map(c => ({name: c.plan, code: true, show: r => shown(c, r), differs: differs(c)}))],
  only.checked ? groups.filter(r => plans.some(c => differs(c)(r))) : groups, -1).element);
  only.onchange = draw;
  draw();
  section(where, "How arguments are cut", "", el("div", {class: "row"}, el("label", {}, only, " only those that differ")), box);
};
