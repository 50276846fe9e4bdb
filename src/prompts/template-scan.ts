/** What a template uses, read from its syntax tree before it is ever rendered. */
import { knownHelpers, type TemplateNode } from './template-engine.ts';

export type TemplateUse = {
  /** First names under `variables`. */
  readonly variables: ReadonlySet<string>;
  readonly partials: ReadonlySet<string>;
  /** False when the text depends on nothing but where the caller's system text stands. */
  readonly isDynamic: boolean;
  readonly faults: readonly string[];
};

const roleHelpers = new Set(['role', 'history', 'media', 'section']);
const contextBlocks = new Set(['each', 'with']);

/** `isRoot`: the tree is rendered over the root data, so that its names can be checked. */
export function scanTemplate(tree: TemplateNode, isRoot: boolean): TemplateUse {
  const scan = new TemplateScan();
  scan.visit(tree, isRoot);
  return {
    variables: scan.variables,
    partials: scan.partials,
    isDynamic: scan.isDynamic,
    faults: [...scan.faults],
  };
}

class TemplateScan {
  readonly variables = new Set<string>();
  readonly partials = new Set<string>();
  readonly faults = new Set<string>();
  isDynamic = false;

  visit(node: TemplateNode, isRoot: boolean): void {
    switch (node.type) {
      case 'PathExpression':
        this.#path(node, isRoot);
        return;
      case 'MustacheStatement':
      case 'SubExpression':
        this.#call(node, isRoot);
        return;
      case 'BlockStatement':
        this.#block(node, isRoot);
        return;
      case 'PartialStatement':
        this.#partial(node, isRoot);
        return;
      case 'Decorator':
      case 'DecoratorBlock':
      case 'PartialBlockStatement':
        this.faults.add('decorators and partial blocks are not known: use a plain {{> partial}}');
        return;
      default:
        this.#children(node, isRoot);
    }
  }

  #path(node: TemplateNode, isRoot: boolean): void {
    const parts = Array.isArray(node['parts']) ? node['parts'].map(String) : [];
    const isFromRoot = isRoot && node['data'] !== true && node['depth'] === 0;
    if (isFromRoot && parts.length === 1 && parts[0] === 'system') return;
    this.isDynamic = true;
    const [first, second] = parts;
    if (first === 'variables' && second !== undefined) this.variables.add(second);
    if (isFromRoot && first !== undefined && first !== 'variables') {
      this.faults.add(
        roleHelpers.has(first)
          ? roleFault(first)
          : `unknown name ${first}: the caller's variables are written {{variables.${first}}}`,
      );
    }
  }

  /** A name with arguments is a helper; one without is a value. */
  #call(node: TemplateNode, isRoot: boolean): void {
    const path = node['path'];
    const isHelper = node.type === 'SubExpression' || hasArguments(node);
    if (isNode(path)) {
      if (isHelper) this.#helper(String(path['original']));
      else this.visit(path, isRoot);
    }
    this.#arguments(node, isRoot);
  }

  #block(node: TemplateNode, isRoot: boolean): void {
    const path = node['path'];
    const name = isNode(path) ? String(path['original']) : '';
    const isHelper = hasArguments(node) || knownHelpers.has(name);
    if (isHelper) this.#helper(name);
    else if (isNode(path)) this.visit(path, isRoot);
    this.#arguments(node, isRoot);
    const isRootInside = isRoot && isHelper && !contextBlocks.has(name);
    for (const branch of [node['program'], node['inverse']]) {
      if (isNode(branch)) this.visit(branch, isRootInside);
    }
  }

  #partial(node: TemplateNode, isRoot: boolean): void {
    const name = node['name'];
    if (isNode(name) && name.type === 'PathExpression') this.partials.add(String(name['original']));
    else this.faults.add('a partial must be named in the template: {{> name}}');
    this.#arguments(node, isRoot);
  }

  #helper(name: string): void {
    if (roleHelpers.has(name)) this.faults.add(roleFault(name));
    else if (!knownHelpers.has(name)) this.faults.add(`unknown helper ${name}`);
  }

  #arguments(node: TemplateNode, isRoot: boolean): void {
    if (Array.isArray(node['params'])) {
      for (const parameter of node['params']) if (isNode(parameter)) this.visit(parameter, isRoot);
    }
    if (isNode(node['hash'])) this.#children(node['hash'], isRoot);
  }

  #children(node: TemplateNode, isRoot: boolean): void {
    for (const value of Object.values(node)) {
      if (Array.isArray(value)) {
        for (const item of value) if (isNode(item)) this.visit(item, isRoot);
      } else if (isNode(value)) this.visit(value, isRoot);
    }
  }
}

function hasArguments(node: TemplateNode): boolean {
  const hasParameters = Array.isArray(node['params']) && node['params'].length > 0;
  return hasParameters || isNode(node['hash']);
}

function roleFault(name: string): string {
  return `{{${name}}} has no place here: a variant is system text alone`;
}

function isNode(value: unknown): value is TemplateNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}
