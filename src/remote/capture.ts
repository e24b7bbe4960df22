import type { Config } from "../config/schema.ts";
import type { StreamRecord } from "../core/reply.ts";
import { sseText } from "../formats/sse.ts";
import type { Capture } from "../call/call.ts";
import type { CallReport } from "../observe/report.ts";
import { type DashboardFields, dashboardFields, type SentRequest } from "./dashboard_fields.ts";

/** Longest request body, and longest response body, that the dashboard receives of a call, in characters. */
export const MAX_SHARED_CHARS = 1024 * 1024;

/** A call that is over, with the content that its configuration shares. */
export interface CapturedCall {
  readonly report: Readonly<CallReport>;
  /** The body of the request; null unless prompts are shared. */
  readonly prompt: string | null;
  /** The body of the response, or its beginning; null unless responses are shared. */
  readonly response: Uint8Array | string | null;
  /** Returns the fields that only the dashboard receives. Built when it is called. */
  fields(): DashboardFields;
}

/**
 * Returns what captures a call with this configuration; null while data sharing is off. `share` takes
 * the call when it is over.
 */
export function newCapture(
  { data_sharing }: Pick<Config, "data_sharing">,
  share: (call: CapturedCall) => void,
): Capture | null {
  const { enabled, share_prompts, share_responses } = data_sharing;
  if (!enabled) return null;
  let prompt: string | null = null;
  let response: CapturedCall["response"] = null;
  let sent: SentRequest | null = null;

  async function* captured(records: AsyncIterable<readonly StreamRecord[]>) {
    let text = "";
    for await (const group of records) {
      if (text.length <= MAX_SHARED_CHARS) response = text += sseText(group);
      yield group;
    }
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
      if (reply.kind === "stream") return { ...reply, records: captured(reply.records) };
      response = reply.answer.body;
      return reply;
    },
    end(call) {
      share({
        report: call.report,
        prompt,
        response,
        fields: () => dashboardFields(call, sent),
      });
    },
  };
}
