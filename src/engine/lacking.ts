/** The fault of a request that no target of its tier can carry, in words that say what of it. */
import type { ChatRequest } from '../chat/request.ts';
import type { RequestRun } from './request-run.ts';

/** No target of the tier can carry what the request needs: it is the request that must change. */
export function abilityFault(
  run: RequestRun,
): { readonly message: string; readonly param: null } | null {
  if (run.candidates.length > 0 || run.skips.length === 0) return null;
  const lacking = run.skips.filter(({ reason }) => reason.startsWith('ability:'));
  if (lacking.length === 0) return null;
  if (lacking.length !== run.skips.filter(({ reason }) => reason !== 'pinned').length) return null;
  const told = lacking.map(({ target, reason }) => {
    const ability = reason.slice('ability:'.length);
    return `${target} lacks ${ability}${meaning(ability, run.request.chat)}`;
  });
  const message = `No target of tier "${run.request.tier.name}" can carry this request: ${told.join(', ')}.`;
  return { message, param: null };
}

const meanings: { readonly [ability: string]: string } = {
  images: 'of this type, as links, or any',
  documents: 'of this type, as links, or any',
  audio: 'of this format, or any',
  files: 'by ids that another service gave',
  stop: 'sequences like these, or so many',
  n: 'more than one answer',
  tools: 'as many as these, or any',
  stored_responses: 'store, background, previous_response_id, conversation',
};

function meaning(ability: string, { providerTools }: ChatRequest): string {
  if (ability === 'provider_tools') {
    const kinds = new Set(
      providerTools.map(({ kind }) => kind.replace(/[^\w.:+-]/g, '').slice(0, 64)),
    );
    return kinds.size === 0 ? '' : ` (${[...kinds].slice(0, 4).join(', ')})`;
  }
  return Object.hasOwn(meanings, ability) ? ` (${meanings[ability]})` : '';
}
