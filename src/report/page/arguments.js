/* "[[x],[y:(1)2]] partial sum[z]": per dimension the axes, major first. */
const parseSharding = (text, axes) => {
  const dims = [], end = text.indexOf("]]") < 0 ? text.length : text.indexOf("]]") + 1;
  for (const m of text.slice(1, end).matchAll(/\[([^\]]*)\]/g)) {
    dims.push(m[1].split(",").filter(Boolean).map(a => {
      const part = a.match(/^(.*?)(?::\((\d+)\)(\d+))?$/), i = axes.findIndex(x => x.name === part[1]);
      return {axis: i, pre: part[2] ? +part[2] : 1, size: part[3] ? +part[3] : axes[i].size};
    }));
  }
  return dims;
};
const axesOf = R => R.mesh ? R.mesh.split(" ")[0].split(",").filter(Boolean).map(a => {
  const [name, size] = a.split("=");
  return {name, size: +size};
}) : [];

const drawArguments = (R, where, address) => {
  const axes = axesOf(R), G = R.argument_groups, MOST = 256;
  const chosenText = el("p", {class: "soft"}), devices = el("div", {class: "devices"});
  const coords = device => {
    const c = [];
    for (let i = axes.length - 1; i >= 0; i--) { c[i] = device % axes[i].size; device = Math.floor(device / axes[i].size); }
    return c;
  };
  const tileOf = (arg, dims, device) => arg.shape.map((k, d) => {
    const c = coords(device);
    let index = 0, n = 1;
    for (const r of dims[d] || []) {
      index = index * r.size + Math.floor(c[r.axis] / (axes[r.axis].size / (r.pre * r.size))) % r.size;
      n *= r.size;
    }
    const block = Math.ceil(k / n);
    return [Math.min(k, index * block), Math.min(k, (index + 1) * block)];
  });
  const picture = (arg, tile) => { /* the last two dimensions; one alone lies flat */
    const W = 76, H = 52, shape = arg.shape.slice(-2), t = tile.slice(-2);
    if (shape.length < 2) { shape.unshift(1); t.unshift([0, 1]); }
    if (arg.shape.length === 0) { shape[1] = 1; t[1] = [0, 1]; }
    const g = svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"});
    g.append(svg("rect", {x: 0.5, y: 0.5, width: W - 1, height: H - 1, fill: "var(--held)", stroke: "var(--line)"}));
    const sx = v => v * (W - 2) / (shape[1] || 1) + 1, sy = v => v * (H - 2) / (shape[0] || 1) + 1;
    g.append(svg("rect", {x: sx(t[1][0]), y: sy(t[0][0]), width: Math.max(0, sx(t[1][1]) - sx(t[1][0])),
      height: Math.max(0, sy(t[0][1]) - sy(t[0][0])), fill: "var(--local)"}));
    return g;
  };
  const show = g => {
    const arg = R.arguments[g.arguments[0]], dims = parseSharding(arg.sharding, axes), last = axes.length ? axes[axes.length - 1].size : 1;
    chosenText.textContent = `${arg.name}: ${arg.dtype}[${arg.shape.join(",")}] as ${arg.sharding}` +
      (R.devices > MOST ? `; the first ${MOST} devices` : "");
    devices.style.setProperty("--in-a-row", Math.min(last, 16));
    devices.replaceChildren();
    for (let i = 0; i < Math.min(R.devices, MOST); i++) {
      const c = coords(i), tile = tileOf(arg, dims, i);
      devices.append(el("div", {class: "device"}, el("span", {class: "soft"}, axes.map((a, k) => a.name + c[k]).join(" ") || "device"),
        picture(arg, tile), el("code", {}, tile.map(([a, b]) => `${a}:${b}`).join(" ") || "whole")));
    }
  };
  const shapeOf = g => g.shape || R.arguments[g.arguments[0]].shape.map((_, d) => {
    const sizes = g.arguments.map(i => R.arguments[i].shape[d]), lo = Math.min(...sizes), hi = Math.max(...sizes);
    return lo < hi ? `${lo}..${hi}` : lo;
  });
  const list = table([
    {name: "arguments", code: true, show: r => r.name},
    {name: "times", right: true, show: r => r.count > 1 ? "\u00d7" + r.count : "", key: r => r.count},
    {name: "kind", show: r => r.kind},
    {name: "type", code: true, show: r => `${r.dtype}[${shapeOf(r).join(",")}]`},
    {name: "sharding", code: true, show: r => r.sharding},
    {name: "bytes per device", right: true, show: r => bytes(r.bytes), key: r => r.bytes}], G, -1,
  g => { show(g); address(G.indexOf(g)); });
  section(where, "Arguments", `${plural(R.arguments.length, "argument")}, ${bytes(sum(G, g => g.bytes))} per device. Those of one role and sharding in one row; choose one to see which part of the (first) tensor each device holds.`,
    el("div", {class: "row"}, search("filter", list.filter)), list.element);
  section(where, "Which device holds what", "", chosenText, devices);
  const cuts = g => parseSharding(g.sharding, axes).flat().length;
  const first = G.slice().sort((a, b) => cuts(b) - cuts(a))[0];
  const choose = g => { list.choose(g); show(g); };
  if (first) choose(first);
  return i => { if (G[i]) choose(G[i]); };
};
