/** Results of tool calls, wherever they stand, for dialects that want each of them straight after its turn. */
import { fail, type Result, success } from '../base/result.ts';
import type { Message, ToolMessage } from '../chat/request.ts';
import type { RequestFault } from './dialect.ts';

/** One per request. */
export class ToolResults {
  readonly #messages: readonly Message[];
  readonly #taken = new Set<ToolMessage>();

  constructor(messages: readonly Message[]) {
    this.#messages = messages;
  }

  /**
   * The results of the calls in the message at `index`, in the order of the calls: those that stand
   * before the assistant's next turn, and of calls with one id in theirs. The fault names a call without one.
   */
  take(index: number): Result<readonly ToolMessage[], RequestFault> {
    const results: ToolMessage[] = [];
    const calls = (this.#messages[index]?.content ?? []).filter(({ type }) => type === 'tool_call');
    const found = calls.length === 0 ? null : this.#resultsFrom(index + 1);
    for (const part of calls) {
      if (part.type !== 'tool_call') continue;
      const result = found?.get(part.id)?.shift();
      if (result === undefined) {
        const param = `messages[${index}]`;
        const id = quoted(part.id);
        return fail({ param, message: `the tool call ${id} has no result in the conversation` });
      }
      this.#taken.add(result);
      results.push(result);
    }
    return success(results);
  }

  /** What is wrong with the result at `index`: it answers no call before it. Null = it was taken. */
  faultOf(message: ToolMessage, index: number): RequestFault | null {
    if (this.#taken.has(message)) return null;
    const id = quoted(message.toolCallId);
    return {
      param: `messages[${index}]`,
      message: `the result for ${id} answers no call before it`,
    };
  }

  /** By the calls that they answer, up to the assistant's next turn. */
  #resultsFrom(from: number): ReadonlyMap<string, ToolMessage[]> {
    const found = new Map<string, ToolMessage[]>();
    for (let at = from; at < this.#messages.length; at += 1) {
      const message = this.#messages[at];
      if (message?.role === 'assistant') break;
      if (message?.role !== 'tool') continue;
      const same = found.get(message.toolCallId);
      if (same === undefined) found.set(message.toolCallId, [message]);
      else same.push(message);
    }
    return found;
  }
}

/** Ids may hold signatures of several kilobytes. */
function quoted(id: string): string {
  return JSON.stringify(id.slice(0, 100));
}
