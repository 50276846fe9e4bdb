/** An alert as JSON: for the status page, and for a webhook that people read in a chat. */
import type { JsonObject } from '../base/json.ts';
import type { AlertNotice, OpenAlert } from '../engine/alert-board.ts';

/** An entry of `alerts` in `GET /admin/v1/status`. */
export function alertEntry(alert: OpenAlert): JsonObject {
  return {
    kind: alert.kind,
    subject: alert.subject,
    since: new Date(alert.sinceMs).toISOString(),
    count: alert.count,
    last_error: alert.lastError,
    request_id: alert.requestId,
  };
}

/** The body of the webhook's POST; `text` is what a chat shows, the rest is for programs. */
export function alertMessage(notice: AlertNotice): string {
  const entry = alertEntry(notice);
  const text = chatText(notice);
  return JSON.stringify(
    notice.isResolved ? { text, ...entry, resolved: true } : { text, ...entry },
  );
}

function chatText({ kind, subject, count, lastError, isResolved }: AlertNotice): string {
  const times = count === 1 ? '' : ` (${count} times)`;
  return isResolved
    ? `Tiergate: ${plain(kind)} is over: ${plain(subject)}`
    : `Tiergate: ${plain(kind)}: ${plain(subject)}${times}: ${plain(lastError)}`;
}

/** A provider's words must not become a mention or a link in the chat. */
function plain(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
