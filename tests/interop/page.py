#!/usr/bin/env python3
"""page.py TOOL [--self-test]: the page of a report, opened in a headless Chromium.

Each tab of each page is clicked open and asked, as a person would: what it shows is compared with figures that are
counted here, from the JSON report of the same call. No script may fail and nothing may be fetched. Then the page is
looked at as wide as a telephone: nothing sticks out and no text is cut off, but for tables, which scroll by themselves;
and as it is printed, with all of its tabs. The self test alters the page, once in each way that a check below is there
for, and wants to hear of it. Without a Chromium: skipped.
"""
import decimal
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parents[2]
MOST_BYTES = 3_000_000  # of the page of 20,000 ops

# What is asked of the page, in it: every tab by a click on it, then what can be clicked there.
PROBE = """
<script>
"use strict";
const waited = setInterval(() => {
  if (document.documentElement.dataset.ready !== "yes") return;
  clearInterval(waited);
  const out = {tabs: {}, title: document.title};
  const rows = at => [...at.querySelectorAll("tbody tr")].map(tr => [...tr.children].map(td => td.textContent));
  const tables = at => [...at.querySelectorAll("table")].map(rows);
  const panel = () => [...document.querySelectorAll("#panels > *")].find(p => !p.hidden);
  const open = name => { document.getElementById("tab-" + name).click(); return panel(); };
  const box = p => p.querySelector("input[type=search]");
  for (const b of document.querySelectorAll("[role=tab]")) {
    const p = open(b.id.slice(4));
    out.tabs[b.id.slice(4)] = {id: p.id, text: p.innerText, tables: tables(p), visible: document.querySelectorAll("#panels > :not([hidden])").length};
  }
  let p = open("memory"), chart = p.querySelector("svg"), r = chart.getBoundingClientRect();
  const click = (x, y) => chart.dispatchEvent(new MouseEvent("click", {clientX: x, clientY: y, bubbles: true}));
  out.alive = [];
  for (const part of [0.1, 0.35, 0.6, 0.97]) {
    click(r.left + r.width * part, r.top + r.height / 2);
    out.alive.push({hash: location.hash, title: p.querySelectorAll("h2")[1].textContent, tables: tables(p)});
  }
  location.hash = "#memory/0"; window.dispatchEvent(new HashChangeEvent("hashchange"));
  out.first = {title: p.querySelectorAll("h2")[1].textContent, tables: tables(p)};
  p = open("collectives");
  if (p.querySelector("tbody tr.pick")) {
    p.querySelector("tbody tr.pick").click();
    out.why = {hash: location.hash, facts: [...p.querySelectorAll("dl")].map(d => d.innerText), steps: tables(p)[1]};
    const each = p.querySelector("#each"); each.click();
    out.each = rows(p.querySelector("table")).length;
    const all = p.querySelector("table").parentElement.querySelector("button.plain");
    if (!all.hidden) { all.click(); out.each = rows(p.querySelector("table")).length; }
    const name = p.querySelector("tbody code").textContent;
    box(p).value = name; box(p).oninput();
    out.filtered = {name, rows: rows(p.querySelector("table"))};
  }
  p = open("arguments");
  out.devices = [];
  for (const tr of [...p.querySelectorAll("tbody tr")].slice(0, 12)) {
    tr.click();
    out.devices.push({group: tr.firstChild.textContent, tiles: [...p.querySelectorAll(".device code")].map(c => c.textContent)});
  }
  p = open("timeline");
  p.querySelector("tbody tr.pick").click();
  out.longest = {facts: p.querySelector("dl").innerText, hash: location.hash};
  const c = p.querySelector("canvas");
  [...p.querySelectorAll("button")].find(b => b.textContent === "all").click();
  const lane = c.getContext("2d").getImageData(112, 17, c.width - 114, 1).data, grid = getComputedStyle(document.body).getPropertyValue("--grid");
  let painted = 0;
  for (let x = 0; x < lane.length; x += 4) painted += "#" + [0, 1, 2].map(i => lane[x + i].toString(16).padStart(2, "0")).join("") !== grid.trim();
  out.painted = painted / (lane.length / 4);
  p = open("comparison");
  p.querySelector("#only").click();
  out.differ = tables(p)[1];
  const pre = document.createElement("pre");
  pre.id = "probe"; pre.textContent = JSON.stringify(out);
  document.body.append(pre);
}, 20);
</script>
"""

