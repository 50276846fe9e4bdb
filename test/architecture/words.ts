/** Words that have a place of their own, and words that no file may hold. */
import { type SourceFile, textWithoutComments, type Violation } from './source-file.ts';

const vendorWords =
  /openai|anthropic|gemini|claude|google|azure|bedrock|vertexai|mistral|groq|deepseek|openrouter|ollama|(?<![a-z])gpt(?![a-z])|(?<![a-z])xai(?![a-z])|(?<![a-z])vllm(?![a-z])/i;
const vendorFolders = /^src\/(dialects|providers|simulator)\//;

/** A core that compares vendor names grows a branch per vendor. Comments may name one as an example. */
export function checkVendorWords(source: SourceFile): Violation[] {
  if (vendorFolders.test(source.path)) return [];
  const found: Violation[] = [];
  for (const [index, line] of textWithoutComments(source).split('\n').entries()) {
    const word = vendorWords.exec(line)?.[0];
    if (word === undefined) continue;
    const advice = `vendor word "${word}": put the difference into the dialect or the provider and ask for it by what it means`;
    found.push({ path: source.path, line: index + 1, advice });
  }
  return found;
}

type BannedWord = { readonly pattern: RegExp; readonly advice: string };

/** Patterns are written in pieces so that this file does not match itself. */
const bannedWords: readonly BannedWord[] = [
  {
    pattern: new RegExp(
      `\\b(${['TO', 'DO'].join('')}|${['FIX', 'ME'].join('')}|${['XX', 'X'].join('')}|${['HA', 'CK'].join('')})\\b`,
    ),
    advice: 'say it in an issue or do it now',
  },
  {
    pattern: new RegExp(`(^|[\\s"'\`(=])/(${['work', 'home', 'Users', 'root'].join('|')})/\\w`),
    advice: 'a path of one machine: use a path relative to the repository',
  },
  {
    pattern: new RegExp(`-----BEGIN [A-Z ]*${'PRIVATE'} KEY-----`),
    advice: 'a private key: take it out and revoke it',
  },
  {
    pattern: /^(<<<<<<<|>>>>>>>) /,
    advice: 'a conflict marker: finish the merge',
  },
];

/** Any text file of the repository. */
export function checkBannedWords(file: { readonly path: string; readonly text: string }) {
  const found: Violation[] = [];
  for (const [index, line] of file.text.split('\n').entries()) {
    for (const { pattern, advice } of bannedWords) {
      const word = pattern.exec(line)?.[0].trim();
      if (word === undefined) continue;
      found.push({ path: file.path, line: index + 1, advice: `"${word}": ${advice}` });
    }
  }
  return found;
}
