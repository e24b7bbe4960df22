import type { JsonObject } from "../../../src/core/json/json.ts";
import { SENTENCES } from "../../../src/api/messages/sentences.ts";
import { hasBlock, memberOf, messagesOf, toolsOf } from "./exchange.ts";
import type { ProviderType, Verdict } from "./results.ts";
import type { Seen, SessionOptions } from "./session.ts";
import {
  calls,
  DONE,
  errorCount,
  expected,
  planned,
  READ,
  SEARCH,
  summaryOf,
  type Use,
} from "./uses.ts";

/** A sentence that the upstream answers as long as a request has a feature. */
interface Repair {
  readonly sentence: string;
  /** True if the request has what the sentence refuses. */
  has(request: JsonObject, headers: Headers): boolean;
  readonly options?: Partial<SessionOptions>;
  readonly types?: readonly ProviderType[];
  /** Last text of the session; absent means that of the usual plan. */
  readonly result?: string;
}

const BETA = "context-management-2025-06-27";
const RESULT_PATH = "messages.2.content.0.tool_result.content.0";

function sendsMore(tokens: number) {
  return ({ max_tokens: most }: JsonObject) => typeof most === "number" && most > tokens;
}

function isThinking(type: string) {
  return (request: JsonObject) => memberOf(request, "thinking", "type") === type;
}

function hasEffort(request: JsonObject): boolean {
  return memberOf(request, "output_config", "effort") !== null;
}

const READS_IMAGE = { prompts: [planned(calls(READ("picture.png")), DONE)] };
const READS_PAPER = { prompts: [planned(calls(READ("paper.pdf")), DONE)] };

/** Answer to the request for a summary, and to the prompt that the client repeats after it. */
const SUMMARY = "<summary>Condensed.</summary>";

/** Returns a plan that ends with the summary; escapes keep the words of it out of the prompt. */
function summaryPlan(...turns: readonly string[]): string {
  return planned(...turns, SUMMARY)
    .replaceAll("<", "\\u003c").replace("Condensed", "Conden\\u0073ed");
}

const REPAIRS: readonly Repair[] = [
  {
    sentence: SENTENCES.extraInput("context_management"),
    has: (request) => request.context_management !== undefined,
  },
  {
    sentence: SENTENCES.extraInput("safeguards"),
    has: (request) => request.safeguards !== undefined,
    options: { args: ["--permission-mode", "auto"] },
  },
  { sentence: SENTENCES.effort, has: hasEffort },
  { sentence: SENTENCES.extraInput("output_config.effort"), has: hasEffort },
  {
    sentence: SENTENCES.extraInput("messages.1.output_config"),
    has: (request) => messagesOf(request).some((message) => message.output_config !== undefined),
  },
  {
    sentence: "adaptive thinking is not supported on this model",
    has: isThinking("adaptive"),
  },
  {
    sentence: `thinking.type: ${SENTENCES.thinkingType("enabled")}`,
    has: isThinking("enabled"),
    options: { model: "claude-sonnet-4-5" },
  },
  {
    sentence: SENTENCES.extraInput("thinking.adaptive.display"),
    has: (request) => memberOf(request, "thinking", "display") !== null,
  },
  {
    sentence: SENTENCES.wrongInput("messages.1.role", "'user' or 'assistant'"),
    has: (request) => messagesOf(request).some(({ role }) => role === "system"),
  },
  {
    sentence: SENTENCES.extraInput("tools.10.custom.defer_loading"),
    has: (request) => toolsOf(request).some((tool) => tool.defer_loading !== undefined),
  },
  {
    sentence: `${RESULT_PATH}: ${SENTENCES.unexpectedTag("tool_reference", ["text", "image"])}`,
    has: (request) => hasBlock(request, "tool_reference"),
    options: { prompts: [planned(SEARCH("CronList"), DONE)] },
  },
  {
    sentence: `Unexpected value(s) \`${BETA}\` for the \`anthropic-beta\` header`,
    has: (_request, headers) => headers.get("anthropic-beta")?.includes(BETA) ?? false,
  },
  { sentence: `max_tokens: ${SENTENCES.maxTokens("128000", "8192")}`, has: sendsMore(8192) },
  {
    sentence: "max_tokens is too large: 128000. This model supports at most 8192 completion tokens",
    has: sendsMore(8192),
    // The gateway rewrites it where it translates.
    types: ["compat", "local", "responses"],
  },
  {
    sentence: "input length and `max_tokens` exceed context limit: 150000 + 128000 > 200000",
    has: sendsMore(50_000),
  },
  {
    sentence: "prompt is too long: 250000 tokens > 200000 maximum",
    has(request) {
      const text = JSON.stringify(request.messages);
      const isLater = messagesOf(request).some(({ role }) => role === "assistant");
      return isLater && !/<summary>|Condensed/.test(text);
    },
    options: { prompts: [summaryPlan("First."), summaryPlan()] },
    result: SUMMARY,
  },
  {
    sentence: `${RESULT_PATH.slice(0, 20)}: Invalid \`signature\` in \`thinking\` block`,
    has: (request) => hasBlock(request, "thinking"),
    options: { prompts: [planned({ think: "A thought.", say: "First." }), planned(DONE)] },
  },
  {
    sentence: `${RESULT_PATH}.image: Could not process image`,
    has: (request) => hasBlock(request, "image"),
    options: READS_IMAGE,
  },
  {
    sentence: `${RESULT_PATH}.document: ${SENTENCES.pdf}`,
    has: (request) => hasBlock(request, "document"),
    options: READS_PAPER,
  },
];

/** The sentences in the order of the rows, each as a session in which the upstream answers it. */
export const SENTENCE_USES: readonly Use[] = REPAIRS.map((repair) => {
  const { sentence, has, options, types } = repair;
  return {
    title: `\`\` ${sentence} \`\``,
    ...types === undefined ? {} : { types },
    options: () => ({
      prompts: [planned(DONE)],
      faults: (request, headers) =>
        has(request, headers) ? { status: 400, message: sentence } : null,
      ...options,
    }),
    check: (seen) => checkRepair(seen, repair),
  };
});

function checkRepair(seen: Seen, { has, result = DONE }: Repair): Verdict {
  const requests = seen.exchanges.filter(({ path }) => path === "/v1/messages");
  if (!requests.some(({ body, headers }) => has(body, headers))) {
    return "fail: the client did not send it";
  }
  const last = requests.at(-1);
  const isLeftOut = last !== undefined && !has(last.body, last.headers);
  const tries = errorCount(seen);
  return expected(
    seen.result === result && isLeftOut,
    summaryOf(seen),
    tries === 0 ? "refused by the gateway" : tries === 1 ? "" : `after ${tries} refusals`,
  );
}
