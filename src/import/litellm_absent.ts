import { type Absent, reportAbsent } from "./absent.ts";
import type { Report } from "./report.ts";
import { membersOf, type Tree } from "./source.ts";

const NO_PRICE = "a price needs those of input and output tokens";

/** Members for some providers, at an entry whose provider does not read them. */
const OF_OTHERS = [
  ...["api_version", "tenant_id", "client_id", "client_secret"],
  ...["vertex_project", "vertex_location", "vertex_credentials"],
  ...["aws_region_name", "aws_access_key_id", "aws_secret_access_key", "aws_session_token"],
  ...["aws_role_name", "aws_web_identity_token"],
];

/** Members that nothing in our file has, with the reason. */
const MISSING: Absent = {
  ...Object.fromEntries(
    OF_OTHERS.map((
      key,
    ) => [key, "not used: its value is not understood, or the provider has none"]),
  ),
  input_cost_per_token: NO_PRICE,
  output_cost_per_token: NO_PRICE,
  cache_read_input_token_cost: NO_PRICE,
  cache_creation_input_token_cost: NO_PRICE,
  thinking: "named models have no budget of thinking tokens; parameters.effort is nearest",
  frequency_penalty: "no parameter of named models",
  presence_penalty: "no parameter of named models",
  logit_bias: "no parameter of named models",
  seed: "no parameter of named models",
  n: "no parameter of named models",
  user: "no parameter of named models",
  response_format: "no parameter of named models",
  tools: "no parameter of named models",
  tool_choice: "no parameter of named models",
  top_k: "named models have it for providers of other types only",
  max_retries: "repeats of one attempt; retry.max_attempts counts all attempts",
  num_retries: "retries are configured once, for all providers: retry.max_attempts",
  tags: "requests are not routed by tags; match.labels routes by the labels of a client key",
  drop_params:
    "a field that a provider cannot take is refused by name, or named in X-Gateway-Lossy",
  additional_drop_params: "fields are not left out of requests",
  allowed_openai_params: "fields are carried or refused by the table of fields",
  aws_profile_name: "profiles of AWS are not read; use a key or a role",
  azure_ad_token: "use credential of type entra or file",
  max_budget: "budgets belong to client keys",
  budget_duration: "budgets belong to client keys",
  mock_response: "nothing is mocked; switchyard simulate serves test models",
  cache: "caching is configured once for all",
  cooldown_time: "configured once for all: circuit_breaker.open_duration",
  guardrails: "there are no guardrails",
};

/** Members that concern only LiteLLM. */
const NO_MEANING: Absent = {
  stream: "the request says whether it streams",
  supports_function_calling: "LiteLLM's knowledge of the model",
  merge_reasoning_content_in_choices: "how LiteLLM shapes reasoning",
  use_in_pass_through: "LiteLLM's own pass-through",
  use_litellm_proxy: "a switch of LiteLLM's SDK",
  input_cost_per_image: "images of requests have no price of their own",
  output_cost_per_image: "no price of named models",
};

/** Reports the members of an entry and of its `model_info` that have no counterpart. */
export function reportAbsentMembers(params: Tree, info: Tree | undefined, report: Report): void {
  reportAbsent(params, report, MISSING, NO_MEANING);
  for (const [key, tree] of membersOf(params)) {
    if (key.startsWith("supports_")) report.noMeaning(tree, "LiteLLM's knowledge of the model");
  }
  reportInfo(info, report);
}

/** Members of `model_info` that describe a model to users of LiteLLM. */
const DESCRIPTIONS =
  /^(?:id|mode|description|max_tokens|max_output_tokens|supports_.*|db_model|litellm_provider|created_.*|updated_.*|source|metadata|tier|version)$/;

function reportInfo(info: Tree | undefined, report: Report): void {
  for (const [key, tree] of membersOf(info)) {
    if (key === "max_input_tokens") report.notRead(info, [key]);
    if (DESCRIPTIONS.test(key)) report.noMeaning(tree, "describes the model to users of LiteLLM");
    if (/cost/.test(key)) report.missing(tree, NO_PRICE);
    if (/^(?:access_groups|team_id|team_public_model_name)$/.test(key)) {
      report.missing(tree, "client keys name models by patterns: models");
    }
  }
}
