/** The file that takes rows while the database takes none. */
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSpill } from '../../../src/store/sqlite/spill-file.ts';
import { temporaryDirectory } from './temporary-store.ts';

describe('the spill', () => {
  it('has each line on disk when append returns', () => {
    const directory = temporaryDirectory();
    const spill = openSpill(directory);
    expect(spill.append('one\n')).toBe(true);
    expect(spill.append('two\n')).toBe(true);
    expect(readFileSync(join(directory, 'served.spill'), 'utf8')).toBe('one\ntwo\n');
    spill.close();
  });

  it('touches no file before it is needed', () => {
    const directory = temporaryDirectory();
    const spill = openSpill(directory);
    expect(spill.seal()).toEqual({ paths: [], bytes: 0 });
    expect(existsSync(join(directory, 'served.spill'))).toBe(false);
  });

  it('seals in order, and goes on in a new file', () => {
    const directory = temporaryDirectory();
    const spill = openSpill(directory);
    spill.append('one\n');
    spill.seal();
    spill.append('two\n');
    const sealed = spill.seal();
    expect(sealed?.paths.map((path) => readFileSync(path, 'utf8'))).toEqual(['one\n', 'two\n']);
    expect(sealed?.bytes).toBe(8);
    for (const path of sealed?.paths ?? []) expect(spill.remove(path)).toBe(true);
    expect(spill.seal()).toEqual({ paths: [], bytes: 0 });
  });

  it('seals what an earlier process left, before and after ten thousand of them', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'served.spill.000002'), 'b\n');
    writeFileSync(join(directory, 'served.spill.1000000'), 'c\n');
    writeFileSync(join(directory, 'served.spill.other'), 'not ours\n');
    writeFileSync(join(directory, 'served.spill'), 'd\n');
    const texts = openSpill(directory)
      .seal()
      ?.paths.map((path) => readFileSync(path, 'utf8'));
    expect(texts).toEqual(['b\n', 'c\n', 'd\n']);
  });

  it('begins a line of its own after a line that an earlier process could not end', () => {
    const directory = temporaryDirectory();
    appendFileSync(join(directory, 'served.spill'), '{"torn');
    const spill = openSpill(directory);
    spill.append('whole\n');
    expect(readFileSync(join(directory, 'served.spill'), 'utf8')).toBe('{"torn\nwhole\n');
    spill.close();
  });

  it('is bounded, sealed files included', () => {
    const directory = temporaryDirectory();
    const spill = openSpill(directory, 10);
    expect(spill.append('12345\n')).toBe(true);
    expect(spill.append('12345\n')).toBe(false);
    const sealed = spill.seal();
    expect(spill.append('12345\n')).toBe(false);
    expect(spill.append('123\n')).toBe(true);
    expect(spill.remove(sealed?.paths[0] ?? '')).toBe(true);
    expect(spill.append('12345\n')).toBe(true);
    spill.close();
  });

  it('says so when the directory is gone', () => {
    const directory = temporaryDirectory();
    const spill = openSpill(directory);
    rmSync(directory, { recursive: true });
    expect(spill.append('one\n')).toBe(false);
    expect(spill.seal()).toBeNull();
    expect(spill.remove(join(directory, 'served.spill.000001'))).toBe(false);
  });
});
