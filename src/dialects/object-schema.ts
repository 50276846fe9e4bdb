/** The schema of a tool's parameters for services that take only an object with properties. */
import type { JsonObject } from '../base/json.ts';

export function objectSchema(parameters: JsonObject): JsonObject {
  const typed = parameters['type'] === 'object' ? parameters : { ...parameters, type: 'object' };
  return Object.hasOwn(typed, 'properties') ? typed : { ...typed, properties: {} };
}
