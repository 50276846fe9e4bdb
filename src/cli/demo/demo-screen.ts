/** How the demo looks: a table that is redrawn in place on a terminal, plain lines elsewhere. */
import type { BreakerWord } from './demo-gateway.ts';
import type { Column, DemoTally, TargetTally } from './demo-tally.ts';

export type DemoView = {
  readonly elapsedMs: number;
  readonly tally: DemoTally;
  /** Requests without an answer so far. */
  readonly waiting: number;
  readonly breakers: ReadonlyMap<string, BreakerWord>;
};

export type DemoScreen = {
  /** Something happened: told once, and kept in sight. */
  readonly tell: (elapsedMs: number, text: string) => void;
  readonly draw: (view: DemoView) => void;
  /** The last picture stays; what follows is written below it. */
  readonly close: () => void;
};

export type ScreenOptions = {
  readonly write: (text: string) => void;
  readonly columns: number;
  readonly tier: string;
  /** Columns that the time line needs for the whole story. */
  readonly timeColumns: number;
};

const widthMax = 80;
/** A narrower terminal gets plain lines. */
export const liveColumnsMin = 60;
const nameWidth = 25;
const plainEveryMs = 1_000;
const gap = '  ';
/** More than this is more than the usual time of an answer explains. */
const manyWaiting = 8;

type Paint = (text: string, code: number) => string;
const inColour: Paint = (text, code) => `\u001b[${code}m${text}\u001b[0m`;
const bold = 1;
const dim = 2;
const red = 31;
const green = 32;
const yellow = 33;

/** Seconds with one digit, right-aligned in seven columns: `  5.0 s`. */
export function atSeconds(elapsedMs: number): string {
  return `${(elapsedMs / 1000).toFixed(1).padStart(5)} s`;
}

export function liveScreen(options: ScreenOptions): DemoScreen {
  const told: string[] = [];
  let linesDrawn = 0;
  return {
    tell: (elapsedMs, text) => {
      told.push(`${atSeconds(elapsedMs)}  ${text}`);
    },
    draw: (view) => {
      const lines = liveLines(view, told, options);
      const up = linesDrawn === 0 ? '\u001b[?25l' : `\u001b[${linesDrawn}A\r\u001b[0J`;
      options.write(`${up}${lines.join('\n')}\n`);
      linesDrawn = lines.length;
    },
    close: () => options.write('\u001b[?25h'),
  };
}

/** The whole picture, one string a line, at most 80 columns without the colours. */
export function liveLines(
  view: DemoView,
  told: readonly string[],
  options: Pick<ScreenOptions, 'columns' | 'tier' | 'timeColumns'>,
): string[] {
  const width = Math.min(widthMax, Math.max(liveColumnsMin, options.columns)) - 1;
  const rule = inColour('─'.repeat(width), dim);
  const clock = atSeconds(view.elapsedMs).trim();
  const title = `Tiergate demo: an outage, as the tier "${options.tier}" sees it`;
  const timeWidth = Math.min(options.timeColumns, width - nameWidth - 12);
  const serving = view.tally.serving()?.target ?? null;
  return [
    inColour(title, bold) + clock.padStart(width - title.length),
    rule,
    ...told.map((line) => line.slice(0, width)),
    rule,
    inColour(`${'who serves'.padEnd(nameWidth)} ${'0 s'.padEnd(timeWidth)} breaker`, dim),
    ...view.tally.byTarget().map((row) => targetLine({ row, view, serving, timeWidth })),
    rule,
    totalsLine(view, width),
  ];
}

function targetLine(input: {
  readonly row: TargetTally;
  readonly view: DemoView;
  readonly serving: string | null;
  readonly timeWidth: number;
}): string {
  const { row, view, timeWidth } = input;
  const isServing = row.target === input.serving;
  const name = shortened(row.target, nameWidth).padEnd(nameWidth);
  const line = timeLine(row.columns, timeWidth);
  const rest = ' '.repeat(timeWidth - line.length);
  const breaker = view.breakers.get(row.target) ?? 'unknown';
  return `${inColour(name, isServing ? bold : dim)} ${paintedLine(line)}${rest} ${painted(breaker)}`;
}