# The page in a frame as wide as a telephone, or as paper and with its style for that: what sticks out, what is cut off,
# what is too small.
NARROW, PAPER = 390, 720
TABS = ["overview", "timeline", "memory", "collectives", "arguments", "source", "comparison"]
NARROW_PROBE = """
<script>
"use strict";
const frame = document.querySelector("iframe"), paper = frame.dataset.paper === "yes", waited = setInterval(() => {
  const d = frame.contentDocument, root = d?.documentElement;
  if (root?.dataset.ready !== "yes") return;
  clearInterval(waited);
  const own = e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  const name = e => `${e.tagName.toLowerCase()}.${e.getAttribute("class") ?? ""} '${e.textContent.slice(0, 60)}'`;
  const wrong = () => {
    const out = [];
    if (root.scrollWidth > root.clientWidth) out.push(`the page scrolls by ${root.scrollWidth - root.clientWidth}`);
    for (const e of d.querySelectorAll("main *")) {
      const r = e.getBoundingClientRect(), box = paper ? null : e.closest(".scroll");
      if (!r.width || (box && box !== e)) continue;
      const within = e.ownerSVGElement ? e.ownerSVGElement.getBoundingClientRect() : {left: 0, right: root.clientWidth};
      if (r.right > within.right + 1 || r.left < within.left - 1) out.push(`${name(e)} sticks out to ${Math.round(r.right)}`);
      if (!e.ownerSVGElement && e !== box && own(e) && e.scrollWidth > e.clientWidth + 1 && e.clientWidth) out.push(`${name(e)} is cut off`);
      if (e.tagName === "text" && r.height < 9) out.push(`${name(e)} is ${r.height.toFixed(1)} high`);
    }
    return out;
  };
  const out = {width: frame.contentWindow.innerWidth, wrong: {}};
  const panels = () => [...d.querySelectorAll("#panels > :not([hidden])")].filter(p => p.innerText.length > 40).map(p => p.id);
  d.getElementById("tab-memory").click();
  frame.contentWindow.dispatchEvent(new Event("beforeprint"));
  out.printed = panels();
  if (paper) out.wrong.all = wrong().slice(0, 5);
  frame.contentWindow.dispatchEvent(new Event("afterprint"));
  out.after = panels();
  for (const b of paper ? [] : d.querySelectorAll("[role=tab]")) {
    b.click();
    out.wrong[b.id.slice(4)] = wrong().slice(0, 5);
  }
  const pre = document.createElement("pre");
  pre.id = "probe"; pre.textContent = JSON.stringify(out);
  document.body.append(pre);
}, 20);
</script>
"""

failures = []


def check(what, seen, wanted):
    if seen == wanted:
        return
    if isinstance(seen, list) and len(seen) == len(wanted):  # the first that differs says enough
        seen, wanted = next((s, w) for s, w in zip(seen, wanted) if s != w)
    failures.append(f"{what}: the page has {str(seen)[:300]}, the report {str(wanted)[:300]}")


# --- numbers as the page writes them ---------------------------------------------------------------------------------


def scaled(v, units, base):
    i = 0
    while i < len(units) - 1 and v >= base:
        v /= base
        i += 1
    if v >= 100 or v == 0:
        return f"{int(v + 0.5)} {units[i]}"
    exact = decimal.Decimal(v)  # a browser rounds halves up
    return f"{exact.quantize(decimal.Decimal(1).scaleb(exact.adjusted() - 2), decimal.ROUND_HALF_UP)} {units[i]}"


def size(v):
    return scaled(v, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024)


def seconds(v):
    return scaled(0 if v < 1e-10 else v * 1e9, ["ns", "\u00b5s", "ms", "s"], 1000)


def runs(x):
    return x.get("repeats", 1)


def moving(r):
    return (r["seconds"] + r.get("break_s", 0)) * runs(r)


# --- what each tab should show ---------------------------------------------------------------------------------------


