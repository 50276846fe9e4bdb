/** Turns one `.prompt` source into a variant: everything that can fail fails here, before a request. */
import { createHash } from 'node:crypto';
import { randomHex } from '../base/ids.ts';
import { fail, type Result, success } from '../base/result.ts';
import { type PromptFile, readPromptFile } from './front-matter.ts';
import {
  type CompiledTemplate,
  compileTemplate,
  parseTemplate,
  renderTemplate,
} from './template-engine.ts';
import { scanTemplate, type TemplateUse } from './template-scan.ts';
import {
  templateData,
  uncheckedVariables,
  type VariablesCheck,
  variablesCheck,
} from './variables.ts';
import type { RenderedVariant, Variables, Variant } from './variant.ts';

const renderedLengthMax = 1_000_000;

/** `partials` by name without their leading underscore. */
export async function compileVariant(input: {
  readonly name: string;
  readonly source: string;
  readonly partials: ReadonlyMap<string, string>;
}): Promise<Result<Variant, readonly string[]>> {
  const file = await readPromptFile(input.source);
  if (!file.ok) return file;
  const use = templateUse(file.value.template, input.partials);
  if (use.faults.length > 0) return fail(use.faults);
  const used = new Map([...use.partials].map((name) => [name, input.partials.get(name) ?? '']));
  const template = compileTemplate(file.value.template, used);
  if (!template.ok) return fail([template.fault]);
  const check = checkOf(file.value, use);
  if (!check.ok) return fail([check.fault]);
  const render = renderer(template.value, file.value, use);
  if (!render.ok) return fail([render.fault]);
  return success({
    name: input.name,
    identity: `${input.name}@${identityHash(input.source, used)}`,
    source: input.source,
    config: file.value.config,
    toolDescriptions: file.value.toolDescriptions,
    requiredVariables: check.value.required,
    variableFaults: (variables) =>
      check.value.faults({ ...file.value.variableDefaults, ...variables }),
    render: render.value,
  });
}

/** First 8 hex digits of the SHA-256 of the source, followed by its partials in order of name. */
function identityHash(source: string, partials: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256').update(source);
  for (const name of [...partials.keys()].sort()) {
    hash.update(`\0${name}\0${partials.get(name) ?? ''}`);
  }
  return hash.digest('hex').slice(0, 8);
}

/** What the template and the partials that it reaches use. */
function templateUse(template: string, partials: ReadonlyMap<string, string>): TemplateUse {
  const variables = new Set<string>();
  const reached = new Set<string>();
  const faults: string[] = [];
  let isDynamic = false;
  const visit = (source: string, place: string, above: readonly string[]): void => {
    const tree = parseTemplate(source);
    if (!tree.ok) {
      faults.push(`${place}${tree.fault}`);
      return;
    }
    const use = scanTemplate(tree.value, above.length === 0);
    faults.push(...use.faults.map((fault) => `${place}${fault}`));
    for (const name of use.variables) variables.add(name);
    isDynamic ||= use.isDynamic;
    for (const name of use.partials) {
      const partial = partials.get(name);
      if (above.includes(name)) faults.push(`partial ${name} contains itself`);
      else if (partial === undefined) {
        faults.push(`unknown partial ${name}: it would be the file _${name}.prompt`);
      } else if (!reached.has(name)) {
        reached.add(name);
        visit(partial, `partial ${name}: `, [...above, name]);
      }
    }
  };
  visit(template, '', []);
  return { variables, partials: reached, isDynamic, faults };
}

function checkOf(file: PromptFile, use: TemplateUse): Result<VariablesCheck, string> {
  if (file.variablesSchema === null) return success(uncheckedVariables);
  const check = variablesCheck(file.variablesSchema);
  if (!check.ok) return fail(`input.schema: ${check.fault}`);
  const { declared, required } = check.value;
  for (const name of use.variables) {
    if (declared !== null && !declared.has(name)) {
      return fail(`the template uses variables.${name}, which input.schema does not declare`);
    }
  }
  const supplied = Object.keys(file.variableDefaults);
  return success({
    ...check.value,
    required: required.filter((name) => !supplied.includes(name)),
  });
}

/** A text without variables is made once, when the config is loaded: requests only read it. */
function renderer(
  template: CompiledTemplate,
  file: PromptFile,
  use: TemplateUse,
): Result<Variant['render'], string> {
  // Unguessable, so that a caller's variable cannot pass for the place of the system text.
  const marker = `\u0000${randomHex(16)}\u0000`;
  const render = (variables: Variables): Result<RenderedVariant, string> => {
    const data = templateData({ ...file.variableDefaults, ...variables });
    const text = renderTemplate(template, { system: marker, variables: data });
    return text.ok ? splice(text.value, marker) : text;
  };
  if (use.isDynamic) return success(render);
  const fixed = render({});
  return fixed.ok ? success(() => fixed) : fixed;
}

function splice(text: string, marker: string): Result<RenderedVariant, string> {
  if (text.length > renderedLengthMax) return fail('the rendered text is too long');
  const [before = '', after = '', ...more] = text.split(marker);
  if (more.length > 0) return fail('{{system}} may stand only once');
  return success({ before: before.trim(), after: after.trim() });
}
