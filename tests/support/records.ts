import type { CallRecord, RecordHead } from "../../src/record/record.ts";
import { RECORD_FORMAT } from "../../src/record/record_format.ts";

/** Parts of a record that a test chooses. */
export interface RecordParts extends Partial<Omit<CallRecord, "head" | "request">> {
  readonly head?: Partial<RecordHead> | undefined;
  readonly request?: Partial<NonNullable<CallRecord["request"]>> | undefined;
}

/** Returns the record of a chat call with these parts. */
export function newRecord({ head, request, ...rest }: RecordParts = {}): CallRecord {
  return {
    format: RECORD_FORMAT,
    id: "0198e1c5-0000-4000-8000-000000000001",
    at: "2026-11-23T14:02:11.480Z",
    head: {
      method: "POST",
      path: "/v1/chat/completions",
      api: "chat_completions",
      key: null,
      groups: [],
      template: null,
      issuer: null,
      end_user: null,
      labels: {},
      session: null,
      route: "main",
      model_requested: "gpt-4o-mini",
      conversation_items: null,
      stream: false,
      status: 200,
      end: "complete",
      code: null,
      tools_offered: [],
      tools_called: [],
      finish: "stop",
      attempts: [
        {
          provider: "openai",
          key: null,
          model: "gpt-4o-mini",
          outcome: "success",
          began: 3.1,
          ended: 812.4,
        },
      ],
      fallbacks: 0,
      cache: null,
      lossy: [],
      verified: [],
      redacted: {},
      usage: { input: 1_000, output: 100, total: 1_100, cached: 0, cache_write: 0, reasoning: 0 },
      units: null,
      cost: null,
      ms: { first: 812.4, total: 900 },
      generation: "b1c2",
      version: "0.1.0",
      why: ["key"],
      cut: [],
      ...head,
    },
    request: {
      headers: { "content-type": "application/json" },
      query: "",
      body: JSON.stringify({
        model: "gpt-4o-mini",
        messages: [{ role: "user", content: "Say hello." }],
      }),
      ...request,
    },
    ...rest,
  };
}
