/** The id of an answer as clients of this dialect know one. */
import type { DialectName } from '../../chat/request.ts';
import { dialectName } from './wire.ts';

const prefix = 'chatcmpl-';

/** An id that a service of this dialect gave stays as it is, since its own frames carry it too. */
export function completionIdOf(id: string, dialect?: DialectName): string {
  return dialect === dialectName || id.startsWith(prefix) ? id : prefix + id;
}
