/** A log line for people: time, level, message, then the fields. */
import { isJsonObject, parseJson, stringAt } from '../base/json.ts';

const colors: Readonly<Record<string, string>> = {
  debug: '\u001b[2m',
  info: '\u001b[32m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
};
const plain = '\u001b[0m';
const dim = '\u001b[2m';

/** `json` is one line as pino writes it; what cannot be read is passed on as it is. */
export function terminalLine(json: string, hasColor: boolean): string {
  const parsed = parseJson(json);
  if (!parsed.ok || !isJsonObject(parsed.value)) return json;
  const { level: _level, time: _time, msg: _message, ...fields } = parsed.value;
  const level = stringAt(parsed.value, 'level') ?? 'info';
  const time = (stringAt(parsed.value, 'time') ?? '').slice(11, 19);
  const message = oneLine(stringAt(parsed.value, 'msg') ?? '');
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${shown(value)}`)
    .join(' ');
  if (!hasColor) return `${[time, level.padEnd(5), message, rest].join(' ').trimEnd()}\n`;
  const color = colors[level] ?? '';
  return `${dim}${time}${plain} ${color}${level.padEnd(5)}${plain} ${message} ${dim}${rest}${plain}\n`;
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w.:/@+-]+$/.test(text) ? text : JSON.stringify(text);
}

/** Control characters in a message could move the cursor or forge a line. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}
