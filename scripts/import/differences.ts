/** Differences between LiteLLM and this gateway with one reason. */
export interface Differences {
  readonly reason: string;
  /** Files of `tests/golden/import`, alone, with a model, or with a model and the hosts' status. */
  readonly cases: readonly string[];
}

/**
 * Every difference that `fixtures.ts` finds: it fails on another one, and if one is gone. On 29
 * November 2026, with LiteLLM 1.106.2, all other requests for the names of 63 files, 335, called
 * the same hosts and models in the same order.
 */
export const DIFFERENCES: readonly Differences[] = [
  {
    reason: "LiteLLM does not start with this file; here the report says what is missing",
    cases: [
      "broken_entries",
      "cache_semantic",
      "general_settings",
      "litellm_settings",
      "odd_values",
      "other_sections",
    ],
  },
  {
    reason: "LiteLLM takes ${NAME} as it is written, so that such an entry never worked there",
    cases: ["braced_references b", "braced_references c"],
  },
  {
    reason: "LiteLLM calls no host without a key, even where none is needed",
    cases: [
      "extra_body b",
      "own_addresses d",
      "own_addresses e",
      "own_addresses i",
      "secret_as_key a",
    ],
  },
  {
    reason: "LiteLLM refuses a value of the entry, with which it works here",
    cases: ["model_info b", "parameters d", "unserved_prefixes unknown-with-address", "yaml_1_1 v"],
  },
  {
    reason: "the report has it as missing: an alias with the name of a model",
    cases: ["aliases c"],
  },
  {
    reason: "the report has it as missing: a pattern of another form",
    cases: ["patterns openai/x", "patterns one"],
  },
  {
    reason: "the report has it as missing: a protocol that is not spoken here",
    cases: [
      "only_unserved a",
      "unserved_prefixes m-cohere",
      "unserved_prefixes m-replicate",
      "unserved_prefixes m-text-completion-openai",
    ],
  },
  {
    reason: "the report has it as missing: a name with other signs than names have here",
    cases: [
      "names_that_cannot_be Claude 3.5 Sonnet",
      "names_that_cannot_be modèle",
      "names_that_cannot_be gpt@home",
    ],
  },
  {
    reason: "the report has it as carried differently: Bedrock's endpoints for compatible clients",
    cases: ["bedrock"],
  },
  {
    reason: "not compared: LiteLLM calls no host of Google without credentials that Google accepts",
    cases: ["vertex"],
  },
  {
    reason: "every other target of a name is tried; LiteLLM draws one for each attempt",
    cases: [
      "orders a 500",
      "parameters_that_differ a 500",
      "weights a 500",
      "weights_without_some a 500",
    ],
  },
  {
    reason: "the report has it as carried differently: fallbacks at the top, which LiteLLM ignores",
    cases: ["fallbacks_misplaced a 500"],
  },
];
