/**
 * The tables of the embedded database. A change here needs `npm run db:generate`. The first migration adds
 * by hand what drizzle has no word for: tables with a primary key of several columns are WITHOUT ROWID.
 */
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { JsonObject } from '../../base/json.ts';
import type { AttemptRow, RequestRow } from '../../served-by/row.ts';
import {
  index,
  integer,
  primaryKey,
  real,
  sql,
  sqliteTable,
  text,
  uniqueIndex,
} from './drizzle.ts';

const count = (name: string) => integer(name).notNull().default(0);
const flag = (name: string) => integer(name, { mode: 'boolean' }).notNull().default(false);
/** Null stands for the empty list or object: most rows have none, and null costs nothing. */
const list = <Item>(name: string) => text(name, { mode: 'json' }).$type<readonly Item[]>();

/**
 * One row per request. `seq` is the order of insertion, a short key for children and indexes. Instants
 * are epoch ms. A row is mostly nulls and defaults: the writer names only the columns that hold more.
 */
export const requests = sqliteTable(
  'requests',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull(),
    client_request_id: text('client_request_id'),
    started_at: integer('started_at').notNull(),
    tier: text('tier').notNull(),
    config_version: integer('config_version'),
    client_protocol: text('client_protocol'),
    requested_model: text('requested_model'),
    stream: flag('stream'),
    target: text('target'),
    provider: text('provider'),
    model: text('model'),
    reported_model: text('reported_model'),
    variant: text('variant'),
    outcome: text('outcome').$type<RequestRow['outcome']>().notNull(),
    error_class: text('error_class').$type<NonNullable<RequestRow['error_class']>>(),
    status: integer('status'),
    attempt_count: count('attempt_count'),
    retry_count: count('retry_count'),
    failover_count: count('failover_count'),
    hedged: flag('hedged'),
    skipped: list<RequestRow['skipped'][number]>('skipped'),
    recovery: text('recovery').$type<RequestRow['recovery']>().notNull().default('none'),
    seams: list<RequestRow['seams'][number]>('seams'),
    malformed_events: count('malformed_events'),
    deadline_ms: integer('deadline_ms'),
    backoff_ms: count('backoff_ms'),
    ttft_ms: integer('ttft_ms'),
    latency_ms: integer('latency_ms'),
    upstream_ms: integer('upstream_ms'),
    input_tokens: integer('input_tokens'),
    output_tokens: integer('output_tokens'),
    cached_tokens: integer('cached_tokens'),
    reasoning_tokens: integer('reasoning_tokens'),
    cost_usd: real('cost_usd'),
    total_cost_usd: real('total_cost_usd'),
    price_date: text('price_date'),
    finish_reason: text('finish_reason'),
    client_retry_count: count('client_retry_count'),
    dropped: list<string>('dropped'),
    failed_over: flag('failed_over'),
    output_valid: integer('output_valid', { mode: 'boolean' }),
    eval_run: text('eval_run'),
    run_id: text('run_id'),
    session: text('session'),
    tags: text('tags', { mode: 'json' }).$type<RequestRow['tags']>(),
    key_id: text('key_id'),
    guardrail: text('guardrail'),
    repaired: flag('repaired'),
    escalated_from: text('escalated_from'),
    idempotent_replay: flag('idempotent_replay'),
    body_hash: text('body_hash'),
  },
  (table) => [
    uniqueIndex('requests_id').on(table.id),
    /** Holds what most filters ask for, so that a time range is searched without reading its rows. */
    index('requests_started').on(
      table.started_at,
      table.outcome,
      table.tier,
      table.provider,
      table.target,
      table.model,
      table.variant,
      table.config_version,
      table.error_class,
      table.recovery,
      table.failed_over,
      table.key_id,
    ),
    ...[
      { name: 'requests_error_class', column: table.error_class, where: 'error_class is not null' },
      { name: 'requests_not_served', column: table.outcome, where: "outcome <> 'served'" },
      { name: 'requests_recovery', column: table.recovery, where: "recovery <> 'none'" },
      { name: 'requests_failed_over', column: table.failed_over, where: 'failed_over = 1' },
      { name: 'requests_eval_run', column: table.eval_run, where: 'eval_run is not null' },
      { name: 'requests_run', column: table.run_id, where: 'run_id is not null' },
      { name: 'requests_session', column: table.session, where: 'session is not null' },
      { name: 'requests_key', column: table.key_id, where: 'key_id is not null' },
    ].map((partial) => rareIndex({ ...partial, startedAt: table.started_at })),
  ],
);

/** An index that holds only rows where the column says something: it costs nothing for all others. */
function rareIndex(rare: {
  readonly name: string;
  readonly column: AnySQLiteColumn;
  readonly startedAt: AnySQLiteColumn;
  readonly where: string;
}) {
  return index(rare.name).on(rare.column, rare.startedAt).where(sql.raw(rare.where));
}

