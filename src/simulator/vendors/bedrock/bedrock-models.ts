/** What the name of a model says in Bedrock: its family, and of a Claude model its name at its maker's. */

/** `us.`, `global.` and the like, the path of an ARN, the version at the end: none of them. */
function bareName(model: string): string {
  return (model.split('/').at(-1) ?? '')
    .replace(/^(us|us-gov|eu|apac|jp|au|ca|global)\./, '')
    .replace(/(-v\d+)?(:\d+\w*)*$/, '');
}

/** `claude-sonnet-4-5-20250929`, or '' for another family. */
export function claudeName(model: string): string {
  return /^anthropic\.(claude-.+)$/.exec(bareName(model))?.[1] ?? '';
}

export function isNova(model: string): boolean {
  return bareName(model).startsWith('amazon.nova');
}

export function isLlama(model: string): boolean {
  return bareName(model).startsWith('meta.');
}

/** A maker and a name, or an ARN. */
export function isModelName(model: string): boolean {
  return /^arn:aws[a-z-]*:bedrock:/.test(model) || /^[a-z0-9-]+\.[a-z0-9]/.test(bareName(model));
}
