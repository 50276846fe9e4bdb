/** Reads what a case says under `given.pN` into scripts of a simulated provider. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type JsonObject, parseJson } from '../../src/base/json.ts';
import type { ScriptedCall } from '../../src/simulator/script/scripted-call.ts';
import type { StepText } from '../../src/simulator/script/step.ts';

export type CaseScript =
  | { readonly kind: 'calls'; readonly calls: readonly ScriptedCall[] }
  /** The provider closes a connection this long after its last answer. */
  | { readonly kind: 'idle_close'; readonly afterMs: number }
  /** Words that no script can say. */
  | { readonly kind: 'by_hand'; readonly words: string };

/** `given` is the list of calls of one provider, or the words that stand in its place. */
export function caseScript(given: unknown): CaseScript {
  if (typeof given === 'string') return wordScript(given);
  if (!Array.isArray(given)) throw new Error('a case gives a list of calls, or words');
  return { kind: 'calls', calls: given.map(caseCall) };
}

/** The scripts of all providers that `given` names. */
export function caseScripts(given: JsonObject): { readonly [provider: string]: CaseScript } {
  const named = Object.entries(given).filter(([name]) => /^p\d+b?$/.test(name));
  return Object.fromEntries(named.map(([name, value]) => [name, caseScript(value)]));
}

function wordScript(words: string): CaseScript {
  const raw = /^raw socket: (\d+), content-length (\d+), sends (\d+) bytes of JSON, then silence$/;
  const match = raw.exec(words);
  if (match !== null) return { kind: 'calls', calls: [halfBody(match.slice(1).map(Number))] };
  const idle = /^server closes the idle socket (\d+) ms before the next request is written$/.exec(
    words,
  );
  if (idle !== null) return { kind: 'idle_close', afterMs: Number(idle[1]) };
  return { kind: 'by_hand', words };
}

/** A head that promises more than comes. */
function halfBody([status = 200, length = 0, sent = 0]: readonly number[]): ScriptedCall {
  const start = `{"id":"${'x'.repeat(sent)}`.slice(0, sent);
  return {
    status,
    headers: { 'content-type': 'application/json', 'content-length': String(length) },
    sse: [`RAW:${start}`, 'HANG'],
  };
}

function caseCall(call: unknown): ScriptedCall {
  if (!isJsonObject(call)) throw new Error('a call of a case is an object');
  const { body, sse, ...rest } = call;
  return {
    ...rest,
    ...(body === undefined ? {} : caseBody(body)),
    ...(Array.isArray(sse) ? { sse: sse.map(caseStep) } : {}),
  };
}

function caseStep(step: unknown): StepText {
  if (typeof step === 'string') return filled(step);
  if (!isJsonObject(step) || !Array.isArray(step['steps']))
    throw new Error('a step is text or a repetition');
  return { repeat: Number(step['repeat']), steps: step['steps'].map(caseStep) };
}

/** `<300000 x>` is that many x; `<64 KB>` that many bytes of x. */
export function filled(text: string): string {
  return text
    .replace(/<(\d+) x>/g, (_, count: string) => 'x'.repeat(Number(count)))
    .replace(/<(\d+) KB>/g, (_, count: string) => 'x'.repeat(Number(count) * 1024));
}

function caseBody(body: unknown): ScriptedCall {
  if (typeof body !== 'string') return { body };
  // Compressed by the call's own content-encoding header.
  const packed = /^<(?:gzip|br|deflate) of (.*)>$/.exec(body)?.[1];
  if (packed !== undefined) return { text: packed };
  const described = /^finish_reason (\w+), content (.*)$/s.exec(body);
  if (described !== null) return { text: described[2] ?? '', finish: described[1] ?? 'stop' };
  const parsed = parseJson(body);
  const isOutput = parsed.ok && isJsonObject(parsed.value) && !isReply(parsed.value);
  return isOutput ? { text: body } : { body: filled(body) };
}

/** Whether an object is a provider's reply or error, not the output of its model. */
function isReply(value: JsonObject): boolean {
  const marks = ['choices', 'content', 'candidates', 'promptFeedback', 'error', 'object'];
  return Object.keys(value).length === 0 || marks.some((name) => Object.hasOwn(value, name));
}

export type Case = {
  readonly id: string;
  readonly area: string;
  readonly given: JsonObject;
  readonly when: unknown;
  readonly expect: JsonObject;
};

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The cases beside the repository (`TIERGATE_CASES`, default `../shared/cases`); null on a clone without them. */
export function readCases(): readonly Case[] | null {
  const folder = process.env['TIERGATE_CASES'] ?? join(root, '..', 'shared', 'cases');
  if (!existsSync(folder)) return null;
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Case[]);
}
