/** A writer thread that dies at every checkpoint, and answers everything else as the real one. */
import { parentPort } from 'node:worker_threads';
import type { ToWriter } from '../../../src/store/sqlite/writer/writer-protocol.ts';

parentPort?.on('message', (message: ToWriter) => {
  if (message?.request.kind === 'checkpoint') process.exit(1);
});
await import('../../../src/store/sqlite/writer/writer-worker.ts');