def alive(report, step):
    """Groups of the report's `held` at a step: name and class to how many and bytes."""
    rows = {}
    for h in report["memory"]["held"]:
        s = h["steps"]
        now = [s[i + 2] for i in range(0, len(s), 3) if s[i] <= step <= s[i + 1]]
        if now:
            rows.setdefault((h["name"], h["class"]), []).append((len(now), sum(now)))
    return rows


def check_alive(what, report, step, title, tables):
    ops = report["ops_in_order"]
    at = ops[step]["name"] if step < len(ops) else "the end"
    held = report["memory"]["bytes_at_step"][step]
    peak = ", the peak" if step == report["memory"]["peak_step"] else ""
    check(f"{what}, title", title, f"Alive at {at}{peak}: {size(held)}")
    wanted = alive(report, step)
    check(f"{what}, all that is held", sum(b for rows in wanted.values() for _, b in rows), held)
    seen = sorted((r[0], r[1], r[3]) for r in tables[0])
    check(f"{what}, rows", seen[:300], sorted((n, c, size(b)) for (n, c), rows in wanted.items() for _, b in rows)[:300])
    classes = {}
    for (_, c), rows in wanted.items():
        classes[c] = classes.get(c, 0) + sum(b for _, b in rows)
    check(f"{what}, classes", sorted((r[0], r[1]) for r in tables[1]), sorted((c, size(b)) for c, b in classes.items()))
    if "lower_memory" in report:
        check("less memory", [(r[0], r[1], r[2]) for r in tables[2]], [
            (size(a["capacity_bytes"]), size(a["peak_bytes"]) if a["made"] else "", seconds(a["total_s"]) if a["made"] else "")
            for a in report["lower_memory"]])


def check_overview(report, tab):
    for name in (seconds(report["total_s"]), size(report["memory"]["peak_bytes"])):
        if name not in tab["text"]:
            failures.append(f"overview: {name} is not shown")
    for c in report["by_collective"]:
        if seconds(c["seconds"]) not in tab["text"] or c["op"] not in tab["text"]:
            failures.append(f"overview: {c['op']} is not shown with its time")


def check_timeline(report, tab, out):
    if laid := report.get("timeline"):
        events = [e["end_s"] - e["start_s"] for e in laid["entries"]]
        worked = [s for s, e in zip(events, laid["entries"]) if e["stream"] == "work"]
        total = laid["kernels_s"] + laid["slowed_s"] + laid["exposed_s"] + laid["waiting_s"]
    else:
        worked = [o["local_s"] * runs(o) for o in report["ops_in_order"]]
        events = worked + [o.get("inside_s", 0) * runs(o) for o in report["ops_in_order"]] + [moving(r) for r in report["reshards"]]
        total = sum(events)
    events = sorted((s for s in events if s > 0), reverse=True)
    if abs(total - report["total_s"]) > 1e-9 * total:
        failures.append(f"timeline: its parts take {total}, the step {report['total_s']}")
    if f": {seconds(total)}." not in tab["text"]:
        failures.append(f"timeline: {seconds(total)} is not shown")
    check("timeline, the longest", [r[3] for r in tab["tables"][0]], [seconds(s) for s in events[:100]])
    if f"{seconds(events[0])} (" not in out["longest"]["facts"]:
        failures.append("timeline: the longest was chosen, and is not told of")
    work = sum(worked) / total
    if out["painted"] < 0.8 * work:
        failures.append(f"timeline: {out['painted']:.2f} of the lane is painted, {work:.2f} of the time is work")


def check_collectives(report, tab, out):
    if not report["reshards"]:
        return
    groups = report["reshard_groups"]
    check("collectives, rows", len(tab["tables"][0]), min(300, len(groups)))
    check("collectives, in groups", sorted(i for g in groups for i in g["reshards"]), list(range(len(report["reshards"]))))
    first = max(groups, key=lambda g: sum(moving(report["reshards"][i]) for i in g["reshards"]))
    r = report["reshards"][first["reshards"][0]]
    row = tab["tables"][0][0]
    check("collectives, dearest", row[3], seconds(sum(moving(report["reshards"][i]) for i in first["reshards"])))
    check("collectives, steps", [s[0] for s in out["why"]["steps"]],
          [s["collective"] for s in report["reshards"][int(out["why"]["hash"].split("/")[1])]["steps"]])
    if r["cause"] not in out["why"]["facts"][0]:
        failures.append(f"collectives: '{r['cause']}' is not told")
    check("collectives, each by itself", out["each"], len(report["reshards"]))
    name = out["filtered"]["name"]
    if not all(name.lower() in " ".join(row).lower() for row in out["filtered"]["rows"]) or not out["filtered"]["rows"]:
        failures.append(f"collectives: filtered by {name}, the table has other rows")


