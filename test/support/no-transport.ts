/** A transport for what opens no connection. */
import { fail } from '../../src/base/result.ts';
import type { Transport } from '../../src/transport/transport.ts';

export const noTransport: Transport = {
  send: async () =>
    fail({ kind: 'refused', isConnectTimeout: false, isStaleSocket: false, code: 'NO_TRANSPORT' }),
  close: async () => undefined,
};
