/** Plays one range of seeds for `simulation-long` and sends back the reports of those that fail. */
import { parentPort, workerData } from 'node:worker_threads';
import { reportsOf } from '../support/schedule-check.ts';

const { from, count } = workerData as { readonly from: number; readonly count: number };
parentPort?.postMessage(await reportsOf(from, count));
