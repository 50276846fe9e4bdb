/** Conditions that find requests by an id that others made, through `request_keys`. */
import type { SQL } from 'drizzle-orm';
import { eq, sql } from './drizzle.ts';
import { attempts, meta, requestKeys, requests } from './schema.ts';
import { indexedThroughKey } from './writer/key-index.ts';

/** The newest rows are not entered yet: they are read as they are, a second's worth at most. */
const indexedThrough = sql`(select coalesce(max(cast(${meta.value} as integer)), 0) from ${meta}
  where ${meta.key} = ${indexedThroughKey})`;

export function isOfClientRequest(clientRequestId: string): SQL[] {
  return [
    sql`${requests.seq} in (
      select ${requestKeys.request_seq} from ${requestKeys} where ${requestKeys.key} = ${clientRequestId}
      union select newest.seq from ${requests} as newest
      where newest.seq > ${indexedThrough} and +newest.client_request_id = ${clientRequestId})`,
    eq(requests.client_request_id, clientRequestId),
  ];
}

export function isOfUpstreamRequest(upstreamRequestId: string): SQL {
  return sql`${requests.seq} in (
    select ${attempts.request_seq} from ${attempts} where ${attempts.request_seq} in (
      select ${requestKeys.request_seq} from ${requestKeys} where ${requestKeys.key} = ${upstreamRequestId})
    and ${attempts.upstream_request_id} = ${upstreamRequestId}
    union select newest.request_seq from ${attempts} as newest
    where newest.request_seq > ${indexedThrough}
    and newest.upstream_request_id = ${upstreamRequestId})`;
}
