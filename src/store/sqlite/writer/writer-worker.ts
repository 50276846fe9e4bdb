/** The writer thread's entry: takes requests in order, answers each once. */
import { parentPort, workerData } from 'node:worker_threads';
import { fail, success } from '../../../base/result.ts';
import { type Connection, connect } from '../connection.ts';
import { type StoreFault, storeFaultOf } from '../store-fault.ts';
import { KeyIndex } from './key-index.ts';
import { OriginWriter } from './origin-writer.ts';
import { prunePortion } from './retention.ts';
import type { ServedColumns } from './row-codec.ts';
import { RowWriter } from './row-writer.ts';
import { importPortion } from './spill-import.ts';
import type { FromWriter, ToWriter, WriterReplies, WriterRequest } from './writer-protocol.ts';

export type WriterSettings = {
  /** Its schema is up to date: whoever starts the thread sees to that. */
  readonly file: string;
  readonly busyTimeoutMs: number;
  readonly columns: ServedColumns;
};

type Opened = {
  readonly connection: Connection;
  readonly writer: RowWriter;
  readonly keys: KeyIndex;
  readonly origins: OriginWriter;
  readonly columns: ServedColumns;
};

const port = parentPort;
if (port !== null) serve(workerData as WriterSettings);

function serve(settings: WriterSettings): void {
  let opened: Opened | null = null;
  const replyTo = (request: WriterRequest): FromWriter['reply'] => {
    try {
      if (opened === null) {
        const connected = connect({ ...settings, create: false });
        if (!connected.ok) return connected;
        opened = open(connected.value, settings);
      }
      return success(perform(opened, request));
    } catch (error) {
      const fault = storeFaultOf(error, settings.file);
      if (mustReopen(fault)) {
        opened?.connection.close();
        opened = null;
      }
      return fail(fault);
    }
  };
  port?.on('message', (message: ToWriter) => {
    if (message === null) {
      opened?.connection.close();
      port.close();
      return;
    }
    const reply = replyTo(message.request);
    port.postMessage({ number: message.number, reply } satisfies FromWriter);
  });
}

/** Fails, the connection closed, when the tables are not there. */
function open(connection: Connection, { columns }: WriterSettings): Opened {
  try {
    const writer = new RowWriter(connection);
    const keys = new KeyIndex(connection);
    return { connection, writer, keys, origins: new OriginWriter(connection), columns };
  } catch (error) {
    connection.close();
    throw error;
  }
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
      return importPortion({ ...opened, path: request.path, offset: request.offset });
    case 'adopt':
      return opened.writer.adoptMarkers(request.instance);
    case 'note_origins':
      opened.origins.note(request.rows);
      return null;
    case 'prune':
      return prunePortion(opened, request);
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
