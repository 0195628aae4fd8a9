"""The cases of tests/conformance: how they are written, and what of a program is compared.

A file AREA/NAME.mlir has cases between lines `// -----`. Comments of a case say what is done and seen:

    // run: propagate --strategy sdy-basic   the command, which gets the case as its file; said in the first case, it is
                                             that of all cases of the file that say no other
    // expect: %0 <@mesh, [{"a", ?}, {}]>    behind the program: every sharding of the result, in the order of its text, by
                                             the value that bears it (`->`: a result of the function; else the op's name)
    // expect: %0 ([i, j])->([i]) {...}      of --show-rules: every op's rule, up to the names of factors
    // expect: %0 [[0], [1]]                  of --emit shard=-: the split_axes of values that are cut
    // expect: nothing                       none
    // expect: matches one device            of run: what is printed, among others
    // gives:                                instead: the lines behind it are the program that comes out, up to names of
                                             values, blanks and the order of attributes
    // accepted                              it is read without a fault
    // error: 12: text                       before the line at fault: it is refused there, at column 12, with this text
    // unasked: why                          Shardy is not asked about it: the expectation is of its documents
    // differs: why                          what is expected here is not what we give, on purpose

Other comments tell what the case is about.
"""
import os
import re
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Case:
    def __init__(self, path, line, lines, run):
        self.path, self.line, self.lines = path, line, lines
        self.run, self.differs, self.unasked, self.error, self.wants, self.gives = run, None, None, None, [], None
        self.accepted = '// accepted' in lines
        for i, text in enumerate(lines):
            word = re.match(r'// (run|expect|gives|error|differs|unasked):\s*(.*)', text)
            if not word:
                continue
            kind, rest = word.groups()
            if kind == 'run':
                self.run = rest.split()
            elif kind == 'expect':
                self.wants.append(rest)
            elif kind == 'differs':
                self.differs = rest
            elif kind == 'unasked':
                self.unasked = rest
            elif kind == 'error':
                column, what = rest.split(': ', 1)
                self.error = (i + 2, int(column), what)
            elif kind == 'gives':
                self.gives = '\n'.join(lines[i + 1:])
                self.source = '\n'.join(lines[:i]) + '\n'
                break
        else:
            self.source = '\n'.join(lines) + '\n'

    @property
    def area(self):
        return self.path.parent.name

    @property
    def place(self):
        return f'{self.path.relative_to(HERE)}:{self.line}'

    def has_expectation(self):
        return self.error is not None or self.gives is not None or self.accepted or bool(self.wants)


def read_file(path):
    """The cases of a file."""
    cases, start, lines, run = [], 1, [], None
    text = path.read_text().split('\n')
    for i, line in enumerate(text + ['// -----']):
        if not line.startswith('// -----'):
            lines.append(line)
            continue
        case = Case(path, start, lines, run)
        run = run or case.run
        cases.append(case)
        start, lines = i + 2, []
    return cases


def read_areas(names=()):
    paths = sorted(HERE.glob('*/*.mlir'))
    return [case for path in paths if not names or path.parent.name in names or path.stem in names
            for case in read_file(path)]


# --- what is seen of a program ----------------------------------------------------------------------------------------

def without_comments(text):
    return re.sub(r'(?m)^\s*//.*\n?|\s+//\s.*$', '', text)


def balanced(text, at):
    """The end of the bracket that opens at `at`. A `>` of an arrow closes nothing."""
    depth, quoted = 0, False
    for i in range(at, len(text)):
        c = text[i]
        if c == '"':
            quoted = not quoted
        elif not quoted and c in '(<[{':
            depth += 1
        elif not quoted and c in ')>]}' and not (c == '>' and text[i - 1] == '-'):
            depth -= 1
            if not depth:
                return i + 1
    return len(text)


def blanks(text):
    """As MLIR sets blanks in shardings."""
    return re.sub(r'\s+', ' ', re.sub(r'\s*,\s*', ', ', text.strip()))


