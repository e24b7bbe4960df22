import * as z from "zod";
import { duration, integer, section, text } from "./fields.ts";

/** Names of the built-in detectors. */
export const DETECTOR_NAMES = [
  "email",
  "phone",
  "card",
  "iban",
  "us_ssn",
  "aws_key",
  "github_token",
  "slack_token",
  "api_key",
  "private_key",
] as const;

/** Name of a built-in detector. */
export type DetectorName = (typeof DETECTOR_NAMES)[number];

const CHECK_NAMES = ["luhn", "mod97", "mod11", "verhoeff"] as const;

/** Name of a check of the last digit or digits of a number. */
export type CheckName = (typeof CHECK_NAMES)[number];

/** Bounds of `privacy`: a call searches for all rules of its policies. */
const MAX_RULES = 200, MAX_POLICIES = 100, MAX_WORD_CHARS = 128;

/** Bounds of `max_length`. */
const MAX_MATCH_CHARS = 1_024;

/** A character of words: `words` finds only texts that have one. */
export const WORD_CHARACTER = /[\p{L}\p{N}_]/u;

const RULE_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,39}$/;

const rule = section({
  name: z.string().regex(RULE_NAME, {
    error: "must be 1 to 40 letters, digits, underscores and hyphens, and begin with a letter",
  }).describe("Unique name of the rule in headers, log lines and metrics."),
  find: z.array(z.enum(DETECTOR_NAMES)).min(1).optional().describe(
    "Built-in detectors. One of find, words and pattern is set.",
  ),
  words: z.array(text().max(MAX_WORD_CHARS)).min(1).optional()
    .describe("Whole words and phrases, whatever their letter case; at most 10,000 in a file."),
  pattern: text().optional()
    .describe(
      "Pattern in the syntax of RE2. Of a pattern with a group value, as in (?P<value>...), only that part counts.",
    ),
  contains: z.array(text()).min(1).optional().describe(
    "With pattern: only strings in which one of these texts is are searched, which makes it cheap.",
  ),
  check: z.enum(CHECK_NAMES).optional()
    .describe("With pattern: the check digits that a match must have."),
  max_length: integer(1, MAX_MATCH_CHARS).optional()
    .describe("With pattern: the longest match in characters; a longer one counts to this length."),
  except: z.array(text()).default([])
    .describe("Values that are no match, such as noreply@example.com."),
  label: z.string().regex(/^[a-z]{2,12}$/, { error: "must be 2 to 12 letters from a to z" })
    .optional().describe(
      "What a mask and a token show; by default the letters of the detector or of the rule's name.",
    ),
  phase: z.enum(["request", "response"]).default("request")
    .describe("Whether the rule looks at what clients send, or at what models answer."),
  action: z.enum(["refuse", "mask", "replace", "monitor"]).describe(
    "refuse the request, send the label, send a token that becomes the value again in the answer, or only count.",
  ),
});

const policy = section({
  name: text().describe("Unique name of the policy."),
  rules: z.array(text()).min(1).describe("Names of rules."),
  unread: z.enum(["allow", "refuse"]).default("allow").describe(
    "Whether requests may have what no rule can read: images, documents, audio and lists of tokens.",
  ),
});

/** The default of `max_length`. */
export const DEFAULT_MATCH_CHARS = 64;

/** Schema of `privacy`. */
export const privacySchema = section({
  secret: z.string().optional().describe(
    "32 bytes in base64 from which tokens are made, so that they are the same after a restart and in " +
      "each process; default: made from the first of state.encryption_keys, else random in each process.",
  ),
  rules: z.array(rule).max(MAX_RULES).default([])
    .describe("What is looked for, and what becomes of it."),
  policies: z.array(policy).max(MAX_POLICIES).default([])
    .describe("Sets of rules that client keys, templates and groups select by name."),
  default: text().optional().describe(
    "Name of the policy of every call. The policies of a call add up: a key or a group can add rules and remove none.",
  ),
  max_search_time: duration(1).prefault("2s")
    .describe("Longest time for the search of one request; beyond it 503, and nothing is sent."),
});

/** Schema of the name of a policy that a client key, a template or a group selects. */
export const policyName = text().optional()
  .describe("Name of a privacy policy, besides privacy.default and those of its groups.");
