const TABS = [["overview", "Overview", drawOverview], ["timeline", "Timeline", drawTimeline], ["memory", "Memory", drawMemory],
  ["collectives", "Collectives", drawCollectives], ["arguments", "Arguments", drawArguments],
  ["source", "Source", drawSource], ["comparison", "Comparison", drawComparison]];

const readReport = async () => {
  const packed = Uint8Array.from(atob($("#report").textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
};
/* A tab is drawn when it is first looked at, or printed. */
const start = R => {
  const opened = new Map(), buttons = new Map();
  let current;
  document.title = `${R.model} on ${R.profile}`;
  $("#title").textContent = R.model;
  $("#words").textContent = R.in_words;
  $("#subtitle").textContent = `${R.profile}, mesh ${R.mesh || "of one device"} (${R.devices} devices), ${R.ops} ops; compiler ${R.compiler}, ${R.dtype}; plan: ${R.origin}${R.prices ? `; ${R.prices}` : ""}`;
  const write = text => { if (location.hash !== text) try { history.replaceState(null, "", text); } catch { /* inside another page */ } };
  const draw = ([id, title, fill]) => {
    if (opened.has(id)) return;
    const panel = el("div", {role: "tabpanel", id: "panel-" + id, "aria-labelledby": "tab-" + id, "data-title": title});
    $("#panels").append(panel);
    opened.set(id, fill(R, panel, i => write(`#${id}/${i}`)));
  };
  const show = of => { for (const p of $("#panels").children) p.hidden = !of(p); };
  const open = (name, part) => {
    const tab = TABS.find(t => t[0] === name) || TABS[0], id = current = tab[0];
    for (const [other, b] of buttons) b.setAttribute("aria-selected", String(other === id));
    show(p => p.id === "panel-" + id);
    draw(tab);
    if (part !== undefined && opened.get(id)) opened.get(id)(part);
  };
  const follow = () => {
    const [name, part] = location.hash.slice(1).split("/");
    open(name, part === undefined || part === "" ? undefined : +part);
  };
  for (const [id, title] of TABS) {
    const b = el("button", {role: "tab", type: "button", id: "tab-" + id, "aria-controls": "panel-" + id}, title);
    b.onclick = () => { write("#" + id); open(id); };
    b.onkeydown = e => {
      const next = e.key === "ArrowRight" ? b.nextSibling : e.key === "ArrowLeft" ? b.previousSibling : null;
      if (next) { next.focus(); next.click(); }
    };
    buttons.set(id, b);
    $("#tabs").append(b);
  }
  window.addEventListener("hashchange", follow);
  /* On paper there are no tabs to click: all are there, in their order. */
  window.addEventListener("beforeprint", () => {
    const at = window.scrollY; /* a table shows its chosen row */
    show(() => true);
    TABS.forEach(draw);
    $("#panels").append(...TABS.map(([id]) => $("#panel-" + id)));
    window.scrollTo(0, at);
  });
  window.addEventListener("afterprint", () => show(p => p.id === "panel-" + current));
  follow();
  document.documentElement.dataset.ready = "yes";
};
readReport().then(start, e => {
  $("#title").textContent = "This page needs a browser of 2023 or later";
  $("#subtitle").textContent = `The same figures are in the JSON report. (${e.message})`;
});
