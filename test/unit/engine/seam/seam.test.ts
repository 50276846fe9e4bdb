/** R41: what a continuation adds to what was sent, whatever its model writes before it goes on. */
import { describe, expect, it } from 'vitest';
import { Seam } from '../../../../src/engine/seam/seam.ts';

type Row = {
  readonly name: string;
  readonly sent: string;
  readonly says: string;
  /** The whole text as the client has it in the end; null: it cannot be joined. */
  readonly whole: string | null;
  readonly isUncertain?: boolean;
};

const story =
  'The old lighthouse keeper climbed the winding stairs every evening, counting each of them aloud. ' +
  'Below him the sea was quiet, and the gulls had gone';
const storyAnchor = 'sea was quiet, and the gulls had gone';
const lastSentence = 'Below him the sea was quiet, and the gulls had gone';
const verse = 'We sing this song again and again by the sea.';
const code = 'Here you go:\n\n```python\ndef area(r):\n    import math\n    return math.pi * r';

const instructed: readonly Row[] = [
  {
    name: 'the anchor',
    sent: story,
    says: `${storyAnchor} to sleep.`,
    whole: `${story} to sleep.`,
  },
  {
    name: 'the anchor after blank lines',
    sent: story,
    says: `\n\n${storyAnchor} to sleep.`,
    whole: `${story} to sleep.`,
  },
  {
    name: 'the anchor in quotes',
    sent: story,
    says: `"${storyAnchor} to sleep."`,
    whole: `${story} to sleep."`,
  },
  {
    name: 'the anchor after dots',
    sent: story,
    says: `...${storyAnchor} to sleep.`,
    whole: `${story} to sleep.`,
  },
  {
    name: 'the anchor after the lines that the instruction puts around it',
    sent: story,
    says: `-----\n${storyAnchor} to sleep.`,
    whole: `${story} to sleep.`,
  },
  {
    name: 'the anchor with other quotes and white space',
    sent: 'He said: “I don’t know\nwhat you mean by that, my friend',
    says: `"I don't know what you mean by that, my friend,” he said.`,
    whole: 'He said: “I don’t know\nwhat you mean by that, my friend,” he said.',
    isUncertain: true,
  },
  { name: 'the anchor alone: it was the end', sent: story, says: storyAnchor, whole: story },
  {
    name: 'an announcement, then the anchor',
    sent: story,
    says: `Sure, continuing:\n\n${storyAnchor} to sleep.`,
    whole: `${story} to sleep.`,
  },
  {
    name: 'two announcements, then the anchor',
    sent: story,
    says: `Of course! Here's the rest of the story:\n\n${storyAnchor} to sleep.`,
    whole: `${story} to sleep.`,
  },
  {
    name: 'its last sentence, which is longer than the anchor',
    sent: story,
    says: `${lastSentence} to sleep.`,
    whole: `${story} to sleep.`,
    isUncertain: true,
  },
  {
    name: 'all of it',
    sent: story,
    says: `${story} to sleep.`,
    whole: `${story} to sleep.`,
  },
  {
    name: 'an announcement and all of it',
    sent: story,
    says: `Certainly! Here is the full text again.\n\n${story} to sleep.`,
    whole: `${story} to sleep.`,
  },
  {
    name: 'a beginning anew that goes elsewhere',
    sent: story,
    says: 'The old lighthouse keeper climbed down again and never came back.',
    whole: null,
  },
  {
    name: 'a beginning anew that ends before it has come so far',
    sent: story,
    says: 'The old lighthouse keeper climbed the winding stairs every evening',
    whole: null,
  },
  {
    name: 'a part of the anchor and nothing else',
    sent: story,
    says: 'sea was quiet, and',
    whole: null,
  },
  {
    name: 'some words of the anchor',
    sent: story,
    says: 'the gulls had gone to sleep.',
    whole: `${story} to sleep.`,
    isUncertain: true,
  },
  {
    name: 'no anchor at all',
    sent: story,
    says: ' to sleep.',
    whole: `${story} to sleep.`,
    isUncertain: true,
  },
  { name: 'nothing at all', sent: story, says: '', whole: story, isUncertain: true },
  {
    name: 'an announcement without an anchor',
    sent: story,
    says: 'Sure, continuing:\n\n to sleep.',
    whole: `${story} to sleep.`,
    isUncertain: true,
  },
  {
    name: 'a new sentence without the blank before it',
    sent: `${story}.`,
    says: 'Night fell.',
    whole: `${story}. Night fell.`,
    isUncertain: true,
  },
  {
    name: 'the middle of a word',
    sent: 'It was the best of times, it was the wor',
    says: 'times, it was the worst of times.',
    whole: 'It was the best of times, it was the worst of times.',
    isUncertain: true,
  },
  {
    name: 'the anchor in the middle of a word',
    sent: 'It was the best of times, it was the wor',
    says: 'the best of times, it was the worst of times.',
    whole: 'It was the best of times, it was the worst of times.',
  },
  {
    name: 'a blank that was sent after the anchor',
    sent: `${story} `,
    says: `${storyAnchor} to sleep.`,
    whole: `${story} to sleep.`,
  },
  {
    name: 'a line end that was sent, and the blank line it belonged to',
    sent: `${story}.\n`,
    says: `was quiet, and the gulls had gone.\n\nNight fell.`,
    whole: `${story}.\n\nNight fell.`,
    isUncertain: true,
  },
  {
    name: 'code that is opened anew',
    sent: code,
    says: '```python\n    return math.pi * r ** 2\n```\nDone.',
    whole: `${code} ** 2\n\`\`\`\nDone.`,
    isUncertain: true,
  },
  {
    name: 'code that is opened anew without its language, then the anchor',
    sent: code,
    says: '```\ndef area(r):\n    import math\n    return math.pi * r ** 2\n```',
    whole: `${code} ** 2\n\`\`\``,
  },
  {
    name: 'code that is opened anew at a line of its own',
    sent: `${code}\n`,
    says: '```python\n    # done\n```',
    whole: `${code}\n    # done\n\`\`\``,
    isUncertain: true,
  },
  {
    name: 'the end of the code, which opens nothing',
    sent: `${code}\n`,
    says: '```\n\nDone.',
    whole: `${code}\n\`\`\`\n\nDone.`,
    isUncertain: true,
  },
  {
    name: 'an item of a list',
    sent: 'Fruit:\n\n1. apples from the garden behind the house\n2. pe',
    says: '2. pears\n3. plums',
    whole: 'Fruit:\n\n1. apples from the garden behind the house\n2. pears\n3. plums',
    isUncertain: true,
  },
  {
    name: 'the number of an item alone',
    sent: 'Fruit:\n\n1. apples from the garden behind the house\n2. ',
    says: '2. pears\n3. plums',
    whole: 'Fruit:\n\n1. apples from the garden behind the house\n2. pears\n3. plums',
    isUncertain: true,
  },
  {
    name: 'the first line, which was an announcement itself',
    sent: 'Sure! Here is a poem about the autumn for you:\n\nThe leaves are turning red and br',
    says: 'Sure! Here is a poem about the autumn for you:\n\nleaves are turning red and brown',
    whole: 'Sure! Here is a poem about the autumn for you:\n\nThe leaves are turning red and brown',
    isUncertain: true,
  },
  {
    name: 'Arabic',
    sent: 'كان حارس المنارة العجوز يصعد الدرج كل مساء وهو يعد الدرجات بصوت عال وكان البحر',
    says: 'بالتأكيد، أتابع:\n\nكل مساء وهو يعد الدرجات بصوت عال وكان البحر هادئا.',
    whole: 'كان حارس المنارة العجوز يصعد الدرج كل مساء وهو يعد الدرجات بصوت عال وكان البحر هادئا.',
    isUncertain: true,
  },
  {
    name: 'Hebrew without an anchor',
    sent: 'שומר המגדלור הזקן טיפס במדרגות',
    says: 'בטח, הנה ההמשך:\n\n בכל ערב.',
    whole: 'שומר המגדלור הזקן טיפס במדרגות בכל ערב.',
    isUncertain: true,
  },
  {
    name: 'Chinese',
    sent: '老灯塔看守人每天晚上都爬上蜿蜒的楼梯，大声数着每一级台阶。下面的大海很平静，海鸥也',
    says: '好的，继续：\n\n每一级台阶。下面的大海很平静，海鸥也睡着了。',
    whole:
      '老灯塔看守人每天晚上都爬上蜿蜒的楼梯，大声数着每一级台阶。下面的大海很平静，海鸥也睡着了。',
    isUncertain: true,
  },
  {
    name: 'Japanese without an anchor',
    sent: '老いた灯台守は毎晩、曲がりくねった階段を',
    says: 'はい、続きです。\n登りました。',
    whole: '老いた灯台守は毎晩、曲がりくねった階段を登りました。',
    isUncertain: true,
  },
  {
    name: 'half a character',
    sent: `${story} \ud83d`,
    says: `${storyAnchor} \ud83d\ude00 to sleep.`,
    whole: `${story} \ud83d\ude00 to sleep.`,
  },
  {
    name: 'a character that combines with the last one',
    sent: 'They had met many years ago in the small Cafe',
    says: 'years ago in the small Cafe\u0301 at the corner.',
    whole: 'They had met many years ago in the small Cafe\u0301 at the corner.',
    isUncertain: true,
  },
  {
    name: 'all of it where the last line begins like the first: it may be the line alone',
    sent: `${verse}\nWe sing`,
    says: `${verse}\nWe sing of the tide.`,
    whole: `${verse}\nWe sing of the tide.`,
    isUncertain: true,
  },
];

