/** One request as one target is to be asked: parameters by precedence, the variant's words, its fields. */
import { isJsonObject, type JsonObject, property } from '../base/json.ts';
import { type ChatParameters, type ChatRequest, noParameters } from '../chat/request.ts';
import type { SystemSplice, UpstreamCall } from '../dialects/dialect.ts';
import type { RenderedVariant } from '../prompts/variant.ts';
import type { Target } from '../routing/snapshot.ts';
import type { EngineRequest } from './engine-request.ts';

const parameterNames = Object.keys(noParameters);

function isParameterName(name: string): name is keyof ChatParameters {
  return parameterNames.includes(name);
}

/**
 * The model of the first target that speaks `target`'s dialect, or of the one that the caller chose:
 * a conversation is held with it, unless something failed.
 */
export function usualModelOf(
  { tier, pin, account }: Pick<EngineRequest, 'tier' | 'pin' | 'account'>,
  target: Target,
): string {
  if (pin !== null || account !== undefined) return target.model;
  const { name } = target.provider.dialect;
  const first = tier.targets.find(({ provider }) => provider.dialect.name === name);
  return (first ?? target).model;
}

/** Precedence: `{force: x}` of the target, the client, the target, the variant's front matter. */
export function upstreamCallOf(
  request: ChatRequest,
  target: Target,
  rendered: RenderedVariant | null,
  usualModel: string | null,
): UpstreamCall {
  const facts = target.provider.modelFacts(target.model);
  const settings = { ...target.variant?.config, ...target.params };
  const { parameters, owned, extraFields } = applySettings(request, settings);
  return {
    request,
    model: target.provider.nameOf?.(target.model) ?? target.model,
    isStream: request.isStream,
    system: spliceOf(rendered),
    parameters,
    ownedParameters: owned,
    extraFields,
    toolDescriptions: target.variant?.toolDescriptions ?? {},
    maxOutputTokens: facts.maxOutputTokens,
    isReasoningModel: facts.isReasoningModel,
    efforts: facts.efforts ?? null,
    usualModel,
  };
}

function spliceOf(rendered: RenderedVariant | null): SystemSplice | null {
  if (rendered === null || (rendered.before === '' && rendered.after === '')) return null;
  return rendered;
}

type Applied = {
  readonly parameters: ChatParameters;
  readonly owned: readonly (keyof ChatParameters)[];
  readonly extraFields: JsonObject;
};

function applySettings(request: ChatRequest, settings: JsonObject): Applied {
  const names = Object.keys(settings);
  if (names.length === 0) return { parameters: request.parameters, owned: [], extraFields: {} };
  const changes: Record<string, unknown> = {};
  const extraFields: Record<string, unknown> = {};
  const owned: (keyof ChatParameters)[] = [];
  for (const name of names) {
    const { value, isForced } = settingOf(settings[name]);
    if (!isParameterName(name)) {
      if (isForced || property(request.original.json, name) === undefined)
        extraFields[name] = value;
    } else if (isForced || request.parameters[name] === null) {
      changes[name] = value;
      owned.push(name);
    }
  }
  return { parameters: { ...request.parameters, ...changes }, owned, extraFields };
}

function settingOf(setting: unknown): { readonly value: unknown; readonly isForced: boolean } {
  if (isJsonObject(setting) && Object.hasOwn(setting, 'force')) {
    return { value: setting['force'], isForced: true };
  }
  return { value: setting, isForced: false };
}