def results_of_function(text, at):
    """Where the list of results of the function that begins at `at` is; an empty range where it is not in parentheses."""
    opening = text.index('(', at)
    end = balanced(text, opening)
    arrow = re.match(r'\s*->\s*\(', text[end:])
    return (end + arrow.end() - 1, balanced(text, end + arrow.end() - 1)) if arrow else (end, end)


TOKEN = re.compile(
    r'(?P<function>[ \t]*func\.func\b)'
    r'|(?P<bare>#sdy\.op_sharding_rule<)'
    r'|(?P<sharding><(?=@|mesh<))'
    r'|(?P<made>(?m:^)[ \t]*%[\w$.#:, %]+?(?=\s*=\s))'
    r'|(?P<argument>%[\w$.]+(?=:\s))'
    r'|(?P<op>(?m:^)[ \t]*"?[a-z_]\w*(?:\.\w+)*"?(?=[\s("@]))'
    r'|(?P<string>"[^"]*")|(?P<brace>[{}])|(?P<comma>,)')


def walk(text, names=None):
    """The values that are defined, and (value, attribute) for each sharding and each rule, in the order of the text. With
    `names` values are called by these, in the same order."""
    text = without_comments(text)
    defined, shardings, rules, stack, label, results, at = [], [], [], [], '', (0, 0), 0
    while True:
        m = TOKEN.search(text, at)
        if not m:
            return defined, shardings, rules
        at = m.end()
        kind, word = m.lastgroup, m.group().strip()
        inside = results[0] <= m.start() < results[1]
        if kind == 'function':
            results = results_of_function(text, m.start())
        elif kind in ('sharding', 'bare'):
            at = balanced(text, m.end() - 1)
            attribute = blanks(text[m.end() - 1:at])
            if kind == 'bare':
                rules.append((label, attribute[1:-1]))
            else:
                shardings.append((f'-> {result_at(text, results[0], m.start())}' if inside else label, attribute))
        elif kind in ('made', 'argument'):
            label = re.sub(r'\s', '', word).split(':')[0].split(',')[0]
            if names:
                label = names[len(defined)]
            defined.append(label)
        elif kind == 'op':
            label = word.strip('"')
        elif kind == 'brace' and word == '{':
            stack.append(label)
        elif kind == 'brace' and stack:
            label = stack.pop()


def result_at(text, start, at):
    """Which result of the list that begins at `start` position `at` belongs to."""
    count, i = 0, start + 1
    while i < at:
        if text[i] in '(<[{':
            i = balanced(text, i)
            continue
        count += text[i] == ','
        i += 1
    return count


def said(pairs):
    """`expect` lines of shardings or rules: those of one value side by side."""
    lines = []
    for label, text in pairs:
        if lines and lines[-1][0] == label:
            lines[-1][1].append(text)
        else:
            lines.append((label, [text]))
    return [f'{label} {" ".join(texts)}' for label, texts in lines]


def canonical_rule(text):
    """A rule with its factors named in the order in which they come."""
    names = {}
    body, rest = re.match(r'(.*?->\s*\([^)]*\))(.*)', text).groups()
    rename = lambda m: names.setdefault(m.group(), f'f{len(names)}')
    body = re.sub(r'[a-z](?:_\d+)?', rename, blanks(body))
    sizes = sorted((names[k], v) for k, v in re.findall(r'([a-z](?:_\d+)?)=(\d+)', rest))
    lists = [(kind, sorted(names[f.strip()] for f in listed.split(',')))
             for kind, listed in re.findall(r'(\w{2,})=\{([^}]*)\}', rest)]
    return f'{body} {sizes} {sorted(lists)}'


def canonical_rules(lines):
    """Rules of `expect` lines, and none of `nothing`; without those of scalars."""
    pairs = [line.split(' ', 1) for line in lines if line != 'nothing']
    return [f'{label} {canonical_rule(rule)}' for label, rule in pairs if re.search('[a-z]', rule)]


