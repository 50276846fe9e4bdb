/** A reply as a list of things to do in order: what scripts, faults and answers all become. */

export type Beat =
  | { readonly kind: 'bytes'; readonly bytes: string | Buffer }
  | { readonly kind: 'wait'; readonly ms: number }
  /** Stay open and silent until the peer leaves. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'end' }
  /** The socket goes away without a final chunk. */
  | { readonly kind: 'cut' }
  /** TCP RST. */
  | { readonly kind: 'reset' };

export type Headers = { readonly [name: string]: string | readonly string[] };

export type ContentEncoding = 'gzip' | 'br' | 'deflate';

export type ReplyPlan =
  | {
      readonly kind: 'whole';
      readonly delayMs: number;
      readonly status: number;
      readonly headers: Headers;
      readonly body: string | Buffer;
    }
  | {
      readonly kind: 'beats';
      readonly delayMs: number;
      /** null: nothing of HTTP is written for the beats; their bytes go to the socket as they are. */
      readonly head: { readonly status: number; readonly headers: Headers } | null;
      readonly beats: Iterable<Beat>;
      /** Bytes a write, each in a turn of its own; 0 = one write a beat. */
      readonly splitBytes: number;
      /** How the beats' bytes are compressed on the way out; null = not. */
      readonly encoding: ContentEncoding | null;
    };

/** How a reply ended. `peer_closed`: the other side went first. `stopped`: the server was closed. */
export type ReplyEnd = 'completed' | 'cut' | 'reset' | 'peer_closed' | 'stopped';

export function bytesBeat(bytes: string | Buffer): Beat {
  return { kind: 'bytes', bytes };
}

/** A plan that writes nothing and does `beat` at once. */
export function silentPlan(beat: Beat): ReplyPlan {
  return { kind: 'beats', delayMs: 0, head: null, beats: [beat], splitBytes: 0, encoding: null };
}