const prefilled: readonly Row[] = [
  { name: 'the rest', sent: story, says: ' to sleep.', whole: `${story} to sleep.` },
  { name: 'nothing: it was the end', sent: story, says: '', whole: story },
  {
    name: 'the rest after a blank that was sent',
    sent: `${story} `,
    says: ' to sleep.',
    whole: `${story} to sleep.`,
  },
  {
    name: 'the rest without the blank that was sent',
    sent: `${story} `,
    says: 'to sleep.',
    whole: `${story} to sleep.`,
  },
  {
    name: 'a blank line of which a part was sent',
    sent: `${story}.\n`,
    says: '\n\nNight fell.',
    whole: `${story}.\n\nNight fell.`,
  },
  {
    name: 'less than 24 characters again: they belong to the text',
    sent: `${story}`,
    says: ' the gulls had gone to sleep.',
    whole: `${story} the gulls had gone to sleep.`,
  },
  {
    name: 'its last sentence',
    sent: story,
    says: `${lastSentence} to sleep.`,
    whole: `${story} to sleep.`,
    isUncertain: true,
  },
  {
    name: 'all of it',
    sent: story,
    says: `${story} to sleep.`,
    whole: `${story} to sleep.`,
    isUncertain: true,
  },
  {
    name: 'the beginning of it, and then the rest: it belongs to the text',
    sent: `${story}. `,
    says: 'The old lighthouse keeper climbed down.',
    whole: `${story}. The old lighthouse keeper climbed down.`,
    isUncertain: true,
  },
  {
    name: 'an announcement',
    sent: story,
    says: 'Sure, continuing: to sleep.',
    whole: `${story} to sleep.`,
    isUncertain: true,
  },
  {
    name: 'an announcement and a blank line',
    sent: `${story} t`,
    says: "Here's the continuation:\n\no sleep.",
    whole: `${story} to sleep.`,
    isUncertain: true,
  },
  {
    name: 'a word that also opens announcements',
    sent: `${story}. `,
    says: 'Sure enough, night fell over the bay.',
    whole: `${story}. Sure enough, night fell over the bay.`,
  },
  {
    name: 'a new paragraph in the middle of a sentence',
    sent: story,
    says: '\n\n to sleep.',
    whole: `${story} to sleep.`,
    isUncertain: true,
  },
  {
    name: 'a new paragraph in the middle of a word',
    sent: `${story} to sle`,
    says: '\n\nep.',
    whole: `${story} to sleep.`,
    isUncertain: true,
  },
  {
    name: 'a new paragraph where one is due',
    sent: `${story}.`,
    says: '\n\nNight fell.',
    whole: `${story}.\n\nNight fell.`,
  },
  {
    name: 'a new paragraph after a heading',
    sent: 'Some words.\n\n## The keeper',
    says: '\n\nthe stairs were steep',
    whole: 'Some words.\n\n## The keeper\n\nthe stairs were steep',
  },
  {
    name: 'a blank line in code',
    sent: code,
    says: '\n\n    # done',
    whole: `${code}\n\n    # done`,
  },
  {
    name: 'code opened anew',
    sent: `${code}\n`,
    says: '```python\n    # done\n```',
    whole: `${code}\n    # done\n\`\`\``,
    isUncertain: true,
  },
  {
    name: 'the end of the code',
    sent: `${code}\n`,
    says: '```\n\nDone.',
    whole: `${code}\n\`\`\`\n\nDone.`,
  },
  {
    name: 'half a character',
    sent: 'Smile \ud83d',
    says: ' \ud83d\ude00!',
    whole: 'Smile \ud83d\ude00!',
  },
  { name: 'blank text was sent', sent: '\n\n', says: '\n\nHello', whole: '\n\nHello' },
];

describe.each([
  ['asked in words', true, instructed],
  ['asked with a prefill', false, prefilled],
] as const)('a model %s repeats or writes', (_, isInstructed, rows) => {
  it.each(rows)('$name', ({ sent, says, whole, isUncertain = false }) => {
    for (const cut of [1, 2, 3, 7, says.length + 1]) {
      const seam = new Seam({ sent, isInstructed });
      let text = sent;
      for (let at = 0; at < says.length; at += cut) text += seam.push(says.slice(at, at + cut));
      text += seam.end();
      expect(seam.isUnjoinable ? null : text, `in pieces of ${cut}`).toBe(whole);
      if (whole !== null) expect(seam.isUncertain, `in pieces of ${cut}`).toBe(isUncertain);
      expect(seam.end()).toBe('');
    }
  });
});