def tiles(report, arg):
    """The blocks of a tensor by device, for shardings of whole axes."""
    axes = [(a.split("=")[0], int(a.split("=")[1])) for a in report["mesh"].split(" ")[0].split(",") if a]
    dims = [[x for x in d.split(",") if x] for d in re.findall(r"\[([^\[\]]*)\]", arg["sharding"])]
    if any(":" in x for d in dims for x in d) or "partial" in arg["sharding"]:
        return None
    out = []
    for device in range(min(report["devices"], 256)):
        at, rest = {}, device
        for name, n in reversed(axes):
            at[name], rest = rest % n, rest // n
        text = []
        for k, n in enumerate(arg["shape"]):
            index = parts = 0
            parts = 1
            for name in dims[k] if k < len(dims) else []:
                index = index * dict(axes)[name] + at[name]
                parts *= dict(axes)[name]
            block = -(-n // parts)
            text.append(f"{min(n, index * block)}:{min(n, (index + 1) * block)}")
        out.append(" ".join(text) or "whole")
    return out


def check_arguments(report, tab, out):
    groups = report["argument_groups"]
    check("arguments", [(r[0], r[4], r[5]) for r in tab["tables"][0]],
          [(g["name"], g["sharding"], size(g["bytes"])) for g in groups[:300]])
    for g, seen in zip(groups, out["devices"]):
        wanted = tiles(report, report["arguments"][g["arguments"][0]])
        if wanted is not None:
            check(f"devices of {g['name']}", seen["tiles"], wanted)


def check_source(report, tab):
    lines = {}
    for o in report["ops_in_order"]:
        if "source" in o:
            line = re.sub(r"(:\d+):\d+$", r"\1", o["source"]).rsplit("/", 1)[-1]
            lines[line] = lines.get(line, 0) + (o["local_s"] + o.get("inside_s", 0)) * runs(o)
    for r in report["reshards"]:
        if "source" in r:
            line = re.sub(r"(:\d+):\d+$", r"\1", r["source"]).rsplit("/", 1)[-1]
            lines[line] = lines.get(line, 0) + moving(r)
    if lines:
        seen = {r[0]: r[1] for r in tab["tables"][0]}
        check("source, lines", {k: v for k, v in seen.items() if k != "no line"}, {k: seconds(v) for k, v in lines.items()})
        texts = {f"{s['file'].rsplit('/', 1)[-1]}:{s['line']}": s["text"].strip() for s in report["source_lines"]}
        check("source, text", {r[0]: r[5] for r in tab["tables"][0] if r[0] in texts}, texts)
    if report["model"] not in tab["text"] or seconds(report.get("sum_s", report["total_s"])) not in tab["text"]:
        failures.append("source: the whole program is not the root of its parts")


def check_comparison(report, tab, out):
    plans = [c for c in report["comparisons"] if c["made"]]
    side = {r[0]: r[1:] for r in tab["tables"][0]}
    check("comparison, time", side["time"], [seconds(x["total_s"]) for x in [report, *plans]])
    check("comparison, work", side["work"], [seconds(x["local_s"]) for x in [report, *plans]])
    check("comparison, memory", side["peak memory"], [size(x["peak_bytes"]) for x in [report["memory"], *plans]])
    for x in plans:
        check(f"{x['plan']}, classes of its peak", sum(c["bytes"] for c in x["classes_at_peak"]), x["peak_bytes"])
    groups = report["argument_groups"]
    differ = [g["name"] for i, g in enumerate(groups) if any(x["shardings"][i] != g["sharding"] for x in plans)]
    check("comparison, arguments that differ", [r[0] for r in out["differ"]], differ[:300])


def check_page(report, out, name):
    before = len(failures)
    check("title", out["title"], f"{report['model']} on {report['profile']}")
    for tab, seen in out["tabs"].items():
        check(f"{tab} alone is shown", (seen["id"], seen["visible"]), ("panel-" + tab, 1))
        if re.search(r"\b(NaN|undefined|Infinity|null)\b", seen["text"]):
            failures.append(f"{tab}: shows a number that is none")
    tabs = out["tabs"]
    check_overview(report, tabs["overview"])
    check_timeline(report, tabs["timeline"], out)
    peak = report["memory"]["peak_step"]
    at = f"Alive at {report['ops_in_order'][peak]['name'] if peak < report['ops'] else 'the end'}, the peak: " \
         f"{size(report['memory']['peak_bytes'])}"
    check_alive("memory at the peak", report, peak, at, tabs["memory"]["tables"])
    for a in out["alive"]:
        check_alive(f"memory at {a['hash']}", report, int(a["hash"].split("/")[1]), a["title"], a["tables"])
    check_alive("memory at #memory/0", report, 0, out["first"]["title"], out["first"]["tables"])
    check_collectives(report, tabs["collectives"], out)
    check_arguments(report, tabs["arguments"], out)
    check_source(report, tabs["source"])
    check_comparison(report, tabs["comparison"], out)
    for f in failures[before:]:
        print(f"{name}: {f}")


# --- the browser -----------------------------------------------------------------------------------------------------


def find_browser():
    return next((b for b in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if b), None)


def browse(browser, page, folder):
    """What a probe found in the page that has it, and what the browser's console says."""
    probed = folder / "probed.html"
    probed.write_text(page, encoding="utf-8")
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/browser",
                           "--window-size=1240,1000", "--virtual-time-budget=60000", "--enable-logging=stderr",
                           "--dump-dom", probed.as_uri()], capture_output=True, text=True, timeout=240)
    console = re.findall(r"CONSOLE.*", done.stderr)
    found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.S)
    if not found:
        return None, console or ["the page never was ready"]
    text = found.group(1)
    for a, b in (("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", "\u00a0"), ("&amp;", "&")):
        text = text.replace(a, b)
    return json.loads(text), console


