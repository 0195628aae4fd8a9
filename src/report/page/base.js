"use strict";
/* What the tabs share: elements, numbers with units, bars, tables. A tab is a function of the report R
 * (docs/report-format.md) and the element that it fills; one that shows a part of itself on demand returns a function of
 * that part's number, which stands behind the tab's name in the page's address (#memory/1234). */
const $ = (s, from = document) => from.querySelector(s);
const el = (tag, attrs = {}, ...inside) => {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
  e.append(...inside);
  return e;
};
const svg = (tag, attrs = {}, text) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
};
const section = (where, title, note, ...inside) => {
  const s = el("section", {}, el("h2", {}, title));
  if (note) s.append(el("p", {class: "soft"}, note));
  s.append(...inside);
  where.append(s);
  return s;
};

const scaled = (v, units, base) => {
  let i = 0;
  while (i < units.length - 1 && v >= base) { v /= base; i++; }
  return (v >= 100 || v === 0 ? v.toFixed(0) : v.toPrecision(3)) + " " + units[i];
};
const bytes = v => scaled(v, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024);
const seconds = v => scaled(v < 1e-10 ? 0 : v * 1e9, ["ns", "\u00b5s", "ms", "s"], 1000);
const percent = (a, b) => b > 0 ? (100 * a / b).toFixed(a / b < 0.1 ? 1 : 0) + " %" : "0 %";
const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const times = r => r.repeats ?? 1; /* runs of what stands in a loop */
const sum = (list, of) => list.reduce((s, x) => s + of(x), 0);

/* Seconds of one run of the program. */
const work = op => op.local_s * times(op);
const inside = op => (op.inside_s ?? 0) * times(op);
const moving = r => (r.seconds + (r.break_s ?? 0)) * times(r);
const how = r => r.steps.map(s => s.collective.split(" ")[0]).join(", ");
const cause = r => r.cause.includes("partial") ? "partial" : r.made_by === "argument" ? "argument" : "cut differently";
const placeOf = x => x.source || x.location || "";
const short = place => place.replace(/^.*\//, "");

/* rows: {name, value, text, colour, title} */
const bars = rows => {
  const where = el("div", {class: "bars"}), most = Math.max(1e-300, ...rows.map(r => r.value));
  for (const r of rows) {
    const fill = el("div", {class: "fill", style: `width:${100 * r.value / most}%;background:var(--${r.colour})`});
    where.append(el("span", {}, r.name), el("div", {title: r.title || ""}, fill), el("span", {class: "number"}, r.text));
  }
  if (!rows.length) where.append(el("span", {class: "soft"}, "none"));
  return where;
};
/* parts: [name, value, colour]; in proportion to the whole. */
const stack = (parts, whole) => el("div", {class: "stack"}, ...parts.map(([name, value, colour]) =>
  el("div", {style: `width:${100 * value / (whole || 1)}%;background:var(--${colour})`, title: name})));
const key = parts => el("div", {class: "key"}, ...parts.map(([text, colour]) =>
  el("span", {}, el("i", {style: `background:var(--${colour})`}), text)));
const facts = rows => el("dl", {}, ...rows.filter(([, v]) => v !== undefined && v !== "").flatMap(([k, v]) =>
  [el("dt", {}, k), el("dd", {}, v instanceof Node ? v : String(v))]));
const search = (label, oninput) => {
  const box = el("input", {type: "search", placeholder: label, "aria-label": label});
  box.oninput = () => oninput(box.value);
  return box;
};

/* columns: {name, show, key, right, code, title, differs}; `sorted`: by which column, -1: as the rows come. onpick(row)
 * when one is chosen. Long tables show their first rows, and the rest when asked. Returns {element, filter, choose}. */
const table = (columns, rows, sorted, onpick) => {
  const MOST = 300;
  let by = sorted, down = true, filter = "", all = false, chosen = null;
  const head = el("tr"), body = el("tbody"), more = el("button", {class: "plain", type: "button"});
  const element = el("div", {class: "scroll"}, el("table", {}, el("thead", {}, head), body), more);
  const pick = r => { chosen = r; draw(); onpick(r); };
  const drawRow = r => {
    const tr = el("tr", onpick ? {class: r === chosen ? "pick chosen" : "pick", tabindex: 0} : {});
    for (const c of columns) {
      const text = c.show(r);
      const td = el("td", c.right ? {class: "right"} : c.differs && c.differs(r) ? {class: "differs"} : {},
        text instanceof Node ? text : c.code ? el("code", {}, text) : text);
      if (c.title) td.title = c.title(r);
      tr.append(td);
    }
    if (onpick) {
      tr.onclick = () => pick(r);
      tr.onkeydown = e => { if (e.key === "Enter") pick(r); };
    }
    return tr;
  };
  const draw = () => {
    const col = columns[by], of = r => col.key ? col.key(r) : col.show(r);
    const shown = rows.filter(r => !filter || columns.some(c => String(c.show(r)).toLowerCase().includes(filter) ||
      (c.title && c.title(r).toLowerCase().includes(filter))));
    if (by >= 0) shown.sort((a, b) => {
      const p = of(a), q = of(b), o = p < q ? -1 : p > q ? 1 : 0;
      return down ? -o : o;
    });
    [...head.children].forEach((th, i) => i === by ? th.setAttribute("aria-sort", down ? "descending" : "ascending")
      : th.removeAttribute("aria-sort"));
    body.replaceChildren(...shown.slice(0, all ? shown.length : MOST).map(drawRow));
    more.hidden = all || shown.length <= MOST;
    more.textContent = `show all ${shown.length} rows`;
  };
  more.onclick = () => { all = true; draw(); };
  columns.forEach((c, i) => {
    const b = el("button", {type: "button"}, c.name);
    b.onclick = () => { down = i === by ? !down : !!c.right; by = i; draw(); };
    head.append(el("th", c.right ? {class: "right"} : {}, b));
  });
  draw();
  return {element, filter: text => { filter = text.toLowerCase(); draw(); },
    choose: r => { chosen = r; draw(); $("tr.chosen", body)?.scrollIntoView({block: "nearest"}); }};
};
