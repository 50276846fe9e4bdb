/** A prompt variant: the wording for one target of a tier. Source is a `.prompt` file in Dotprompt form. */
import type { JsonObject } from '../base/json.ts';
import type { Result } from '../base/result.ts';

export type Variables = JsonObject;

export type RenderedVariant = {
  /** Put before the caller's own leading system blocks; '' = none. */
  readonly before: string;
  /** Put after them; '' = none. */
  readonly after: string;
};

export type Variant = {
  /** `reasoning.gemini` for `prompts/reasoning.gemini.prompt`. */
  readonly name: string;
  /** `name@` + 8 hex digits of the SHA-256 of its source and its partials. */
  readonly identity: string;
  readonly source: string;
  /** Parameters from the front matter's `config:`, by canonical or dialect name. */
  readonly config: JsonObject;
  readonly toolDescriptions: { readonly [toolName: string]: string };
  /** Names of the variables that the schema requires; absent = none. */
  readonly requiredVariables?: readonly string[];
  /** Faults of the caller's variables against the input schema; empty = fine. Each names the variable. */
  readonly variableFaults: (variables: Variables) => readonly string[];
  /** Caller text is data: never compiled. The fault is ours (`internal`). Cheap when there are no variables. */
  readonly render: (variables: Variables) => Result<RenderedVariant, string>;
};
