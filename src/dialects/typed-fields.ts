/** Fields of a client's object, each read as the type it must have; absent and null give null. */
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { FirstFault } from './first-fault.ts';

/** `path` stands before the field's name in a fault: '' for the body itself, else `output_config.` and the like. */
export class TypedFields {
  readonly #json: JsonObject;
  readonly #faults: FirstFault;
  readonly #path: string;

  constructor(json: JsonObject, faults: FirstFault, path = '') {
    this.#json = json;
    this.#faults = faults;
    this.#path = path;
  }

  number(name: string): number | null {
    const value = this.#value(name);
    if (value === null || (typeof value === 'number' && Number.isFinite(value))) return value;
    return this.#refuse(name, 'a number', value);
  }

  integer(name: string): number | null {
    const value = this.number(name);
    if (value === null || Number.isInteger(value)) return value;
    this.#faults.report(this.#path + name, `${this.#path}${name} must be a whole number`);
    return null;
  }

  boolean(name: string): boolean | null {
    const value = this.#value(name);
    if (value === null || typeof value === 'boolean') return value;
    return this.#refuse(name, 'true or false', value);
  }

  string(name: string): string | null {
    const value = this.#value(name);
    if (value === null || typeof value === 'string') return value;
    return this.#refuse(name, 'a string', value);
  }

  strings(name: string): readonly string[] | null {
    const value = this.#value(name);
    if (value === null) return null;
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
    return this.#refuse(name, 'an array of strings', value);
  }

  object(name: string): JsonObject | null {
    const value = this.#value(name);
    if (value === null || isJsonObject(value)) return value;
    return this.#refuse(name, 'an object', value);
  }

  /** The fields of the object at `name`; none when it is absent. */
  fieldsOf(name: string): TypedFields {
    return new TypedFields(this.object(name) ?? {}, this.#faults, `${this.#path}${name}.`);
  }

  #value(name: string): unknown {
    return Object.hasOwn(this.#json, name) ? (this.#json[name] ?? null) : null;
  }

  #refuse(name: string, wanted: string, value: unknown): null {
    this.#faults.reportType(this.#path + name, wanted, value);
    return null;
  }
}
