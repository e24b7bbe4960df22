import type { JsonObject } from "../../../src/core/json/json.ts";
import { compat, completions, messages } from "./chat_shapes.ts";
import { media, wholeOnly } from "./media_shapes.ts";
import {
  type Counts,
  DELIVERED,
  none,
  responsesUsage,
  type Shape,
  sse,
  TEXTS,
  ZERO,
} from "./shape.ts";

const RESPONSE = { id: "resp_1", object: "response", created_at: 1, model: "m" };
const PART = { item_id: "msg_1", output_index: 0, content_index: 0 };

function outputItem(text: string): JsonObject {
  const content = [{ type: "output_text", text, annotations: [] }];
  return { id: "msg_1", type: "message", role: "assistant", status: "completed", content };
}

const responses: Shape = {
  contentType: "text/event-stream",
  hasCached: true,
  whole: (counts, form) => ({
    ...RESPONSE,
    status: form === "unusable" ? "odd" : "completed",
    output: [outputItem(TEXTS[form])],
    usage: responsesUsage(counts),
  }),
  stream: {
    head: () =>
      sse({
        type: "response.created",
        sequence_number: 0,
        response: { ...RESPONSE, status: "in_progress", output: [] },
      }),
    headCounts: none,
    content(form) {
      if (form === "unusable") return sse({ type: "response.created", sequence_number: 0 });
      const item = { ...outputItem(""), status: "in_progress", content: [] };
      const part = { type: "output_text", text: "", annotations: [] };
      const delta = TEXTS[form];
      return [
        { type: "response.output_item.added", output_index: 0, item },
        { type: "response.content_part.added", ...PART, part },
        { type: "response.output_text.delta", ...PART, delta },
      ].map((event, at) => sse({ ...event, sequence_number: at + 1 })).join("");
    },
    early: "",
    finish: sse({
      type: "response.output_text.done",
      sequence_number: 4,
      ...PART,
      text: TEXTS.object,
    }),
    other: ": alive\n\n",
    counts: (counts) =>
      sse({
        type: "response.completed",
        sequence_number: 5,
        response: {
          ...RESPONSE,
          status: "completed",
          output: [outputItem(TEXTS.object)],
          usage: responsesUsage(counts),
        },
      }),
    terminal: "",
    error: (counts) =>
      sse({
        type: "response.failed",
        sequence_number: 1,
        response: {
          ...RESPONSE,
          status: "failed",
          error: { code: "server_error", message: "no" },
          output: [],
          usage: responsesUsage(counts),
        },
      }),
  },
};

const line = (value: JsonObject) => `${JSON.stringify(value)}\n`;
const localCounts = ({ input, output }: Counts) => ({
  prompt_eval_count: input,
  eval_count: output,
});

const local: Shape = {
  contentType: "application/x-ndjson",
  hasCached: false,
  whole: (counts, form) => ({
    model: "m",
    message: form === "unusable" ? 5 : { role: "assistant", content: TEXTS[form] },
    done: true,
    done_reason: "stop",
    ...localCounts(counts),
  }),
  stream: {
    head: () => "\n",
    headCounts: none,
    content: (form) =>
      line({ message: form === "unusable" ? 5 : { content: TEXTS[form] }, done: false }),
    early: line({ message: { content: "" }, done: false, ...localCounts(ZERO) }),
    finish: "",
    other: "",
    counts: (counts) =>
      line({ message: { content: "" }, done: true, done_reason: "stop", ...localCounts(counts) }),
    terminal: "",
    error: (counts) => line({ error: "no", ...localCounts(counts) }),
  },
};

const VECTOR = { object: "embedding", index: 0, embedding: [0.5] };
const COMPACTION = { id: "resp_1", object: "response.compaction", output: [] };

/** The responses of each protocol and relayed operation. */
export const SHAPES = {
  compat,
  messages,
  responses,
  local,
  completions,
  embeddings: wholeOnly({ object: "list", model: "m", data: [VECTOR] }, true),
  rerank: wholeOnly({ results: [{ index: 0, relevance_score: 1 }] }, true),
  compaction: wholeOnly(COMPACTION, false),
  images: media("image_generation", ".partial_image", ".completed", { data: [{}] }),
  transcript: media("transcript.text", ".delta", ".done", { text: DELIVERED }),
  speech: media("speech.audio", ".delta", ".done", {}),
} as const satisfies Readonly<Record<string, Shape>>;
