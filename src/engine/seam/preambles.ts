/** How models announce that they go on, in several languages: data, and how it is read. */

type Wording = {
  /** What such a sentence begins with, in lower case. */
  readonly openers: readonly string[];
  /** Beginnings of words that say that something goes on. */
  readonly marks: readonly string[];
};

const wordings: { readonly [language: string]: Wording } = {
  en: {
    openers: [
      'sure',
      'certainly',
      'of course',
      'okay',
      'ok',
      'alright',
      'all right',
      'absolutely',
      'yes',
      'right',
      'got it',
      'understood',
      'sorry',
      'apologies',
      'my apologies',
      'i apologize',
      'i apologise',
      'no problem',
      "here's",
      'here is',
      'here are',
      'here you go',
      'here goes',
      'continuing',
      'continuation',
      'continued',
      'to continue',
      "let's continue",
      'let me continue',
      'let me pick up',
      "i'll continue",
      "i'll pick up",
      'i will continue',
      'picking up',
      'resuming',
      'carrying on',
      'going on',
      'the rest',
      'the continuation',
      '(continued',
      '[continued',
      '(continuing',
      '[continuing',
      '...continued',
    ],
    marks: [
      'continu',
      'the rest',
      'remain',
      'resum',
      'left off',
      'picking up',
      'pick up',
      'carry on',
      'carrying on',
      'go on',
      'going on',
      'cut off',
      'where it stop',
      'where i stop',
      'where we stop',
      'interrupted',
    ],
  },
  de: {
    openers: [
      'natürlich',
      'gerne',
      'gern',
      'klar',
      'sicher',
      'selbstverständlich',
      'ja',
      'okay',
      'hier',
      'fortsetzung',
      'weiter',
      'ich fahre',
      'ich setze',
      'entschuldigung',
      'verstanden',
      '(fortsetzung',
    ],
    marks: [
      'fortsetz',
      'fortgesetzt',
      'fahre',
      'weiter',
      'der rest',
      'den rest',
      'restlich',
      'abgebrochen',
    ],
  },
  fr: {
    openers: [
      'bien sûr',
      'certainement',
      "d'accord",
      'oui',
      'voici',
      'suite',
      'la suite',
      'je continue',
      'je reprends',
      'désolé',
      'très bien',
      'continuons',
      '(suite',
    ],
    marks: ['suite', 'continu', 'reprend', 'reprenons', 'le reste', 'interrompu'],
  },
  es: {
    openers: [
      'claro',
      'por supuesto',
      'sí',
      'de acuerdo',
      'aquí',
      'continuando',
      'continuación',
      'a continuación',
      'continúo',
      'sigo',
      'perdón',
      'entendido',
      '(continuación',
    ],
    marks: ['contin', 'sigue', 'sigo', 'el resto', 'restante', 'retom', 'interrump'],
  },
  it: {
    openers: [
      'certo',
      'certamente',
      'sì',
      'va bene',
      'ecco',
      'continuo',
      'continuazione',
      'proseguo',
      'riprendo',
    ],
    marks: ['continu', 'prosegu', 'riprend', 'il resto', 'restante', 'interrott'],
  },
  pt: {
    openers: [
      'claro',
      'com certeza',
      'certo',
      'sim',
      'aqui',
      'continuando',
      'continuação',
      'retomando',
      'desculpe',
    ],
    marks: ['contin', 'retom', 'o resto', 'o restante', 'interromp'],
  },
  nl: {
    openers: ['natuurlijk', 'zeker', 'ja', 'prima', 'hier', 'vervolg', 'verder', 'ik ga'],
    marks: ['vervolg', 'verder', 'de rest', 'onderbroken'],
  },
  sv: {
    openers: ['självklart', 'naturligtvis', 'ja', 'visst', 'här', 'fortsättning', 'jag fortsätter'],
    marks: ['fortsätt', 'resten', 'återstående'],
  },
  da: {
    openers: [
      'selvfølgelig',
      'naturligvis',
      'ja',
      'her',
      'fortsættelse',
      'fortsettelse',
      'jeg fortsætter',
      'jeg fortsetter',
    ],
    marks: ['fortsæt', 'fortsett', 'resten'],
  },
  pl: {
    openers: [
      'oczywiście',
      'jasne',
      'tak',
      'oto',
      'kontynuuję',
      'kontynuacja',
      'dalszy ciąg',
      'ciąg dalszy',
    ],
    marks: [
      'kontynu',
      'dalszy ciąg',
      'ciąg dalszy',
      'dalsza część',
      'reszta',
      'resztę',
      'pozostał',
    ],
  },
  tr: {
    openers: ['tabii', 'elbette', 'evet', 'işte', 'devam', 'kaldığı', 'kaldığım'],
    marks: ['devam', 'kalan', 'kaldığı'],
  },
  ru: {
    openers: [
      'конечно',
      'хорошо',
      'да',
      'вот',
      'продолжаю',
      'продолжение',
      'продолжим',
      'извините',
    ],
    marks: ['продолж', 'остальн', 'оставш', 'остаток', 'прерв'],
  },
  uk: {
    openers: ['звичайно', 'звісно', 'добре', 'так', 'ось', 'продовжую', 'продовження'],
    marks: ['продовж', 'решт', 'перерв'],
  },
  id: {
    openers: ['tentu', 'baik', 'ya', 'berikut', 'melanjutkan', 'lanjutan', 'saya lanjutkan'],
    marks: ['lanjut', 'sisa'],
  },
  vi: {
    openers: ['chắc chắn', 'được', 'vâng', 'đây là', 'tiếp tục', 'phần tiếp'],
    marks: ['tiếp tục', 'phần còn lại', 'tiếp theo'],
  },
  zh: {
    openers: [
      '好的',
      '当然',
      '當然',
      '没问题',
      '沒問題',
      '继续',
      '繼續',
      '接着',
      '接上文',
      '以下',
      '抱歉',
      '（续',
      '(续',
    ],
    marks: ['继续', '繼續', '接着', '接上', '续', '剩余', '剩餘', '余下', '其余', '其餘'],
  },
  ja: {
    openers: [
      'はい',
      'もちろん',
      '承知',
      'かしこまりました',
      '了解',
      '続き',
      '続け',
      '以下',
      '申し訳',
      '(続き',
      '（続き',
    ],
    marks: ['続き', '続け', '残り', '再開'],
  },
  ko: {
    openers: ['네', '물론', '알겠습니다', '계속', '이어서', '나머지', '다음은', '죄송'],
    marks: ['계속', '이어', '나머지'],
  },
  ar: {
    openers: [
      'بالتأكيد',
      'بالطبع',
      'حسنًا',
      'حسنا',
      'نعم',
      'إليك',
      'تابع',
      'أتابع',
      'متابعة',
      'استكمال',
      'تكملة',
    ],
    marks: ['تابع', 'متابع', 'استكمال', 'أكمل', 'تكملة', 'بقية', 'المتبقي'],
  },
  he: {
    openers: ['בטח', 'כמובן', 'כן', 'בסדר', 'הנה', 'המשך', 'ממשיך', 'אמשיך'],
    marks: ['המשך', 'ממשיך', 'אמשיך', 'להמשיך', 'שאר', 'יתרת'],
  },
  hi: {
    openers: ['ज़रूर', 'जरूर', 'बिल्कुल', 'हाँ', 'ठीक है', 'यहाँ', 'जारी', 'आगे'],
    marks: ['जारी', 'शेष', 'बाकी', 'आगे'],
  },
};

