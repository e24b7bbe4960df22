/**
 * Errors by which hosts of models say what a client can repair: the rows of each table have a date
 * and a source. Repetitions are bounded, so that each pattern takes time in proportion to the text.
 */

/** Pattern of one kind of error: all members that are present must match. */
export interface HostError {
  /** Hosts that send it. */
  readonly hosts: string;
  readonly statuses?: readonly number[];
  readonly code?: string;
  readonly type?: string;
  /** Matches a part of the message. */
  readonly sentence?: RegExp;
  /** Day of the facts. */
  readonly asOf: string;
  /** Source that was read for the row; `UNREAD` if none was. */
  readonly source: string;
}

/** An error with the message that names the largest number of completion tokens. */
export interface TokenLimitError extends HostError {
  /** Has the group `most`, and `requested` if the message repeats the number of the request. */
  readonly sentence: RegExp;
}

/** Source of a row without one: the page of the host was out of reach. */
const UNREAD = "from memory";

/** Packages that recognise the messages of hosts, with the versions that were read. */
const PI_AI = "npm @mariozechner/pi-ai 0.73.1, dist/utils/overflow.js";
const CLAUDE_CODE = "npm @anthropic-ai/claude-code 2.1.330";
const LITELLM = "PyPI litellm 1.81.10, litellm_core_utils/exception_mapping_utils.py";
const OPENAI_SDK = "PyPI openai 3.54.0, types/beta/session_turn_error.py";

const FIELD = "[`'\"]?max_(?:completion_|output_)?tokens[`'\"]?";
const BOUND = "[`'\"]?(?<most>\\d{1,15})";

/** Messages about a token limit of a request that is too large. */
export const TOKEN_LIMIT_ERRORS: readonly TokenLimitError[] = [
  {
    hosts: "OpenAI",
    sentence:
      /max_(?:completion_)?tokens is too large: (?<requested>\d{1,15})\. This model supports at most (?<most>\d{1,15}) completion tokens/,
    asOf: "2026-11-23",
    source: UNREAD,
  },
  {
    hosts: "OpenAI",
    sentence: /expected a value <= (?<most>\d{1,15}), but got (?<requested>\d{1,15})/i,
    asOf: "2026-11-23",
    source: UNREAD,
  },
  {
    hosts: "Groq",
    sentence: new RegExp(`maximum value for ${FIELD} is less than or equal to ${BOUND}`, "i"),
    asOf: "2026-11-23",
    source: UNREAD,
  },
  {
    hosts: "Groq and others",
    sentence: new RegExp(
      `${FIELD}(?: value)? must be (?:less than or equal to|at most|<=) ${BOUND}`,
      "i",
    ),
    asOf: "2026-11-23",
    source: UNREAD,
  },
  {
    hosts: "DeepSeek, Alibaba Model Studio",
    sentence: new RegExp(`range of ${FIELD} (?:is|should be) \\[\\d{1,15}, ?${BOUND}\\]`, "i"),
    asOf: "2026-11-23",
    source: UNREAD,
  },
  {
    hosts: "others",
    sentence: new RegExp(
      `(?:largest|highest|maximum)(?: \\w{1,15})? ${FIELD}(?: \\w{1,15})? is ${BOUND}`,
      "i",
    ),
    asOf: "2026-11-23",
    source: UNREAD,
  },
];