def normal(text):
    """A program without what says nothing: comments, blanks, names of values, the module around it, order of attributes."""
    text = without_comments(text).strip()
    module = re.match(r'module(?: attributes \{\})? \{(.*)\}\s*$', text, re.S)
    if module:
        text = module.group(1)
    text = re.sub(r'dense<\[(-?\w+)\]>', r'dense<\1>', text)
    names, count = {}, 0

    def rename(m):  # a name may come again in another region, for another value
        nonlocal count
        if m.group(3) or m.group(1) not in names:
            names[m.group(1)] = f'%v{count}'
            count += 1
        return names[m.group(1)] + (m.group(2) or '') + (m.group(3) or '')
    text = re.sub(r'(%[\w$.]+)(#\d+)?((?::\d+)?\s*=\s|:\s)?', rename, text)
    text = re.sub(r'\{([^{}]*)\}', lambda m: m.group() if '%' in m.group() else '{' + ', '.join(sorted(
        x.strip() for x in m.group(1).split(','))) + '}' if '"' not in m.group(1) and '=' in m.group(1) else m.group(), text)
    lines = [re.sub(r'\s+', ' ', re.sub(r'\s*([,:(){}<>\[\]=])\s*', r'\1', line)).strip() for line in text.split('\n')]
    return [line for line in lines if line]


def split_axes(text, names=None):
    """The values that arguments and ops make, and `expect` lines of how the shard dialect annotates them: whole dimensions
    at the end are left out, and so are values that are not cut (of results, what only users ask for). With `names` as in walk()."""
    text = without_comments(text)
    said = dict(re.findall(r'(%[\w$.]+) = shard\.sharding @\w+ split_axes = (\[.*\])', text))
    made = re.findall(r'(?m)^\s*(%[\w$.]+)(?::\d+)? = "?(?!shard\.)[a-z]|(%[\w$.]+): tensor', text)
    values = [a or b for a, b in made]
    lines = []
    for (result, _), value, name in zip(made, values, names or values):
        found = re.search(rf'shard\.shard {re.escape(value)} to (%[\w$.]+){" :" if result else ""}', text)
        axes = said[found.group(1)] if found else '[]'
        while re.search(r'\[\]\]$', axes):
            axes = re.sub(r'(, )?\[\]\]$', ']', axes)
        if axes != '[]':
            lines.append(f'{name} {axes}')
    return values, lines


# --- a case and the tool ------------------------------------------------------------------------------------------------

def execute(tool, case):
    with tempfile.NamedTemporaryFile('w', suffix='.mlir') as f:
        f.write(case.source)
        f.flush()
        r = subprocess.run([tool, *case.run, *['-q'][case.run[0] == 'run':], f.name], capture_output=True, text=True, timeout=120,
                           env={**os.environ, 'SHARDWRIGHT_DATA': str(HERE.parent.parent)})
        return r.returncode, r.stdout, r.stderr.replace(f.name, 'case')


def difference(case, tool):
    """None where the tool does what is expected, else what it does instead."""
    status, out, err = execute(tool, case)
    if case.error:
        want = 'case:%d:%d: error: %s' % case.error
        seen = err.split('\n')[0] if status == 1 else f'accepted, exit {status}'
        return None if seen == want else f'- {want}\n+ {seen}'
    if status:
        return f'exit {status}: {err.strip()}'
    if case.accepted:
        return None
    if case.gives is not None:
        want, seen = normal(case.gives), normal(out)
    elif '--show-rules' in case.run:
        want = canonical_rules(case.wants)
        seen = canonical_rules(re.sub(r' = \S+ : ', ' ', line) for line in out.split('\n') if ' : ' in line)
    elif 'shard=-' in case.run:
        want, seen = [x for x in case.wants if x != 'nothing'], split_axes(out, split_axes(case.source)[0])[1]
    elif case.run[0] == 'run':
        lines, want = blanks(out), case.wants
        seen = [line for line in want if line in lines]
    else:
        want, seen = [x for x in case.wants if x != 'nothing'], said(walk(out)[1])
    if want == seen:
        return None
    return '\n'.join([f'- {x}' for x in want if x not in seen] + [f'+ {x}' for x in seen if x not in want]) or 'order'
