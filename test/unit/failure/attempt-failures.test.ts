import { describe, expect, it } from 'vitest';
import {
  classifyTimeout,
  classifyTransport,
  clientGone,
  internalFailure,
  malformedResponse,
  streamInterrupted,
  unresolvedSecret,
} from '../../../src/failure/attempt-failures.ts';

describe('failures without an answer', () => {
  it('R10 a connection that never stood, and one that broke', () => {
    const refused = classifyTransport({
      kind: 'refused',
      isConnectTimeout: false,
      code: 'ECONNREFUSED',
    });
    expect(refused).toMatchObject({
      errorClass: 'connection',
      connection: 'refused',
      code: 'ECONNREFUSED',
      message: 'no connection to the provider (ECONNREFUSED)',
    });
    const slow = classifyTransport({ kind: 'refused', isConnectTimeout: true, code: 'X' });
    expect(slow).toMatchObject({ connection: 'refused', rule: 'connect_timeout' });
    const reset = classifyTransport({ kind: 'reset', isConnectTimeout: false, code: 'ECONNRESET' });
    expect(reset).toMatchObject({ errorClass: 'connection', connection: 'reset' });
    const aborted = classifyTransport({ kind: 'aborted', isConnectTimeout: false, code: 'ABORT' });
    expect(aborted.errorClass).toBe('client_gone');
  });

  it('no address enters a message by way of a code', () => {
    const failure = classifyTransport({
      kind: 'reset',
      isConnectTimeout: false,
      code: 'connect ECONNREFUSED 10.0.0.1:443',
    });
    expect(failure.message).toBe('the connection to the provider broke (unknown)');
    expect(failure.code).toBe('unknown');
  });

  it('each clock says what did not come; an idle one interrupts a stream that has begun', () => {
    const cut = (clock: 'headers' | 'idle' | 'deadline' | 'connect', isContentSent = false) =>
      classifyTimeout({ clock, afterMs: 1_500, isContentSent });
    expect(cut('headers')).toMatchObject({
      errorClass: 'timeout',
      rule: 'clock:headers',
      message: 'no response headers from the provider for 1.5 s',
    });
    expect(cut('deadline').message).toContain("request's deadline");
    expect(cut('idle').errorClass).toBe('timeout');
    expect(cut('idle', true).errorClass).toBe('stream_interrupted');
    expect(cut('connect')).toMatchObject({ errorClass: 'connection', connection: 'refused' });
  });

  it('the others', () => {
    expect(malformedResponse('no choices')).toMatchObject({
      errorClass: 'malformed_response',
      status: 200,
      message: "the provider's answer cannot be used: no choices",
    });
    expect(streamInterrupted('no terminal event').errorClass).toBe('stream_interrupted');
    expect(internalFailure('no such state').errorClass).toBe('internal');
    expect(clientGone().errorClass).toBe('client_gone');
    expect(unresolvedSecret('env:KEY')).toMatchObject({
      errorClass: 'auth',
      message: 'the secret env:KEY is not set',
    });
  });
});