const breakerColours = { closed: green, open: red, half_open: yellow, unknown: dim } as const;

function painted(breaker: BreakerWord): string {
  const word = breaker === 'unknown' ? '-' : breaker.replace('_', '-');
  return inColour(word, breakerColours[breaker]);
}

const idleMark = '·';
const openMark = 'x';
const answerMarks = ['▄', '█'];

/** One mark for each span of time: answers (the taller, the more), an open breaker, or neither. */
export function timeLine(columns: readonly Column[], width: number): string {
  return columns
    .slice(0, width)
    .map(({ answers, isBreakerClosed }) => {
      if (answers === 0) return isBreakerClosed ? idleMark : openMark;
      return answerMarks[Math.min(answers, answerMarks.length) - 1] ?? '';
    })
    .join('');
}

function paintedLine(line: string): string {
  return line.replace(/x+|·+|[▄█]+/g, (marks) => {
    if (marks.startsWith(openMark)) return inColour(marks, red);
    return inColour(marks, marks.startsWith(idleMark) ? dim : green);
  });
}

/** The figures in order of weight; what no longer fits is left out. */
function totalsLine(view: DemoView, width: number): string {
  const { answered, failed, retries, failovers, slowestMs } = view.tally.totals();
  const serving = view.tally.serving()?.target ?? null;
  const median = view.tally.byTarget().find(({ target }) => target === serving)?.medianMs ?? null;
  const parts: readonly (readonly [string, number])[] = [
    [`${answered} answered`, green],
    [`${failed} failed`, failed > 0 ? red : dim],
    [`${view.waiting} waiting`, view.waiting > manyWaiting ? yellow : dim],
    [`${retries} retries`, 0],
    [`${failovers} failovers`, 0],
    [`median ${shownMs(median)}`, 0],
    [`slowest ${shownMs(slowestMs)}`, 0],
  ];
  let left = width + gap.length;
  const fitting = parts.filter(([text]) => {
    left -= text.length + gap.length;
    return left >= 0;
  });
  return fitting.map(([text, code]) => inColour(text, code)).join(gap);
}

export function shownMs(ms: number | null): string {
  if (ms === null) return '-';
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function shortened(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

/** One line a second, and one for each thing that happens; nothing is taken back. */
export function plainScreen(options: Pick<ScreenOptions, 'write' | 'tier'>): DemoScreen {
  let nextMs = 0;
  let hasTitle = false;
  const title = (): void => {
    if (hasTitle) return;
    hasTitle = true;
    options.write(`Tiergate demo: an outage, as the tier "${options.tier}" sees it\n`);
    options.write(
      `${'time'.padStart(7)}  ${'who serves'.padEnd(nameWidth)}  breaker of the primary\n`,
    );
  };
  return {
    tell: (elapsedMs, text) => {
      title();
      options.write(`${atSeconds(elapsedMs)}  * ${text}\n`);
    },
    draw: (view) => {
      title();
      if (view.elapsedMs < nextMs) return;
      nextMs = (Math.floor(view.elapsedMs / plainEveryMs) + 1) * plainEveryMs;
      options.write(`${plainLine(view)}\n`);
    },
    close: () => undefined,
  };
}

function plainLine(view: DemoView): string {
  const { answered, failed, retries, failovers } = view.tally.totals();
  const [primary = 'unknown'] = view.breakers.values();
  const breaker = (primary === 'unknown' ? '-' : primary.replace('_', '-')).padEnd(9);
  const counts = [
    `${answered} ok`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    `${retries} retries`,
    `${failovers} failovers`,
  ];
  const rest = `  ${breaker}  ${counts.join(', ')}`;
  const start = `${atSeconds(view.elapsedMs)}  `;
  const room = Math.min(nameWidth, widthMax - start.length - rest.length);
  const serving = shortened(view.tally.serving()?.target ?? '-', room).padEnd(room);
  return `${start}${serving}${rest}`;
}
