/**
 * What happens inside the server, each script in one step: reading, writing and claiming a breaker's record.
 * Time is the server's own, and leaves it as durations. What does not look like ours counts as not there.
 */
import { createHash } from 'node:crypto';

export type RedisScript = { readonly text: string; readonly sha: string };

/** A record that nobody touches is gone after an hour; so is a right to probe that nobody uses. */
export const recordKeptMs = 3_600_000;

/** The largest number that a record may hold, well inside what a double counts. */
export const numberMax = 8e15;

const shared = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function whole(text)
  local number = tonumber(text)
  if number and number >= 0 and number <= ${numberMax.toFixed(0)} and number == math.floor(number) then
    return number
  end
  return nil
end

local function isRecord(key)
  return redis.call('TYPE', key).ok == 'hash'
end

-- The state that is written there, or nil.
local function record(key)
  if not isRecord(key) then return nil end
  local f = redis.call('HMGET', key, 'generation', 'at', 'span', 'level', 'lease', 'kind', 'reason')
  local numbers = {}
  for index = 1, 5 do
    numbers[index] = whole(f[index])
    if not numbers[index] then return nil end
  end
  if f[6] ~= 'open' and f[6] ~= 'closed' then return nil end
  return { generation = numbers[1], age = math.max(0, now - numbers[2]), span = numbers[3],
    level = numbers[4], lease = numbers[5], kind = f[6], reason = f[7] or '' }
end

local function generation(key)
  local found = record(key)
  return found and found.generation or 0
end

-- Who may probe: instance, claim and for how long yet. A span that a stepped clock made longer is over.
local function right(key)
  if not isRecord(key) then return nil end
  local f = redis.call('HMGET', key, 'holder', 'claim', 'held_at', 'held_for', 'unused')
  local at, span = whole(f[3]), whole(f[4])
  if not (f[1] and f[2] and at and span) then return nil end
  local left = now >= at and math.max(0, at + span - now) or 0
  return { holder = f[1], claim = f[2], left = left, unused = math.min(whole(f[5]) or 0, 30) }
end

local function read(key)
  local held = right(key) or { holder = '', left = 0 }
  local found = record(key)
  if not found then return { 0, '', 0, 0, 0, 0, '', held.holder, held.left } end
  return { found.generation, found.kind, found.age, found.span, found.level, found.lease,
    found.reason, held.holder, held.left }
end

local function dropIfForeign(key)
  if not isRecord(key) then redis.call('DEL', key) end
end

local channel = 'tiergate:breakers'
local kept = ${recordKeptMs}
`;

function script(body: string): RedisScript {
  const text = `${shared}${body}`;
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** KEYS: records. Returns each. */
export const readScript = script(`
local records = {}
for index, key in ipairs(KEYS) do records[index] = read(key) end
return records
`);

/** ARGV: known generation, kind, span, level, lease, reason. Returns {1, new generation} or {0, record}. */
export const writeScript = script(`
local key, known = KEYS[1], tonumber(ARGV[1])
if generation(key) > known then return { 0, read(key) } end
local next = math.max(known + 1, now)
redis.call('DEL', key)
redis.call('HSET', key, 'generation', string.format('%.0f', next), 'at', string.format('%.0f', now),
  'kind', ARGV[2], 'span', ARGV[3], 'level', ARGV[4], 'lease', ARGV[5], 'reason', ARGV[6])
redis.call('PEXPIRE', key, kept)
redis.call('PUBLISH', channel, '')
return { 1, next }
`);

/**
 * ARGV: known generation, instance, claim, lease. Returns {1, for how long}, {0, how long it is elsewhere}
 * or {2, record}. Each time that the right lapsed unused it is given for twice as long: where requests are
 * rare, one must come while it lasts.
 */
export const claimScript = script(`
local key = KEYS[1]
if generation(key) > tonumber(ARGV[1]) then return { 2, read(key) } end
local held = right(key)
if held and held.holder ~= ARGV[2] and held.left > 0 then return { 0, held.left } end
dropIfForeign(key)
local unused = held and held.unused or 0
local lease = tonumber(ARGV[4])
local span = math.max(lease, math.min(lease * 2 ^ unused, kept))
redis.call('HSET', key, 'holder', ARGV[2], 'claim', ARGV[3], 'unused', unused + 1,
  'held_at', string.format('%.0f', now), 'held_for', string.format('%.0f', span))
redis.call('PEXPIRE', key, math.max(kept, span))
return { 1, span }
`);

/** ARGV: instance, claim, lease from now or 0 to give the right back. Another's right stays. */
export const keepScript = script(`
local key, held = KEYS[1], right(KEYS[1])
if not held or held.holder ~= ARGV[1] or held.claim ~= ARGV[2] then return 0 end
if ARGV[3] == '0' then
  redis.call('HDEL', key, 'holder', 'claim', 'held_at', 'held_for', 'unused')
  redis.call('PUBLISH', channel, '')
else
  redis.call('HSET', key, 'held_at', string.format('%.0f', now), 'held_for', ARGV[3], 'unused', 0)
end
return 1
`);

/**
 * KEYS: the set of instances. ARGV: instance, how long one counts, 0 to leave. Returns how many there are.
 * Every look writes, so that a server which only reads is known for what it is.
 */
export const greetScript = script(`
local key, span = KEYS[1], tonumber(ARGV[2])
local kind = redis.call('TYPE', key).ok
if kind ~= 'zset' then redis.call('DEL', key) end
redis.call('ZREMRANGEBYSCORE', key, '-inf', now - math.max(span, 5000))
redis.call('ZREMRANGEBYSCORE', key, now + 5000, '+inf')
if span == 0 then
  redis.call('ZREM', key, ARGV[1])
else
  redis.call('ZADD', key, now, ARGV[1])
  redis.call('PEXPIRE', key, span * 2)
end
return redis.call('ZCARD', key)
`);
