/** R41: what a continuation adds to what was sent, where that stood last as the model's own turn. */
import { it } from 'vitest';
import { code, expectJoint, lastSentence, type Row, story } from './joint.ts';

const list =
  'Fruit:\n\n1. apples from the garden behind the house\n2. pears from the orchard at the ri';
const arabic = 'كان حارس المنارة العجوز يصعد الدرج كل مساء. وكان البحر هادئا والنوارس قد ذهبت';
const hebrew = 'שומר המגדלור הזקן טיפס במדרגות בכל ערב. הים היה שקט והשחפים כבר הלכו';
const chinese =
  '老灯塔看守人每天晚上都爬上蜿蜒的楼梯，大声数着每一级台阶。下面的大海很平静，海鸥也';
const japanese = '老いた灯台守は毎晩、曲がりくねった階段を';

const rows: readonly Row[] = [
  {
    name: 'the rest of a sentence with a word in it that announcements begin with',
    sent: 'En la tercera parte',
    says: ' sigo con el plan:\n\n- pan',
    whole: 'En la tercera parte sigo con el plan:\n\n- pan',
  },
  {
    name: 'words from the middle of it and nothing else: a refrain, or a repetition that broke off',
    sent: `${story}. `,
    says: 'the winding stairs every evening',
    whole: `${story}. the winding stairs every evening`,
    isUncertain: true,
  },
  {
    name: 'what may be an announcement, and nothing after it: it may be the end of the text',
    sent: story,
    says: 'Sigo con esto:\n\n',
    whole: `${story}Sigo con esto:\n\n`,
    isUncertain: true,
  },
  {
    name: 'the middle of a word',
    sent: `${story} to sle`,
    says: 'ep.',
    whole: `${story} to sleep.`,
  },
  {
    name: 'the middle of an item of a list',
    sent: list,
    says: 'ver\n3. plums',
    whole: `${list}ver\n3. plums`,
  },
  {
    name: 'the item of a list from its beginning',
    sent: list,
    says: '2. pears from the orchard at the river\n3. plums',
    whole: `${list}ver\n3. plums`,
    isUncertain: true,
  },
  {
    name: 'the next item, on the line that was begun',
    sent: `${list}ver\n`,
    says: '\n3. plums',
    whole: `${list}ver\n3. plums`,
  },
  {
    name: 'the next item after a blank line, as some lists have it',
    sent: '- red apples',
    says: '\n\n- green pears',
    whole: '- red apples\n\n- green pears',
  },
  {
    name: 'the next cell of a table',
    sent: '| fruit | price |\n| --- | --- |\n| apples | ',
    says: '2 |\n| pears | 3 |',
    whole: '| fruit | price |\n| --- | --- |\n| apples | 2 |\n| pears | 3 |',
  },
  { name: 'Arabic', sent: arabic, says: ' للنوم.', whole: `${arabic} للنوم.` },
  {
    name: 'the last sentence in Arabic',
    sent: arabic,
    says: 'وكان البحر هادئا والنوارس قد ذهبت للنوم.',
    whole: `${arabic} للنوم.`,
    isUncertain: true,
  },
  {
    name: 'the last sentence in Hebrew, after an announcement',
    sent: hebrew,
    says: 'בטח, הנה ההמשך:\n\nהים היה שקט והשחפים כבר הלכו לישון.',
    whole: `${hebrew} לישון.`,
    isUncertain: true,
  },
  { name: 'Chinese', sent: chinese, says: '睡着了。', whole: `${chinese}睡着了。` },
  {
    name: 'all of it in Chinese',
    sent: chinese,
    says: `${chinese}睡着了。`,
    whole: `${chinese}睡着了。`,
    isUncertain: true,
  },
  {
    name: 'fewer than 24 characters again in Chinese: they belong to the text',
    sent: chinese,
    says: '海鸥也睡着了。',
    whole: `${chinese}海鸥也睡着了。`,
  },
  {
    name: 'a new paragraph in the middle of a sentence in Japanese',
    sent: japanese,
    says: '\n\n登りました。',
    whole: `${japanese}登りました。`,
    isUncertain: true,
  },
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
  {
    name: 'a long ruler, which is no mark around anything',
    sent: `${story}.\n\n`,
    says: `${'-'.repeat(60)}\n\nNight fell.`,
    whole: `${story}.\n\n${'-'.repeat(60)}\n\nNight fell.`,
  },
  { name: 'blank text was sent', sent: '\n\n', says: '\n\nHello', whole: '\n\nHello' },
];

it.each(rows)('R41 a model with a prefill repeats or writes $name', (row) => {
  expectJoint(row, false);
});
