/** The writer thread's entry: takes requests in order, answers each once. */
import { parentPort, workerData } from 'node:worker_threads';
import { fail, success } from '../../../base/result.ts';
import { type Connection, openDatabase } from '../open-database.ts';
import { type StoreFault, storeFaultOf } from '../store-fault.ts';
import { KeyIndex } from './key-index.ts';
import { prunePortion } from './retention.ts';
import { RowWriter } from './row-writer.ts';
import { importPortion } from './spill-import.ts';
import type { FromWriter, ToWriter, WriterReplies, WriterRequest } from './writer-protocol.ts';

export type WriterSettings = { readonly file: string; readonly busyTimeoutMs: number };

type Opened = {
  readonly connection: Connection;
  readonly writer: RowWriter;
  readonly keys: KeyIndex;
};

const port = parentPort;
if (port !== null) serve(workerData as WriterSettings);

function serve(settings: WriterSettings): void {
  let opened: Opened | null = null;
  port?.on('message', (message: ToWriter) => {
    if (message === null) {
      opened?.connection.close();
      port.close();
      return;
    }
    const { number, request } = message;
    let reply: FromWriter['reply'];
    if (opened === null) {
      const open = openDatabase(settings);
      if (!open.ok) {
        port.postMessage({ number, reply: open } satisfies FromWriter);
        return;
      }
      opened = {
        connection: open.value,
        writer: new RowWriter(open.value),
        keys: new KeyIndex(open.value),
      };
    }
    try {
      reply = success(perform(opened, request));
    } catch (error) {
      const fault = storeFaultOf(error, settings.file);
      if (mustReopen(fault)) {
        opened.connection.close();
        opened = null;
      }
      reply = fail(fault);
    }
    port.postMessage({ number, reply } satisfies FromWriter);
  });
}

/** After a lock was not had the connection is as good as before; after anything else a new one is wanted. */
function mustReopen(fault: StoreFault): boolean {
  return fault.kind !== 'locked';
}

function perform(opened: Opened, request: WriterRequest): WriterReplies[keyof WriterReplies] {
  switch (request.kind) {
    case 'check':
      opened.writer.check(request.instance);
      return null;
    case 'commit':
      return opened.writer.commit(request);
    case 'import':
      return importPortion({ writer: opened.writer, path: request.path, offset: request.offset });
    case 'adopt':
      return opened.writer.adoptMarkers(request.instance);
    case 'prune':
      return prunePortion(opened.connection, opened.keys, request.beforeMs);
    case 'index':
      return { isDone: opened.keys.step() };
    case 'checkpoint':
      return checkpoint(opened.connection);
  }
}

function checkpoint(connection: Connection): WriterReplies['checkpoint'] {
  const [row] = connection.pragma('wal_checkpoint(passive)') as [
    { readonly log: number; readonly checkpointed: number },
  ];
  return { pages: row.log, writtenBack: row.checkpointed };
}
