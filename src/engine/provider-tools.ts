/** Tools that the provider itself runs may have written when an answer is lost: see 4-resilience, Provider-run tools. */
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import type { Target } from '../routing/snapshot.ts';
import type { EngineRequest } from './engine-request.ts';

/** Whether `request`, asked of `target`, may make the provider write something. */
export function mayWrite(request: EngineRequest, target: Target): boolean {
  const { providerTools, otherFields } = request.chat;
  if (request.tier.retry.repeatsProviderTools === true) return false;
  const { writingTools } = target.provider.dialect;
  if (writingTools === undefined) return false;
  const isWriting = (name: string): boolean => name.search(writingTools) !== -1;
  // Some protocols name the servers of tools beside the tools.
  return providerTools.some(({ kind }) => isWriting(kind)) || otherFields.some(isWriting);
}

/** Whether work may have begun before the attempt failed so; a refusal comes before it. */
export function mayHaveBegun({ errorClass, connection }: AttemptFailure): boolean {
  switch (errorClass) {
    case 'connection':
      return connection === 'reset';
    case 'timeout':
    case 'stream_interrupted':
    case 'transient_infra':
    case 'malformed_response':
    case 'poisoned':
      return true;
    default:
      return false;
  }
}
