const drawOverview = (R, where) => {
  const comm = R.reshard_s + R.inside_ops_s, M = R.memory, cap = M.capacity_bytes;
  const tiles = el("div", {class: "tiles"});
  where.append(tiles);
  const tile = (name, value, note, cls) => tiles.append(el("div", {class: "tile"}, el("span", {class: "soft"}, name),
    el("b", {}, value), el("span", {class: cls || "soft"}, note)));
  tile("Predicted time", seconds(R.total_s), R.bound_s === undefined ? R.origin
    : `${R.status}: ${R.bound_proven ? "at least" : "bound over the strategies enumerated"} ${seconds(R.bound_s)}, gap ${
      (100 * R.gap).toFixed(2)} %${R.bound_proven ? "" : ` (${R.strategies_dropped_inexactly} left out)`}`);
  tile("Peak memory per device", bytes(M.peak_bytes), cap ? `${percent(M.peak_bytes, cap)} of ${bytes(cap)}` : "no capacity given",
    cap && M.peak_bytes > cap ? "bad" : "soft");
  const T = R.timeline, exposed = T ? T.exposed_s : comm;
  tile("Communication", percent(exposed, R.total_s), `${T ? `${seconds(exposed)} not hidden, of ` : ""}${seconds(comm)} in ${
    plural(sum(R.by_collective, c => c.calls), "collective")}`);
  if (R.samples_per_s_per_device !== undefined) tile("Samples per second and device", R.samples_per_s_per_device.toPrecision(4),
    R.tokens_per_s_per_device === undefined ? `batch ${R.batch}` : `${R.tokens_per_s_per_device.toPrecision(4)} tokens`);
  if (R.model_flops_utilisation !== undefined) tile("Model flops utilisation", `${(100 * R.model_flops_utilisation).toFixed(1)} %`,
    `${R.model_flops.toPrecision(3)} flops`);
  const best = R.comparisons.filter(c => c.made && c.fits && !c.breaks).sort((a, b) => a.total_s - b.total_s)[0];
  tile("Against the best of the others", best ? (best.total_s / R.total_s).toFixed(2) + "\u00d7" : "none",
    best ? `${best.plan}: ${seconds(best.total_s)}` : "fits and keeps what is required", best ? "soft" : "bad");

  const parts = T ? [["kernels", T.kernels_s, "local"], ["longer beside collectives", T.slowed_s, "inside"],
    ["communication that nothing hides", exposed, "reshard"], ["waiting for launches", T.waiting_s, "other"]]
    : [["local work", R.local_s, "local"], ["resharding", R.reshard_s, "reshard"], ["communication inside ops", R.inside_ops_s, "inside"]];
  const time = section(where, "Where the time goes", "Predicted, on one device.", stack(parts, R.total_s),
    key(parts.map(([name, value, colour]) => [`${name} ${seconds(value)} (${percent(value, R.total_s)})`, colour])));
  if (R.made_again) time.append(el("p", {}, `Made again: ${R.made_again.in_words}.`));
  if (R.hidden_s > 0) time.append(el("p", {class: "soft"}, `${seconds(R.hidden_s)} of communication more run behind arithmetic.`));

  const kinds = new Map(), kernels = new Map();
  for (const op of R.ops_in_order) {
    for (const [map, k] of [[kinds, op.op], [kernels, op.kernel]]) {
      const of = map.get(k) || {name: k, first: op.name, n: 0, s: 0};
      of.n++; of.s += work(op);
      map.set(k, of);
    }
  }
  const byOp = [...kinds.values()].filter(k => k.s > 0).sort((a, b) => b.s - a.s);
  const left = el("div", {}, el("h2", {}, "Local work by kind of op"), bars(byOp.slice(0, 12).map(k => ({name: k.name,
    value: k.s, colour: "local", text: `${seconds(k.s)}, ${plural(k.n, "op")}`}))));
  if (byOp.length > 12) left.append(el("p", {class: "soft"},
    `and ${byOp.length - 12} other kinds: ${seconds(sum(byOp.slice(12), k => k.s))}`));
  const right = el("div", {}, el("h2", {}, "Communication by collective"),
    bars(R.by_collective.slice().sort((a, b) => b.seconds - a.seconds).map(c => ({name: c.op, value: c.seconds,
      colour: "reshard", text: `${seconds(c.seconds)}, ${plural(c.calls, "call")}, ${bytes(c.bytes)}`}))),
    el("h2", {}, "Communication by mesh axis"),
    bars(R.by_axis.map(a => ({name: `${a.axis} (${a.size})`, value: a.seconds, colour: "reshard", text: seconds(a.seconds)}))));
  if (R.compiler !== "none") right.append(el("h2", {}, `Dearest of ${kernels.size} kernels (${R.compiler})`),
    bars([...kernels.values()].sort((a, b) => b.s - a.s).slice(0, 8).map(k => ({name: k.first, value: k.s, colour: "local",
      text: `${seconds(k.s)}, ${plural(k.n, "op")}`}))));
  time.append(el("div", {class: "pair"}, left, right));
  if (!R.made_again) return;
  const again = R.made_again, name = what => ({name: what, code: true, show: r => r.name}),
    count = {name: "times", right: true, show: r => r.count > 1 ? "\u00d7" + r.count : "", key: r => r.count},
    held = {name: "bytes per device", right: true, show: r => bytes(r.bytes), key: r => r.bytes},
    paid = {name: "time", right: true, show: r => seconds(r.seconds), key: r => r.seconds};
  const away = again.offloaded ? [table([name("offloaded"), count, paid, held], again.offloaded, -1).element] : [];
  section(where, "Made again, and kept", "Over layers: what runs a second time for ops that read it late, with what is held of it at the peak where nothing is made again; what is held for them; and what waits for them in memory of the host.",
    table([name("made again"), count, paid, held], again.ops, -1).element, table([name("kept"), count, held], again.kept, -1).element, ...away);
};
