import type { JsonObject } from "../../../src/core/json/json.ts";
import {
  chatUsage,
  DONE,
  ERROR,
  messagesUsage,
  none,
  type Shape,
  sse,
  TEXTS,
  ZERO,
} from "./shape.ts";

function chunk(delta: JsonObject, finish: string | null): string {
  const head = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  return sse({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
}

export const compat: Shape = {
  contentType: "text/event-stream",
  hasCached: true,
  whole(counts, form) {
    const message = { role: "assistant", content: TEXTS[form] };
    const choices = form === "unusable" ? [] : [{ index: 0, message, finish_reason: "stop" }];
    const usage = chatUsage(counts);
    return { id: "c", object: "chat.completion", created: 1, model: "m", choices, usage };
  },
  stream: {
    head: () => ": waiting\n\n",
    headCounts: none,
    content: (form) =>
      form === "unusable"
        ? "data: odd\n\n"
        : chunk({ role: "assistant", content: TEXTS[form] }, null),
    early: sse({ id: "c", choices: [], usage: chatUsage(ZERO) }),
    finish: chunk({}, "stop"),
    other: sse({
      id: "",
      choices: [{ index: 0, finish_reason: null, content_filter_results: {} }],
    }),
    counts: (counts) => sse({ id: "c", choices: [], usage: chatUsage(counts) }),
    terminal: DONE,
    error: (counts) => sse({ error: ERROR, usage: chatUsage(counts) }),
  },
};

export const completions: Shape = {
  ...compat,
  whole: (counts, form) => ({
    object: "text_completion",
    choices: [{ index: 0, text: TEXTS[form], finish_reason: "stop" }],
    ...form === "unusable" && { error: ERROR },
    usage: chatUsage(counts),
  }),
  stream: compat.stream && {
    ...compat.stream,
    content: (form) =>
      form === "unusable"
        ? "data: odd\n\n"
        : sse({ object: "text_completion", choices: [{ index: 0, text: TEXTS[form] }] }),
    finish: sse({ choices: [{ index: 0, text: "", finish_reason: "stop" }] }),
    other: sse({ choices: [] }),
  },
};

export const messages: Shape = {
  contentType: "text/event-stream",
  hasCached: true,
  whole(counts, form) {
    const content = form === "unusable" ? 5 : [{ type: "text", text: TEXTS[form] }];
    const head = { id: "msg_1", type: "message", role: "assistant", model: "m" };
    const usage = messagesUsage(counts);
    return { ...head, content, stop_reason: "end_turn", stop_sequence: null, usage };
  },
  stream: {
    head(counts) {
      const head = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [] };
      const usage = messagesUsage({ ...counts, output: 1 });
      const message = { ...head, stop_reason: null, stop_sequence: null, usage };
      return sse({ type: "message_start", message });
    },
    headCounts: (counts) => ({ ...counts, output: 1 }),
    content(form) {
      if (form === "unusable") {
        return sse({
          type: "content_block_delta",
          index: 7,
          delta: { type: "text_delta", text: "" },
        });
      }
      const block = { type: "text", text: "" };
      const delta = { type: "text_delta", text: TEXTS[form] };
      return sse({ type: "content_block_start", index: 0, content_block: block }) +
        sse({ type: "content_block_delta", index: 0, delta });
    },
    early: "",
    finish: sse({ type: "content_block_stop", index: 0 }),
    other: sse({ type: "ping" }),
    counts: ({ output }) => {
      const delta = { stop_reason: "end_turn", stop_sequence: null };
      return sse({ type: "message_delta", delta, usage: { output_tokens: output } });
    },
    terminal: sse({ type: "message_stop" }),
    error: (counts) =>
      sse({
        type: "error",
        error: { type: "api_error", message: "no" },
        usage: messagesUsage(counts),
      }),
  },
};
