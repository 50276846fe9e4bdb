/** Fields of a client's object in either spelling, each read as the type it must have; absent and null give null. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { FirstFault } from '../first-fault.ts';
import { fieldAt, spellingIn } from './proto-names.ts';

/** Where an object stands (`contents[0].parts[1]`; '' = the body itself); asked only for a fault. */
export type Place = () => string;

export class ClientFields {
  readonly json: JsonObject;
  readonly #faults: FirstFault;
  readonly #place: Place;

  constructor(json: JsonObject, faults: FirstFault, place: Place) {
    this.json = json;
    this.#faults = faults;
    this.#place = place;
  }

  /** The path of the field, spelled as the client did. */
  placeOf(name: string): string {
    const place = this.#place();
    const spelled = spellingIn(this.json, name);
    return place === '' ? spelled : `${place}.${spelled}`;
  }

  /** Undefined when absent or null. */
  value(name: string): unknown {
    return fieldAt(this.json, name);
  }

  /** A number may come as its text. */
  number(name: string): number | null {
    const value = this.value(name);
    if (value === undefined) return null;
    const isText = typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value);
    const number = isText ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
    return this.refuse(name, 'a number');
  }

  integer(name: string): number | null {
    const value = this.number(name);
    if (value === null || Number.isInteger(value)) return value;
    const place = this.placeOf(name);
    this.#faults.report(place, `${place} must be a whole number`);
    return null;
  }

  positiveInteger(name: string): number | null {
    const value = this.integer(name);
    if (value === null || value > 0) return value;
    const place = this.placeOf(name);
    this.#faults.report(place, `${place} must be at least 1`);
    return null;
  }

  boolean(name: string): boolean | null {
    const value = this.value(name);
    if (value === undefined || typeof value === 'boolean') return value ?? null;
    return this.refuse(name, 'true or false');
  }

  string(name: string): string | null {
    const value = this.value(name);
    if (value === undefined || typeof value === 'string') return value ?? null;
    return this.refuse(name, 'a string');
  }

  strings(name: string): readonly string[] | null {
    const value = this.value(name);
    if (value === undefined) return null;
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
    return this.refuse(name, 'an array of strings');
  }

  object(name: string): JsonObject | null {
    const value = this.value(name);
    if (value === undefined || isJsonObject(value)) return value ?? null;
    return this.refuse(name, 'an object');
  }

  /** The fields of the object at `name`; none when it is absent. */
  fieldsOf(name: string): ClientFields {
    return new ClientFields(this.object(name) ?? {}, this.#faults, () => this.placeOf(name));
  }

  /**
   * The objects of the list at `name`, each with its place. The service takes a single object where
   * a list is due (its own examples are written so), and so do we.
   */
  objects(name: string): readonly ClientFields[] {
    const value = this.value(name);
    if (value === undefined) return [];
    if (isJsonObject(value)) {
      return [new ClientFields(value, this.#faults, () => this.placeOf(name))];
    }
    if (!Array.isArray(value)) {
      this.refuse(name, 'an array of objects');
      return [];
    }
    const found: ClientFields[] = [];
    for (const [index, each] of value.entries()) {
      const place = (): string => `${this.placeOf(name)}[${index}]`;
      if (isJsonObject(each)) found.push(new ClientFields(each, this.#faults, place));
      else this.#faults.reportType(place(), 'an object', each);
    }
    return found;
  }

  /** Names of fields that `known` lacks, spelled as the client did; fields without a value do not count. */
  othersThan(known: ReadonlySet<string>): readonly string[] {
    return Object.keys(this.json).filter((name) => {
      const value = this.json[name];
      return value !== undefined && value !== null && !known.has(name);
    });
  }

  /** Reports that the field had to be `wanted`. */
  refuse(name: string, wanted: string): null {
    this.#faults.reportType(this.placeOf(name), wanted, this.value(name));
    return null;
  }
}