/** One row per attempt of a request. */
export const attempts = sqliteTable(
  'attempts',
  {
    request_seq: integer('request_seq').notNull(),
    n: integer('n').notNull(),
    kind: text('kind').$type<AttemptRow['kind']>().notNull(),
    target: text('target').notNull(),
    provider: text('provider').notNull(),
    model: text('model').notNull(),
    variant: text('variant'),
    key_alias: text('key_alias'),
    started_at: integer('started_at').notNull(),
    delay_before_ms: count('delay_before_ms'),
    delay_reason: text('delay_reason').$type<NonNullable<AttemptRow['delay_reason']>>(),
    status: integer('status'),
    error_class: text('error_class').$type<NonNullable<AttemptRow['error_class']>>(),
    message: text('message'),
    retry_after_ms: integer('retry_after_ms'),
    ttfb_ms: integer('ttfb_ms'),
    ttft_ms: integer('ttft_ms'),
    duration_ms: count('duration_ms'),
    upstream_request_id: text('upstream_request_id'),
    input_tokens: integer('input_tokens'),
    output_tokens: integer('output_tokens'),
    cached_tokens: integer('cached_tokens'),
    reasoning_tokens: integer('reasoning_tokens'),
    cost_usd: real('cost_usd'),
    outcome: text('outcome').$type<AttemptRow['outcome']>().notNull(),
    breaker_before: text('breaker_before')
      .$type<AttemptRow['breaker_before']>()
      .notNull()
      .default('closed'),
    breaker_after: text('breaker_after')
      .$type<AttemptRow['breaker_after']>()
      .notNull()
      .default('closed'),
    retry_budget: real('retry_budget'),
  },
  (table) => [primaryKey({ columns: [table.request_seq, table.n] })],
);

/**
 * Finds requests by an id that others made: `client_request_id`, or an attempt's `upstream_request_id`.
 * Such ids are random, and an index kept with each row would write a page of its own for each; so they
 * are entered in bulk, a moment later, and a search reads the newest rows besides (`key-index.ts`).
 */
export const requestKeys = sqliteTable(
  'request_keys',
  {
    key: text('key').notNull(),
    request_seq: integer('request_seq').notNull(),
  },
  (table) => [primaryKey({ columns: [table.key, table.request_seq] })],
);

/**
 * Which combinations occur in which half hour: a search for a rare tier or target reads only the half
 * hours that have it, without an index of its own for each column. Null is stored as ''.
 */
export const servedSlots = sqliteTable(
  'served_slots',
  {
    slot_at: integer('slot_at').notNull(),
    tier: text('tier').notNull(),
    provider: text('provider').notNull(),
    target: text('target').notNull(),
    model: text('model').notNull(),
    variant: text('variant').notNull(),
    config_version: integer('config_version').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [
        table.slot_at,
        table.tier,
        table.provider,
        table.target,
        table.model,
        table.variant,
        table.config_version,
      ],
    }),
  ],
);

/** Requests under way that live long; what a dead process leaves here becomes rows `lost`. */
export const markers = sqliteTable('markers', {
  id: text('id').primaryKey(),
  /** The process that serves the request. */
  instance: text('instance').notNull(),
  client_request_id: text('client_request_id'),
  started_at: integer('started_at').notNull(),
  tier: text('tier').notNull(),
  key_id: text('key_id'),
});

/** Which account made what requests later name by an id: answers and items that it keeps, reasoning. */
export const origins = sqliteTable(
  'origins',
  {
    id: text('id').primaryKey(),
    target: text('target').notNull(),
    provider: text('provider').notNull(),
    key_alias: text('key_alias'),
    is_kept: integer('is_kept', { mode: 'boolean' }).notNull(),
    made_at: integer('made_at').notNull(),
  },
  (table) => [index('origins_made').on(table.made_at)],
);

/** Immutable versions of the config, each with the prompts it names. */
export const configVersions = sqliteTable('config_versions', {
  version: integer('version').primaryKey(),
  hash: text('hash').notNull(),
  document: text('document', { mode: 'json' }).$type<JsonObject>().notNull(),
  /** Prompt name -> SHA-256 of its source in `prompt_versions`. */
  prompts: text('prompts', { mode: 'json' }).$type<{ readonly [name: string]: string }>().notNull(),
  author: text('author').notNull(),
  note: text('note'),
  created_at: integer('created_at').notNull(),
});

/** Prompt sources by content, so that a hundred config versions keep one copy of an unchanged prompt. */
export const promptVersions = sqliteTable('prompt_versions', {
  hash: text('hash').primaryKey(),
  source: text('source').notNull(),
});

/** Small facts of the installation, such as the hash of the admin key. */
export const meta = sqliteTable('meta', {
  key: text('key').primaryKey(),
  value: text('value').notNull(),
});
