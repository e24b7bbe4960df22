import type { Attempt } from "../../src/observe/report.ts";
import { finish, HELLO, ROLE, sse } from "./streamed.ts";

/** Response of an upstream to one attempt, and the expected reaction of the gateway. */
export interface Outcome {
  readonly name: string;
  /** How the try is reported. */
  readonly reported: Attempt["outcome"];
  /** The upstream certainly did not begin the work. */
  readonly isUntaken: boolean;
  /** The client's answer breaks after it has begun; a stream's only. */
  readonly breaks?: true;
  answer(signal: AbortSignal): Promise<Response>;
}

/** How a body ends. */
type End = "clean" | "reset" | "hang";

const COMPLETION = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
});
const ERROR = { error: { message: "broken", type: "server_error", param: null, code: null } };

function refused(name: string, message: string, isUntaken: boolean): Outcome {
  return {
    name,
    reported: "upstream_unreachable",
    isUntaken,
    answer: () => Promise.reject(new TypeError(message)),
  };
}

function status(code: number, reported: Outcome["reported"], headers = {}): Outcome {
  return {
    name: `status ${code} ${JSON.stringify(headers)}`,
    reported,
    isUntaken: [429, 503, 529].includes(code),
    answer(signal) {
      const body = code === 204 ? null : bodyOf(JSON.stringify(ERROR), "clean", signal);
      return Promise.resolve(new Response(body, { status: code, headers }));
    },
  };
}

function body(
  reported: Outcome["reported"],
  text: string,
  end: End = "clean",
  breaks: { readonly breaks?: true } = {},
): Outcome {
  return {
    name: `${end} ${JSON.stringify(text)}`,
    reported,
    isUntaken: false,
    ...breaks,
    answer: (signal) => Promise.resolve(new Response(bodyOf(text, end, signal))),
  };
}

function bodyOf(text: string, end: End, signal: AbortSignal): ReadableStream {
  let isSent = text === "";
  return new ReadableStream({
    type: "bytes",
    start(controller) {
      signal.addEventListener("abort", () => controller.error(signal.reason));
    },
    pull(controller) {
      if (!isSent) {
        isSent = true;
        return controller.enqueue(new TextEncoder().encode(text));
      }
      if (end === "reset") return controller.error(new TypeError("connection reset"));
      if (end === "hang") return;
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

const HANGS: Outcome = {
  name: "hangs",
  reported: "upstream_timeout",
  isUntaken: false,
  answer: (signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    }),
};

const BEFORE_THE_BODY: readonly Outcome[] = [
  refused("refused", "error sending request: tcp connect error: refused", true),
  refused("no such host", "error sending request: dns error: not found", true),
  refused("no TLS", "error sending request: (Connect): bad certificate", false),
  refused("reset before headers", "error sending request: connection reset", false),
  status(302, "invalid_upstream_status", { location: "/" }),
  status(204, "invalid_upstream_status"),
  status(400, "upstream_rejected"),
  status(404, "upstream_rejected"),
  status(429, "upstream_throttled"),
  status(429, "upstream_throttled", { "retry-after": "2" }),
  status(429, "upstream_throttled", { "retry-after": "3600" }),
  status(500, "upstream_unavailable"),
  status(501, "upstream_error"),
  status(503, "upstream_unavailable"),
  HANGS,
];

const BEGUN = sse(ROLE, HELLO);
const BREAKS = { breaks: true } as const;

/** Everything that may become of a try that asks for a stream. */
export const STREAM_OUTCOMES: readonly Outcome[] = [
  ...BEFORE_THE_BODY,
  body("success", BEGUN + sse(finish(), "[DONE]")),
  body("success", BEGUN + sse(finish())),
  body("success", BEGUN, "clean", BREAKS),
  body("success", BEGUN, "reset", BREAKS),
  body("success", BEGUN, "hang", BREAKS),
  body("success", BEGUN + sse("[DONE]"), "clean", BREAKS),
  body("success", BEGUN + sse("{broken"), "clean", BREAKS),
  body("success", BEGUN + sse(ERROR), "clean", BREAKS),
  body("invalid_upstream_response", ""),
  body("invalid_upstream_response", sse(ROLE)),
  body("invalid_upstream_response", sse("{broken")),
  body("invalid_upstream_response", "<html>"),
  body("upstream_unavailable", sse(ROLE, ERROR)),
  body("upstream_unreachable", sse(ROLE), "reset"),
  body("upstream_timeout", sse(ROLE), "hang"),
];

/** Everything that may become of a try that asks for a whole answer. */
export const ANSWER_OUTCOMES: readonly Outcome[] = [
  ...BEFORE_THE_BODY,
  body("success", COMPLETION),
  body("invalid_upstream_response", ""),
  body("invalid_upstream_response", COMPLETION.slice(0, 50)),
  body("invalid_upstream_response", '{"choices":[]}'),
  body("upstream_unavailable", JSON.stringify(ERROR)),
  body("upstream_unreachable", COMPLETION, "reset"),
];
