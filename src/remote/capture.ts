import type { Config } from "../config/schema.ts";
import { jsonBeginning } from "../core/json/json_pieces.ts";
import type { StreamRecord } from "../core/stream/reply.ts";
import { sseText } from "../formats/sse.ts";
import type { Call, Capture } from "../call/call.ts";
import type { CallReport } from "../observe/report.ts";
import { type DashboardFields, dashboardFields, type SentRequest } from "./dashboard_fields.ts";

/** Maximum length of the request body and of the response body in an event for the dashboard. */
export const MAX_SHARED_CHARS = 1024 * 1024;

/** A finished call with the content that its configuration shares. */
export interface CapturedCall {
  readonly report: Readonly<CallReport>;
  /** The request body; null unless prompts are shared. */
  readonly prompt: string | null;
  /** The response body or its beginning; null unless responses are shared. */
  readonly response: Uint8Array | string | null;
  /** Returns the fields that only the dashboard receives. Built when it is called. */
  fields(): DashboardFields;
}

/** Text after which the captured content of a call is counted again. */
const COUNT_INTERVAL_CHARS = 64 * 1024;

/**
 * Returns a capture for the call with this configuration and ID; null if data sharing is off. Calls
 * `share` with the finished call. The content that is made for it counts with what sockets hold,
 * and is dropped with it.
 */
export function newCapture(
  { data_sharing }: Pick<Config, "data_sharing">,
  share: (call: CapturedCall) => void,
  id: string,
  admission: Pick<Call["state"]["admission"], "holdDroppable">,
): Capture | null {
  const { enabled, share_prompts, share_responses } = data_sharing;
  if (!enabled) return null;
  let prompt: string | null = null;
  let response: CapturedCall["response"] = null;
  let sent: SentRequest | null = null;
  let countedChars = 0;
  let isDropped = false;

  async function* captured(records: AsyncIterable<readonly StreamRecord[]>) {
    let text = "";
    for await (const group of records) {
      if (!isDropped && text.length <= MAX_SHARED_CHARS) {
        text = (text + sseText(group)).slice(0, MAX_SHARED_CHARS + 1);
        response = text;
        hold(text.length);
      }
      if (isDropped) text = "";
      yield group;
    }
  }

  function hold(chars: number) {
    if (chars - countedChars < COUNT_INTERVAL_CHARS) return;
    countedChars = chars;
    admission.holdDroppable(`capture ${id}`, chars, drop);
  }

  function drop() {
    isDropped = true;
    countedChars = 0;
    response = null;
  }

  return {
    request(text) {
      if (share_prompts) prompt = text;
    },
    upstreamRequest(request) {
      sent = request;
    },
    reply(reply) {
      if (!share_responses) return reply;
      // The bytes of audio and files are not shared.
      if (reply.kind === "bytes") return reply;
      if (reply.kind === "stream") return { ...reply, records: captured(reply.records) };
      if (reply.kind === "whole") response = reply.response.body;
      else {
        const text = jsonBeginning(reply.value, MAX_SHARED_CHARS);
        response = text;
        hold(text.length);
      }
      return reply;
    },
    end(call) {
      if (countedChars > 0) admission.holdDroppable(`capture ${id}`, 0, drop);
      share({
        report: call.report,
        prompt,
        response,
        fields: () => dashboardFields(call, sent),
      });
    },
  };
}
