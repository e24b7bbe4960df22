import type { CallRecord } from "./record.ts";

/** Returns a record as one line of JSON; without its content it has no request and response. */
export function exportLine(record: CallRecord, withContent = true): string {
  const { format, id, at, head, request, response, previous } = record;
  const content = withContent ? { request, response, previous } : {};
  return `${JSON.stringify({ format, id, at, head, ...content })}\n`;
}
