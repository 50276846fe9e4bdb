/** Texts that say no 24 characters twice: what is joined wrongly in them shows. */
import type { Random } from '../../../src/base/random.ts';

const windowLength = 24;

export const textKinds = [
  'prose',
  'accents',
  'cyrillic',
  'arabic',
  'hebrew',
  'chinese',
  'japanese',
  'emoji',
  'markdown',
  'code',
] as const;
export type TextKind = (typeof textKinds)[number];

const syllables: { readonly [kind in Exclude<TextKind, 'markdown' | 'code'>]: readonly string[] } =
  {
    prose: [...'bcdfglmnprstvz'].flatMap((letter) => [...'aeiou'].map((vowel) => letter + vowel)),
    // Combining sequences, as some systems write them.
    accents: [
      'e\u0301',
      'a\u0308',
      'o\u0302',
      'n\u0303',
      'ru',
      'ta',
      'mi',
      'so',
      'le',
      'ku',
      'da',
      'pi',
    ],
    cyrillic: [
      'ба',
      'ве',
      'ги',
      'до',
      'жу',
      'зы',
      'ка',
      'ле',
      'ми',
      'но',
      'пу',
      'ря',
      'се',
      'ти',
      'хо',
    ],
    arabic: ['با', 'تو', 'ري', 'سا', 'كو', 'لي', 'ما', 'نو', 'هي', 'وا', 'فو', 'قي', 'عا', 'شي'],
    hebrew: ['בא', 'גו', 'די', 'הא', 'לו', 'מי', 'נא', 'סו', 'קי', 'רא', 'שו', 'תי', 'חא', 'טו'],
    chinese: [
      ...'天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰余成岁律吕调阳云腾致雨露结为霜',
    ],
    japanese: [
      ...'いろはにほへとちりぬるをわかよたれそつねならむうゐのおくやまけふこえてあさきゆめみし',
    ],
    emoji: ['😀', '🚀', '👩‍💻', '🇩🇪', 'ha', 'lo', '👍🏽', 'mi', 'ro', 'te', '❤️', 'su', 'na'],
  };

/** Written without blanks between words. */
const unspaced: ReadonlySet<TextKind> = new Set(['chinese', 'japanese']);

/** Of about `length` UTF-16 units. */
export function cutText(kind: TextKind, length: number, random: Random): string {
  for (;;) {
    const text = draft(kind, length, random);
    if (!saysTwice(text)) return text;
  }
}

/** Says its sentences again and again, so that what follows a cut often repeats what stands before it. */
export function repetitiveText(kind: TextKind, length: number, random: Random): string {
  const blocks = Array.from({ length: 1 + pick(random, 3) }, () =>
    cutText(kind, 30 + pick(random, 100), random),
  );
  const blank = unspaced.has(kind) ? '' : [' ', '\n', '\n\n'][pick(random, 3)];
  let text = '';
  while (text.length < length) text += `${blocks[pick(random, blocks.length)] ?? ''}${blank}`;
  return text.trimEnd();
}

function draft(kind: TextKind, length: number, random: Random): string {
  switch (kind) {
    case 'markdown':
      return lines(length, (at) => markdownLine(at, random));
    case 'code':
      return `Here it is:\n\n\`\`\`python\n${lines(length, (at) => codeLine(at, random))}\n\`\`\`\nDone.`;
    default:
      return sentences(kind, length, random);
  }
}

function lines(length: number, line: (at: number) => string): string {
  let text = line(0);
  for (let at = 1; text.length < length; at += 1) text += `\n${line(at)}`;
  return text;
}

function markdownLine(at: number, random: Random): string {
  const said = sentences('prose', 10 + pick(random, 40), random);
  switch (pick(random, 5)) {
    case 0:
      return `\n## ${said}\n`;
    case 1:
      return `- ${said}`;
    case 2:
      return `${at + 1}. **${said}**`;
    case 3:
      return `| ${said} | ${word('prose', random)} |`;
    default:
      return `\n${said}\n`;
  }
}

function codeLine(at: number, random: Random): string {
  const indent = '    '.repeat(pick(random, 3));
  const [left, right] = [word('prose', random), word('prose', random)];
  return pick(random, 6) === 0
    ? `\n${indent}# ${sentences('prose', 20, random)}`
    : `${indent}${left}_${at} = ${right}(${pick(random, 1000)})`;
}

function sentences(kind: keyof typeof syllables, length: number, random: Random): string {
  const blank = unspaced.has(kind) ? '' : ' ';
  const [stop, comma] = unspaced.has(kind) ? ['。', '，'] : ['.', ','];
  let text = '';
  while (text.length < length) {
    const count = 3 + pick(random, 9);
    const words = Array.from({ length: count }, () => word(kind, random));
    const at = pick(random, count);
    const said = words.map((one, index) => (index === at ? one + comma : one)).join(blank);
    const sentence = said.charAt(0).toUpperCase() + said.slice(1) + stop;
    text += text === '' ? sentence : blank + sentence;
  }
  return text;
}

function word(kind: keyof typeof syllables, random: Random): string {
  const list = syllables[kind];
  const count = 1 + pick(random, 4);
  return Array.from({ length: count }, () => list[pick(random, list.length)] ?? '').join('');
}

export function pick(random: Random, below: number): number {
  return Math.floor(random.next() * below);
}

/** As the seam compares: white space of any kind is one blank. */
function saysTwice(text: string): boolean {
  const folded = text.replace(/\s+/g, ' ');
  const seen = new Set<string>();
  for (let at = 0; at + windowLength <= folded.length; at += 1) {
    const window = folded.slice(at, at + windowLength);
    if (seen.has(window)) return true;
    seen.add(window);
  }
  return false;
}
