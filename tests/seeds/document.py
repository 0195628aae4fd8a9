"""A page made from the texts of this folder (see `check`)."""
import textwrap

INTRO = '''\
# What the seeds say, shown

Five texts define the languages that shardwright reads: the `mesh` and `shard` dialects of MLIR, the proposal that they
grew from, examples of resharding, and Shardy's dialect. Here are their statements in order, in our words, each with the
smallest program and command that shows it: read from the top, this is a course in shardings and collectives.

Programs are shown where they first appear; later commands of the same chapter use them again. In what a command prints
only the lines that matter are shown. `in/x` and `out/result0` are arrays, written row after row; `?` stands for any
number, `nan` is how what a dialect leaves undefined shows in a run. `shardwright -q` leaves warnings away.

This page is made by `tests/seeds/check --docs` from the texts beside it, and the tests `seeds.NAME` run every command. What
does not hold yet is marked with what is missing; `tests/seeds/check build/release/shardwright` prints the table anew.
'''


def wrapped(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def array_lines(name, numbers):
    rows = [row.split() for row in numbers.split('/')]
    if numbers == 'iota':
        rows = [['0', '1', '2', '...']]
    width = max(len(word) for row in rows for word in row)
    return [(name if i == 0 else ' ' * len(name)) + '  ' + ' '.join(word.rjust(width) for word in row)
            for i, row in enumerate(rows)]


def repr_of(text):
    return '"' + text.strip() + '"'


def command_lines(command):
    lines = ['$ ' + command.text]
    lines += [' '.join(want.split()) for kind, want in command.wants if kind == '>']
    absent = [want for kind, want in command.wants if kind == '!']
    if absent:
        lines.append('# and nothing with: ' + ', '.join(absent))
    for name, numbers in command.arrays:
        lines += array_lines(name, numbers)
    if command.equal:
        lines.append('# the same')
    if command.exit:
        lines.append(f'# exit status {command.exit}')
    return lines


def statement_lines(number, statement):
    lines, block = ['', wrapped(f'**{number}** {statement.text}')], []

    def close():
        if block:
            lines.extend(['', '```console', *block, '```'])
            block.clear()

    for step in statement.steps:
        if type(step).__name__ == 'File':
            close()
            if step.name.endswith('.mlir'):
                lines.extend(['', '```mlir', f'// {step.name}', *step.lines, '```'])
            else:
                lines.extend(['', f'`{step.name}`:', '', '```json', *step.lines, '```'])
        elif type(step).__name__ == 'Change':
            changes = [f'"{old.strip()}" {"is now " + repr_of(new) if new else "is left out"}' for old, new in step.pairs]
            block.append(f'# {step.target} is {step.source}, where ' + ', '.join(changes))
        elif type(step).__name__ == 'Array':
            block.extend(array_lines(step.name.removesuffix('.npy'), step.numbers))
        else:
            block.extend(command_lines(step))
    close()
    if statement.not_yet:
        lines.extend(['', wrapped(f'*Not yet: {statement.not_yet}.*')])
    return lines


def chapter_lines(number, title, sections):
    lines = ['', f'## {number}. {title}']
    count = 0
    for section in sections:
        if section.title:
            lines += ['', f'### {section.title}']
        for paragraph in section.paragraphs:
            lines += ['', wrapped(' '.join(paragraph))]
        for statement in section.statements:
            count += 1
            lines += statement_lines(f'{number}.{count}', statement)
    return lines


def overview_lines(chapters):
    lines = ['', '| chapter | statements | hold | not yet |', '| --- | --- | --- | --- |']
    missing = {}
    for number, (title, sections) in enumerate(chapters, 1):
        statements = [s for section in sections for s in section.statements]
        marked = [(f'{number}.{i}', s.not_yet) for i, s in enumerate(statements, 1) if s.not_yet]
        lines.append(f'| {number}. {title} | {len(statements)} | {len(statements) - len(marked)} | {len(marked)} |')
        for name, why in marked:
            missing.setdefault(why, []).append(name)
    if missing:
        lines += ['', '| what is missing | statements |', '| --- | --- |']
        lines += [f'| {why} | {", ".join(names)} |' for why, names in missing.items()]
    return lines


def text(chapters):
    lines = [*INTRO.splitlines(), *overview_lines(chapters)]
    for number, (title, sections) in enumerate(chapters, 1):
        lines += chapter_lines(number, title, sections)
    return '\n'.join(lines) + '\n'
