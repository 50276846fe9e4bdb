/** Fields of a target's own dialect over a body that was translated or edited. */
import { isJsonObject, type JsonObject } from '../base/json.ts';

/** `body` with `extra` above it; of an object in both, the fields of both, `extra` again above. */
export function withExtraFields(body: JsonObject, extra: JsonObject): JsonObject {
  const merged = new Map(Object.entries(body));
  for (const [name, value] of Object.entries(extra)) {
    const present = merged.get(name);
    const isBoth = isJsonObject(present) && isJsonObject(value);
    merged.set(name, isBoth ? { ...present, ...value } : value);
  }
  return Object.fromEntries(merged);
}
