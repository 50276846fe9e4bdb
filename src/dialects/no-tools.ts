/** A choice among tools where none is offered. */
import type { ToolChoice } from '../chat/request.ts';
import type { RequestFault } from './dialect.ts';

/** Null: it asks for no call, and can be left out. */
export function faultWithoutTools(choice: ToolChoice | null): RequestFault | null {
  if (choice === null || choice.mode === 'auto' || choice.mode === 'none') return null;
  return { message: 'A tool must be called, but none is offered.', param: 'tool_choice' };
}