const openers = [...new Set(Object.values(wordings).flatMap((wording) => wording.openers))];
const marks = [...new Set(Object.values(wordings).flatMap((wording) => wording.marks))];

/** Longer than any announcement. */
const sentenceLengthMax = 160;
const sentenceEnd = /\.{3}(?=\s|$)|[.!?](?=\s)|[:：。！？…\n]|[)\]](?=\s)/;

export type Announcement =
  | { readonly kind: 'none' }
  /** It may yet become one. */
  | { readonly kind: 'open' }
  /** `isPlain`: it says that something goes on; else it only opens, as in "Sure!". */
  | { readonly kind: 'read'; readonly length: number; readonly isPlain: boolean };

/** The sentence at the beginning of `text`, without white space before it. */
export function readAnnouncement(text: string): Announcement {
  // Whoever announces begins a sentence; the middle of one is the text's.
  if (/^\p{Ll}/u.test(text)) return { kind: 'none' };
  const head = text
    .slice(0, sentenceLengthMax)
    .toLowerCase()
    .replace(/^[*_#>\s]+/, '')
    .replaceAll('’', "'");
  if (!openers.some((opener) => beginsWith(head, opener))) {
    return openers.some((opener) => opener.startsWith(head)) ? { kind: 'open' } : { kind: 'none' };
  }
  const end = sentenceEnd.exec(text.slice(0, sentenceLengthMax));
  if (end === null) return text.length < sentenceLengthMax ? { kind: 'open' } : { kind: 'none' };
  const marked = /^[*_]+/.exec(text.slice(end.index + end[0].length))?.[0].length ?? 0;
  const length = end.index + end[0].length + marked;
  const sentence = text.slice(0, length).toLowerCase();
  if (marks.some((mark) => sentence.includes(mark))) return { kind: 'read', length, isPlain: true };
  return length <= interjectionLengthMax
    ? { kind: 'read', length, isPlain: false }
    : { kind: 'none' };
}

/** "Of course, my friend!" */
const interjectionLengthMax = 32;

/** As whole words, where the script has words. */
function beginsWith(head: string, opener: string): boolean {
  if (!head.startsWith(opener)) return false;
  const next = head.charAt(opener.length);
  return !/[\p{L}\p{N}]/u.test(next) || /[\p{sc=Han}\p{sc=Hira}\p{sc=Hang}]/u.test(opener);
}