def check_narrow(out, name, width):
    """On a telephone, and on paper."""
    before = len(failures)
    check("width", out["width"], width)
    for tab, wrong in out["wrong"].items():
        failures.extend(f"{tab}, {width} wide: {w}" for w in wrong)
    check("tabs on paper", out["printed"], ["panel-" + tab for tab in TABS])
    check("tabs after that", out["after"], ["panel-memory"])
    for f in failures[before:]:
        print(f"{name}: {f}")


def framed(page, width, paper):
    page = page.replace("@media print", "@media all") if paper else page
    return f'<body><iframe data-paper="{"yes" if paper else "no"}" style="border:0;width:{width}px;height:900px" ' \
           f'srcdoc="{html.escape(page)}"></iframe>{NARROW_PROBE}</body>'


def make(tool, args, folder):
    """The report and the page of one call of the tool."""
    subprocess.run([tool, "plan", *args, "-q", "--report", folder / "r.json", "--report", folder / "r.html"], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads((folder / "r.json").read_text()), (folder / "r.html").read_text(encoding="utf-8")


def judge(browser, report, page, folder, name):
    for probed, judged in ((page.replace("</body>", PROBE + "</body>"), lambda out: check_page(report, out, name)),
                           (framed(page, NARROW, False), lambda out: check_narrow(out, name, NARROW)),
                           (framed(page, PAPER, True), lambda out: check_narrow(out, name, PAPER))):
        out, console = browse(browser, probed, folder)
        for line in console:
            failures.append(line)
            print(f"{name}: {line}")
        if out:
            judged(out)


def cases(tool, folder):
    models = HERE / "models" / "small"
    quick = ["--work-limit", "100000000"]
    program = folder / "step.py"  # as the program names it: its text is shown
    text = (HERE / "tests/data/locations/step.mlir").read_text()
    names = sorted(set(re.findall(r'"(/[^"]*\.py)"', text)))
    program.write_text("".join(f"line {i} of the step\n" for i in range(1, 400)))
    (folder / "step.mlir").write_text(text.replace(names[0], str(program)) if names else text)
    big = folder / "big.json"
    subprocess.run([tool, "gen", "llama3-8b", "--layers", "56", "--mode", "train", "--attention", "fused", "--batch", "64",
                    "--seq", "4096", "-o", big], check=True)
    return [("gpt2-train", [models / "gpt2-train.json", "--mesh", "x=2,y=4", "--compiler", "xla", "--lower-memory", *quick]),
            ("fsdp", [models / "llama3-fused-train.json", "--mesh", "x=2,y=4", "--compiler", "eager", "--baseline", "fsdp"]),
            ("ring", [HERE / "tests/golden/plan-ring/model.json", "--hw", "local", "--mesh", "x=4", *quick]),
            ("moe-layers-train", [models / "moe-layers-train.json", "--hw", "local", "--mesh", "x=2,y=2,z=2", *quick]),
            ("one device", [models / "mlp.json", "--hw", "local", "--mesh", "x=1"]),
            ("locations", [folder / "step.mlir", "--hw", "local", "--mesh", "x=2,y=2", *quick]),
            ("20,000 ops", [big, "--hw", "h100x64", "--mesh", "x=8,y=8", "--baseline", "fsdp"])]


SABOTAGE = [  # one way each in which a check must fail
    ("a script that fails", "const peak = el(", "nothing.at(0); const peak = el("),
    ("a step too far", "step <= h.steps[i + 1]", "step < h.steps[i + 1]"),
    ("an op left out", "R.timeline.entries.map(e", "R.timeline.entries.filter((_, i) => i % 7).map(e"),
    ("reshards summed once", "const total = (g, of) => sum(g.all, of)", "const total = (g, of) => of(g.all[0])"),
    ("blocks exchanged", "index * r.size + Math", "index * r.size + r.size - 1 - Math"),
    ("another plan's figures", "...R.comparisons.filter(c => c.made)]", "...R.comparisons.filter(c => c.made).reverse()]"),
    ("a line that pays for nothing", "comm: moving(r), ops: 0};", "comm: 0, ops: 0};"),
    ("a wide number", ".number { grid-column: 2; white-space: normal; }", ".number { grid-column: 2; min-width: 380px; }"),
    ("names that do not wrap", ".sw dd code, .sw .tree code { white-space: pre-wrap;", ".sw dd code, .sw .tree code { min-width: 500px;"),
    ("a picture that shrinks", "Math.max(300, Math.min(1100, (where.clientWidth || 1140) - 40))", "1100"),
    ("a table wider than paper", ".sw table { font-size: 11px; }", ".sw table { width: 900px; }"),
    ("one tab on paper", "TABS.forEach(draw);", ""),
    ("a number that is none", "percent(exposed, R.total_s), `", "percent(exposed, R.total_s) + NaN, ` NaN "),
]


def self_test(browser, tool, folder):
    report, page = make(tool, [HERE / "models/small/gpt2-train.json", "--mesh", "x=2,y=4", "--baseline", "fsdp"], folder)
    missed = []
    for what, text, instead in SABOTAGE:
        failures.clear()
        if page.count(text) != 1:
            missed.append(f"{what}: the page has not '{text}' once")
            continue
        judge(browser, report, page.replace(text, instead), folder, what)
        if not failures:
            missed.append(f"{what}: not found")
    print("\n".join(missed) or f"all of {len(SABOTAGE)} are found")
    return bool(missed)


def main():
    browser = find_browser()
    if not browser:
        print("skipped: there is no Chromium")
        return 77
    tool = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if "--self-test" in sys.argv:
            return self_test(browser, tool, folder)
        for what, args in cases(tool, folder):
            report, page = make(tool, args, folder)
            judge(browser, report, page, folder, what)
            print(f"{what}: {report['ops']} ops, page of {len(page) / 1e6:.2f} MB")
            if len(page) > MOST_BYTES:
                failures.append(f"{what}: the page is larger than {MOST_BYTES}")
    print("\n".join(failures[:40]) or "every tab shows what the report has")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
