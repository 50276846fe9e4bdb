/** Arguments that a server gives as the object they stand for keep the spelling of their numbers. */
import { arrayAt, isJsonObject, objectAt, property } from '../../base/json.ts';
import { parseExactJson } from '../exact-json.ts';

/** `body` as parsed from `text`; only where it has such arguments the text is read again. */
export function withExactArguments(body: unknown, text: string): unknown {
  if (!arrayAt(body, 'choices').some(hasObjectArguments)) return body;
  const exact = parseExactJson(text);
  return exact.ok ? exact.value : body;
}

function hasObjectArguments(choice: unknown): boolean {
  return ['delta', 'message'].some((name) => {
    const said = objectAt(choice, name);
    const calls = arrayAt(said, 'tool_calls').map((call) => property(call, 'function'));
    return [...calls, property(said, 'function_call')].some((called) =>
      isJsonObject(property(called, 'arguments')),
    );
  });
}