/** Errors of a prompt that is too long for the model. */
export const CONTEXT_LENGTH_ERRORS: readonly HostError[] = [
  {
    hosts: "OpenAI, Azure OpenAI, Groq and others",
    code: "context_length_exceeded",
    asOf: "2026-11-28",
    source: OPENAI_SDK,
  },
  {
    hosts: "llama.cpp server",
    type: "exceed_context_size_error",
    asOf: "2026-11-28",
    source: UNREAD,
  },
  {
    hosts: "OpenAI, vLLM, DeepSeek, OpenRouter, Mistral",
    sentence:
      /maximum context length (?:is|of) \d{1,15}|model with \d{1,15} maximum context length/i,
    asOf: "2026-11-28",
    source: PI_AI,
  },
  { hosts: "OpenAI", sentence: /exceeds the context window/i, asOf: "2026-11-28", source: PI_AI },
  { hosts: "Anthropic", sentence: /prompt is too long/i, asOf: "2026-11-28", source: PI_AI },
  {
    hosts: "Anthropic",
    sentence: /input length and `?max_tokens`? exceed context limit/i,
    asOf: "2026-11-28",
    source: CLAUDE_CODE,
  },
  {
    hosts: "Amazon Bedrock",
    sentence: /input is too long for requested model/i,
    asOf: "2026-11-28",
    source: PI_AI,
  },
  {
    hosts: "Google Gemini, Google Vertex AI",
    sentence: /input token count.{0,40} exceeds the maximum number of tokens/i,
    asOf: "2026-11-28",
    source: PI_AI,
  },
  { hosts: "xAI", sentence: /maximum prompt length is \d/i, asOf: "2026-11-28", source: PI_AI },
  {
    hosts: "Groq",
    sentence: /reduce the length of the messages/i,
    asOf: "2026-11-28",
    source: PI_AI,
  },
  {
    hosts: "GitHub Copilot",
    sentence: /prompt token count of \d{1,15} exceeds the limit/i,
    asOf: "2026-11-28",
    source: PI_AI,
  },
  {
    hosts: "llama.cpp server",
    sentence: /exceeds the available context size/i,
    asOf: "2026-11-28",
    source: PI_AI,
  },
  {
    hosts: "LM Studio",
    sentence: /greater than the context length/i,
    asOf: "2026-11-28",
    source: PI_AI,
  },
  {
    hosts: "Ollama",
    sentence:
      /prompt too long; exceeded (?:max )?context length|input length exceeds the (?:maximum )?context length/i,
    asOf: "2026-11-28",
    source: `${PI_AI}; the second sentence ${UNREAD}`,
  },
  {
    hosts: "Moonshot",
    sentence: /exceeded model token limit/i,
    asOf: "2026-11-28",
    source: PI_AI,
  },
  {
    hosts: "MiniMax",
    sentence: /context window exceeds limit/i,
    asOf: "2026-11-28",
    source: PI_AI,
  },
  {
    hosts: "z.ai",
    sentence: /model_context_window_exceeded/i,
    asOf: "2026-11-28",
    source: PI_AI,
  },
];

/** Errors by which the filter of a host refuses a prompt or a response. */
export const CONTENT_FILTER_ERRORS: readonly HostError[] = [
  {
    hosts: "Azure OpenAI",
    code: "content_filter",
    asOf: "2026-11-28",
    source: UNREAD,
  },
  {
    hosts: "OpenAI",
    code: "content_policy_violation",
    asOf: "2026-11-28",
    source: LITELLM,
  },
  {
    hosts: "Anthropic",
    statuses: [400],
    sentence: /blocked by content filtering policy/i,
    asOf: "2026-11-28",
    source: CLAUDE_CODE,
  },
  {
    hosts: "Alibaba Model Studio",
    code: "data_inspection_failed",
    asOf: "2026-11-28",
    source: UNREAD,
  },
  {
    hosts: "DeepSeek",
    statuses: [400],
    sentence: /^Content Exists Risk$/i,
    asOf: "2026-11-28",
    source: UNREAD,
  },
];

/**
 * Errors of a tool loop that continues without thinking, by a model that thinks before its calls.
 */
export const MISSING_THINKING_ERRORS: readonly HostError[] = [
  {
    hosts: "Anthropic",
    statuses: [400],
    sentence:
      /^(?:messages\.\d{1,9}\.content\.\d{1,9}(?:\.type)?: )?Expected `thinking` or `redacted_thinking`, but found/,
    asOf: "2026-11-28",
    source: UNREAD,
  },
];
