/** The documents as tests see them: their code blocks, their generated parts, their links. */
import { readRepositoryFile, repositoryFiles } from '../architecture/repository-files.ts';

export type CodeBlock = {
  readonly path: string;
  /** Of the opening fence, from 1. */
  readonly line: number;
  /** The words after the fence: `yaml defaults` gives both. */
  readonly info: readonly string[];
  /** `<!-- run -->` stands on the line before: the block is executed. */
  readonly isRun: boolean;
  readonly text: string;
};

/** Paths of all documents. */
export function documentPaths(): string[] {
  return repositoryFiles().filter((path) => /^([A-Z]+\.md|docs\/.*\.md)$/.test(path));
}

export function codeBlocks(path: string): CodeBlock[] {
  return codeBlocksIn(path, readRepositoryFile(path));
}

/** The fenced blocks of a Markdown text, in order. */
export function codeBlocksIn(path: string, text: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const fence = /^(`{3,})(.*)$/.exec(lines[at] ?? '');
    if (fence === null) continue;
    const end = lines.indexOf(fence[1] ?? '', at + 1);
    if (end === -1) throw new Error(`${path}:${at + 1}: this block has no end`);
    blocks.push({
      path,
      line: at + 1,
      info: (fence[2] ?? '').trim().split(/\s+/),
      isRun: lines[at - 1] === '<!-- run -->',
      text: lines.slice(at + 1, end).join('\n'),
    });
    at = end;
  }
  return blocks;
}

/** Headings as GitHub makes anchors of them. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const line of text.split('\n')) {
    const heading = /^#+ (.*)$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const words = heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '');
    anchors.add(words.trim().replaceAll(' ', '-'));
  }
  return anchors;
}

/** Targets of the links in a Markdown text, outside code blocks. */
export function linksIn(text: string): string[] {
  const prose = text.replace(/^(`{3,})[\s\S]*?^\1$/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
}
