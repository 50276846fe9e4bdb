/**
 * Handlebars, as dotprompt brings it, in an environment of its own: dotprompt's instances share one
 * global set of partials and render asynchronously, a variant must neither share nor wait.
 */
import { createRequire } from 'node:module';
import { fail, type Result, success } from '../base/result.ts';

/** The nodes of a parsed template that are looked at; others are walked through. */
export type TemplateNode = { readonly type: string; readonly [field: string]: unknown };

/** A compiled template: the same data gives the same text. */
export type CompiledTemplate = (data: object) => unknown;

type Handlebars = {
  readonly create: () => Handlebars;
  readonly parse: (source: string) => TemplateNode;
  readonly precompile: (source: string, options: object) => unknown;
  readonly compile: (source: string, options: object) => CompiledTemplate;
  readonly registerPartial: (name: string, source: string) => void;
  readonly registerHelper: (name: string, helper: unknown) => void;
};

type HelperOptions = {
  readonly fn: (context: unknown) => string;
  readonly inverse: (context: unknown) => string;
  readonly hash: Readonly<Record<string, unknown>>;
};

/** What a template may call besides Handlebars' own blocks. */
const helpers = {
  json(value: unknown, options: HelperOptions): string {
    const indent = options.hash['indent'];
    return JSON.stringify(value, null, typeof indent === 'number' ? indent : 0) ?? '';
  },
  ifEquals(this: unknown, left: unknown, right: unknown, options: HelperOptions): string {
    return left === right ? options.fn(this) : options.inverse(this);
  },
  unlessEquals(this: unknown, left: unknown, right: unknown, options: HelperOptions): string {
    return left !== right ? options.fn(this) : options.inverse(this);
  },
};

/** Handlebars' own, less `log`, which would print a caller's values. */
const ownHelpers = ['if', 'unless', 'each', 'with', 'lookup'];

export const knownHelpers: ReadonlySet<string> = new Set([...ownHelpers, ...Object.keys(helpers)]);

const options = {
  noEscape: true,
  knownHelpersOnly: true,
  knownHelpers: Object.fromEntries([...knownHelpers].map((name) => [name, true])),
};

/** Node keeps the module, so this is a look-up. */
function handlebars(): Handlebars {
  const requireHere = createRequire(import.meta.url);
  const requireBesideDotprompt = createRequire(requireHere.resolve('dotprompt'));
  return requireBesideDotprompt('handlebars') as Handlebars;
}

/** The syntax tree of `source`, or why it is no template. */
export function parseTemplate(source: string): Result<TemplateNode, string> {
  try {
    return success(handlebars().parse(source));
  } catch (error) {
    return fail(firstLines(error));
  }
}

/** Compiles `source` with exactly these partials. */
export function compileTemplate(
  source: string,
  partials: ReadonlyMap<string, string>,
): Result<CompiledTemplate, string> {
  try {
    const environment = handlebars().create();
    for (const [name, helper] of Object.entries(helpers)) environment.registerHelper(name, helper);
    for (const [name, partial] of partials) {
      // `compile` is lazy: `precompile` shows the faults now, not at the first request.
      environment.precompile(partial, options);
      environment.registerPartial(name, partial);
    }
    environment.precompile(source, options);
    return success(environment.compile(source, options));
  } catch (error) {
    return fail(firstLines(error));
  }
}

/** The text of a template over `data`, or why it could not be made. */
export function renderTemplate(template: CompiledTemplate, data: object): Result<string, string> {
  try {
    return success(String(template(data)));
  } catch (error) {
    return fail(firstLines(error));
  }
}

function firstLines(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n').slice(0, 3).join(' ').slice(0, 300);
}
