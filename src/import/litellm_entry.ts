import { isHeaderName, isHeaderValue } from "../config/fields.ts";
import { MODEL_NAME } from "../config/models_schema.ts";
import { formatDuration } from "../config/units.ts";
import { isPrivateHost } from "./address.ts";
import { readKey } from "./keys.ts";
import { keyVariable, type Place, placeOf } from "./litellm_place.ts";
import type { Settings } from "./providers.ts";
import type { Report } from "./report.ts";
import { itemsOf, memberOf, membersOf, numberOf, textOf, type Tree, truthOf } from "./source.ts";
import { type Secret, variableName, type Variables } from "./variables.ts";
import type { Written } from "./written_file.ts";

/** Where an entry is in the written file. */
export interface Where {
  /** Path of its provider, of its key in it, of its named model and of its price. */
  readonly provider: string;
  readonly key: string;
  readonly model: string;
  readonly price: string;
  /** The metric by which the entries of the name are weighed; null if they are not. */
  readonly metric: Metric | null;
}

/** A parameter of an entry for the named model, and the value of the source. */
export interface Parameter {
  readonly value: Written;
  readonly tree: Tree;
  readonly note: string;
}

/** Prices of an entry in USD per million tokens, and the values of the source. */
export interface EntryPrice {
  readonly price: Settings;
  readonly trees: readonly (readonly [tree: Tree, member: string])[];
}

/** An entry of `model_list` that can be served. */
export interface Entry {
  readonly tree: Tree;
  readonly name: string;
  /** The model as LiteLLM knows it, by which fallbacks may name the entry. */
  readonly written: string;
  /** Wanted ID of its provider, and the settings without the key. */
  readonly id: string;
  readonly settings: Settings;
  /** The key in the form of our file; null without one. */
  readonly key: string | null;
  /** Upstream model; undefined if the requested name goes on. */
  readonly model: string | undefined;
  readonly order: number;
  readonly weights: { readonly [metric in Metric]: number | null };
  readonly contextSize: number | null;
  readonly parameters: ReadonlyMap<string, Parameter>;
  readonly price: EntryPrice | null;
  readonly baseModel: Tree | null;
  /** Writes the lines of the report that need to know where the entry went. */
  readonly reportAt: (where: Where) => void;
}

/** By what LiteLLM weighs the entries of a name; the first that one of them has. */
export const METRICS = ["weight", "rpm", "tpm"] as const;

/** One of the members by which LiteLLM weighs entries. */
export type Metric = (typeof METRICS)[number];

/** What entries are read with. */
export interface EntryReader {
  readonly report: Report;
  readonly variables: Variables;
  /** Values of `credential_list` by name. */
  readonly credentials: ReadonlyMap<string, Tree>;
  readonly environment: Readonly<Record<string, string>>;
  /** Timeouts for entries without their own, in seconds. */
  readonly usual: Timeouts;
}

/** Timeouts in seconds; null for none. */
export interface Timeouts {
  readonly timeout: number | null;
  readonly stream: number | null;
}

/** Members of an entry that are parameters of named models here. */
const PARAMETERS: Readonly<Record<string, string>> = {
  temperature: "temperature",
  top_p: "top_p",
  max_tokens: "max_tokens",
  max_completion_tokens: "max_tokens",
  reasoning_effort: "effort",
  stop: "stop",
  parallel_tool_calls: "parallel_tool_calls",
  service_tier: "service_tier",
  verbosity: "verbosity",
};

/** Members that nothing in our file has, with the reason. */
const MISSING: Readonly<Record<string, string>> = {
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
const NO_MEANING: Readonly<Record<string, string>> = {
  stream: "the request says whether it streams",
  supports_function_calling: "LiteLLM's knowledge of the model",
  merge_reasoning_content_in_choices: "how LiteLLM shapes reasoning",
  use_in_pass_through: "LiteLLM's own pass-through",
  use_litellm_proxy: "a switch of LiteLLM's SDK",
  input_cost_per_image: "images of requests have no price of their own",
  output_cost_per_image: "no price of named models",
};

/** Members that are read besides the parameters. */
const READ = ["order", "timeout", "stream_timeout", "max_parallel_requests", "organization"];

/** Why an entry cannot be served, with the member of the source that says so. */
interface Refused {
  readonly ok: false;
  readonly tree: Tree | undefined;
  readonly note: string;
}

/** Reads an entry; reports it as missing and returns null if it cannot be served. */
export function readEntry(tree: Tree, reader: EntryReader): Entry | null {
  const read = readParts(tree, reader);
  if (read.ok) return newEntry(read.parts, reader);
  reader.report.missing(read.tree, read.note);
  reader.report.missing(tree, "its entry is not carried");
  return null;
}

interface Named {
  readonly text: string;
  /** Note about a variable that was read; empty for a plain text. */
  readonly note: string;
  /** A variable that is not set. */
  readonly unset: string | null;
}

/** Returns a text, or the value of the variable that it names: names and models are no secrets. */
function resolved(tree: Tree | undefined, { environment, variables }: EntryReader): Named | null {
  const text = textOf(tree);
  if (text === null) return null;
  const name = variables.reference(text);
  if (name === null) return { text, note: "", unset: null };
  const value = Object.hasOwn(environment, name) ? environment[name] ?? "" : "";
  if (value === "") return { text: "", note: "", unset: name };
  return { text: value, note: `the value of ${name} at the time of the import`, unset: null };
}

function readParts(
  tree: Tree,
  reader: EntryReader,
): { readonly ok: true; readonly parts: Parts } | Refused {
  const params = withCredential(memberOf(tree, "litellm_params"), reader);
  const [nameTree, modelTree] = [memberOf(tree, "model_name"), memberOf(params, "model")];
  const [named, written] = [resolved(nameTree, reader), resolved(modelTree, reader)];
  if (named === null) return refused(nameTree ?? tree, "the entry has no model_name");
  if (params === undefined || written === null) {
    return refused(modelTree ?? nameTree, "the entry has no litellm_params.model");
  }
  if (named.unset !== null) {
    return refused(nameTree, `the variable ${named.unset} is not set: set it for the import`);
  }
  if (written.unset !== null) {
    const note =
      `the variable ${written.unset} is not set: its value names the provider, so set it for the import`;
    return refused(modelTree, note);
  }
  if (!MODEL_NAME.test(named.text)) {
    const note =
      "a name here is 1 to 128 letters, digits and ._:/*- and begins with a letter, a digit or *";
    return refused(nameTree, note);
  }
  const place = placeOf(written.text, params, reader.variables);
  if (!place.ok) return refused(modelTree, place.note);
  const upstream = upstreamModel(named.text, place.model);
  return upstream.ok
    ? { ok: true, parts: { tree, params, named, written, place, upstream: upstream.model } }
    : refused(modelTree, upstream.note);
}

function refused(tree: Tree | undefined, note: string): Refused {
  return { ok: false, tree, note };
}

/** Returns the model that is sent; between equal patterns it is the requested name. */
function upstreamModel(name: string, model: string) {
  const isPattern = name.includes("*");
  if (model.trim() === "") return { ok: false, note: "it names no model" } as const;
  if (!model.includes("*")) return { ok: true, model } as const;
  if (isPattern && model === name) return { ok: true, model: undefined } as const;
  const note = isPattern
    ? "the text of * is not sent alone; name the models, or use a route with match.models"
    : "a model with * needs a name with *";
  return { ok: false, note } as const;
}

/** Returns the parameters of an entry with those of the credential that it names. */
function withCredential(
  params: Tree | undefined,
  { credentials, report }: EntryReader,
): Tree | undefined {
  const name = memberOf(params, "litellm_credential_name");
  if (name === undefined || params?.kind !== "mapping") return params;
  const values = credentials.get(textOf(name) ?? "");
  if (values === undefined) {
    report.missing(name, "credential_list has no credential with this name");
    return params;
  }
  report.carried(name, "providers");
  const members = new Map([...membersOf(values), ...params.members]);
  return { ...params, members };
}

interface Parts {
  readonly tree: Tree;
  readonly params: Tree;
  readonly named: Named;
  readonly written: Named;
  readonly place: Extract<Place, { readonly ok: true }>;
  readonly upstream: string | undefined;
}

function newEntry(parts: Parts, reader: EntryReader): Entry {
  const { tree, params, named, written, place, upstream } = parts;
  const { report, variables } = reader;
  const get = (key: string) => memberOf(params, key);
  const info = memberOf(tree, "model_info");
  const key = findKey(get("api_key"), place, variables);
  const times = readTimeouts(params, reader.usual);
  const headers = readHeaders(get("extra_headers"), place.id, variables);
  const organization = textOf(get("organization"));
  const most = numberOf(get("max_parallel_requests"));
  const parameters = readParameters(params, report);
  const effort: Settings = parameters.has("effort") && place.settings.type !== "compat"
    ? { capabilities: { ...capabilitiesOf(place.settings), reasoning_effort: true } }
    : {};
  const size = numberOf(memberOf(info, "max_input_tokens"));
  const order = numberOf(get("order"));
  const contextSize = size !== null && Number.isSafeInteger(size) && size > 0 ? size : null;
  const price = readPrice(params, info);

  function reportAt(
    { provider, key: keyPath, model: place_, price: pricePath, metric }: Where,
  ): void {
    const name = memberOf(tree, "model_name");
    report.noted(name, place_, named.note);
    const texts = ["api_key", "api_base", "base_url"];
    report.notRead(params, texts.filter((one) => textOf(get(one)) === null));
    const notes = [written.note, place.modelNote, key.absent].filter(Boolean).join("; ");
    report.noted(get("model"), [place_, provider], notes);
    report.carried(get("custom_llm_provider"), provider);
    for (const one of ["api_base", "base_url"]) {
      report.noted(get(one), `${provider}.base_url`, place.addressNote);
    }
    report.noted(get("api_key"), key.text === null ? [] : keyPath, key.note);
    for (const { key: member, to, note } of place.used) {
      report.noted(get(member), to === "" ? [] : `${provider}.${to}`, note);
    }
    if (organization !== null) report.carried(get("organization"), `${provider}.organization`);
    for (const [value, name, note] of headers.used) {
      report.noted(value, `${provider}.headers.${name}`, note);
    }
    report.missing(get("extra_headers"), "no header with a text");
    if (times.timeout !== undefined) {
      report.differently(
        get("timeout"),
        `${provider}.timeout`,
        "the time to the first byte, and the silence within a stream",
      );
    }
    if (times.stream_idle_timeout !== undefined) {
      report.differently(
        get("stream_timeout"),
        `${provider}.stream_idle_timeout`,
        "the silence within a stream",
      );
    }
    if (most !== null) {
      report.differently(
        get("max_parallel_requests"),
        `${provider}.max_concurrent`,
        "for all models of the provider together",
      );
    }
    if (order !== null) report.carried(get("order"), place_);
    if (contextSize !== null) {
      report.carried(memberOf(info, "max_input_tokens"), `${place_}.context_size`);
    }
    for (const [tree, member] of price?.trees ?? []) report.carried(tree, `${pricePath}.${member}`);
    for (const one of METRICS) {
      if (one !== metric) report.missing(get(one), "no limit or weight of a target here");
      else if (one === "weight") report.carried(get(one), `${place_}.targets`);
      else report.differently(get(one), `${place_}.targets`, "as a weight; it is no limit here");
    }
    for (const [member, note] of Object.entries(MISSING)) report.missing(get(member), note);
    for (const [member, note] of Object.entries(NO_MEANING)) report.noMeaning(get(member), note);
    for (const [member, value] of membersOf(params)) {
      if (member.startsWith("supports_")) {
        report.noMeaning(value, "LiteLLM's knowledge of the model");
      }
    }
    const taken = new Set([...parameters.values()].map((one) => one.tree));
    const others = Object.keys(PARAMETERS).filter((one) => !taken.has(get(one) ?? tree));
    report.notRead(params, [...READ, ...others]);
    reportInfo(info, report);
  }

  return {
    tree,
    name: named.text,
    written: written.text,
    id: place.id,
    settings: {
      ...place.settings,
      ...effort,
      ...times,
      ...headers.headers !== null && { headers: headers.headers },
      ...organization !== null && { organization: variables.text(organization) },
      ...most !== null && { max_concurrent: most },
    },
    key: key.text,
    model: upstream,
    order: order ?? Infinity,
    weights: {
      weight: numberOf(get("weight")),
      rpm: numberOf(get("rpm")),
      tpm: numberOf(get("tpm")),
    },
    contextSize,
    parameters,
    price,
    baseModel: memberOf(info, "base_model") ?? get("base_model") ?? null,
    reportAt,
  };
}

function capabilitiesOf({ capabilities }: Settings): Settings {
  return typeof capabilities === "object" && !Array.isArray(capabilities)
    ? capabilities as Settings
    : {};
}

interface Key extends Secret {
  /** Note for the model of an entry without a key. */
  readonly absent: string;
}

function findKey(
  tree: Tree | undefined,
  place: Extract<Place, { readonly ok: true }>,
  variables: Variables,
): Key {
  const written = textOf(tree);
  if (place.settings.credential !== undefined) {
    const note = written === null ? "" : "not used: the requests are signed or carry a token";
    return { text: null, note, absent: "" };
  }
  if (written !== null) {
    return { ...readKey(written, place.host, keyVariable(place), variables), absent: "" };
  }
  const { variable, host } = place;
  if (variable === null || host !== null && isPrivateHost(host)) {
    return { text: null, note: "", absent: "" };
  }
  const absent = `without an api_key LiteLLM reads ${variable}, so this is its api_key`;
  return { text: variables.use(variable), note: "", absent };
}

/** Returns the timeouts of a provider; a value that is no number of seconds gives none. */
function readTimeouts(params: Tree, usual: Timeouts): Settings {
  const own = numberOf(memberOf(params, "timeout")) ?? usual.timeout;
  const stream = numberOf(memberOf(params, "stream_timeout")) ?? usual.stream ?? own;
  return {
    ...own !== null && own > 0 && { timeout: seconds(own) },
    ...stream !== null && stream > 0 && { stream_idle_timeout: seconds(stream) },
  };
}

/** Returns a duration for a number of seconds, at least a millisecond. */
export function seconds(value: number): string {
  return formatDuration(Math.min(Math.max(Math.round(value * 1_000), 1), Number.MAX_SAFE_INTEGER));
}

/** Pattern of headers whose values are secrets. */
const SECRET_HEADER = /auth|key|token|secret|cookie|password|credential/i;

/**
 * True for a value that may be a secret under any name: a long word of letters and digits, also
 * after a scheme, or a UUID. Versions of APIs have dashes between shorter words.
 */
function mayBeSecret(text: string): boolean {
  const words = text.split(" ");
  const word = words.at(-1) ?? "";
  if (words.length > 2) return false;
  return /^(?:sk-|[\da-f]{8}-[\da-f]{4}-)/.test(word) ||
    [/^\w{16}/, /^\w*\d/, /^\w*[A-Za-z]/].every((pattern) => pattern.test(word));
}

function readHeaders(tree: Tree | undefined, id: string, variables: Variables) {
  const headers: Record<string, Written> = {};
  const used: (readonly [tree: Tree, name: string, note: string])[] = [];
  for (const [name, value] of membersOf(tree)) {
    const text = textOf(value);
    if (text === null || !isHeaderName(name) || !isHeaderValue(text)) continue;
    if (Object.keys(headers).some((other) => other.toLowerCase() === name.toLowerCase())) continue;
    const isSecret = SECRET_HEADER.test(name) || mayBeSecret(text);
    const wanted = `${id}_${name}`.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
    const secret = isSecret ? variables.secret(text, variableName(wanted, "HEADER")) : null;
    headers[name] = secret?.text ?? variables.text(text);
    used.push([value, name, secret?.note ?? ""]);
  }
  return { headers: used.length > 0 ? headers : null, used };
}

function readParameters(params: Tree, report: Report): ReadonlyMap<string, Parameter> {
  const found = new Map<string, Parameter>();
  const extra = memberOf(params, "extra_body");
  const all = [
    ...membersOf(params).map(([key, tree]) => [key, tree, ""] as const),
    ...membersOf(extra).map(([key, tree]) =>
      [key, tree, "a default here: the value of the request wins"] as const
    ),
  ];
  for (const [key, tree, note] of all) {
    const name = Object.hasOwn(PARAMETERS, key) ? PARAMETERS[key] : undefined;
    const value = name === undefined ? null : parameterValue(name, tree);
    if (name === undefined || value === null || found.has(name)) continue;
    found.set(name, { value, tree, note });
  }
  const taken = new Set([...found.values()].map(({ tree }) => tree));
  for (const [, tree] of membersOf(extra)) {
    if (!taken.has(tree)) report.missing(tree, "no parameter of named models");
  }
  return found;
}

/** Returns a parameter as named models have it; null if it is invalid there. */
function parameterValue(name: string, tree: Tree): Written | null {
  switch (name) {
    case "temperature":
      return within(numberOf(tree), 0, 2);
    case "top_p":
      return within(numberOf(tree), 0, 1);
    case "max_tokens": {
      const number = numberOf(tree);
      return Number.isSafeInteger(number) ? within(number, 1, Infinity) : null;
    }
    case "parallel_tool_calls":
      return truthOf(tree);
    case "stop": {
      const texts = itemsOf(tree).map(textOf).filter((text) => text !== null);
      return texts.length === itemsOf(tree).length ? texts.map(escaped) : null;
    }
    default: {
      const text = textOf(tree);
      return text !== null && /^[a-z][a-z_]*$/.test(text) ? text : null;
    }
  }
}

function escaped(text: string): string {
  return text.replaceAll("${", () => "$${");
}

function within(value: number | null, min: number, max: number): number | null {
  return value !== null && value >= min && value <= max ? value : null;
}

/** Members with a price of one token, and those of `pricing`. */
const PRICES = [
  ["input_cost_per_token", "input"],
  ["output_cost_per_token", "output"],
  ["cache_read_input_token_cost", "cached_input"],
  ["cache_creation_input_token_cost", "cache_write"],
] as const;

const MILLION = 1_000_000;

/** Digits of a price that are exact after the product with a million. */
const PRICE_DIGITS_COUNT = 12;

function readPrice(params: Tree, info: Tree | undefined): EntryPrice | null {
  const price: Record<string, number> = {};
  const trees: [Tree, string][] = [];
  for (const [key, member] of PRICES) {
    const tree = memberOf(info, key) ?? memberOf(params, key);
    const value = numberOf(tree);
    if (tree === undefined || value === null || value < 0) continue;
    price[member] = Number((value * MILLION).toPrecision(PRICE_DIGITS_COUNT));
    trees.push([tree, member]);
  }
  return price.input === undefined || price.output === undefined ? null : { price, trees };
}

/** Members of `model_info` that describe a model to users of LiteLLM. */
const DESCRIPTIONS =
  /^(?:id|mode|description|max_tokens|max_output_tokens|supports_.*|db_model|litellm_provider|created_.*|updated_.*|source|team_id|metadata|tier|version)$/;

function reportInfo(info: Tree | undefined, report: Report): void {
  for (const [key, tree] of membersOf(info)) {
    if (DESCRIPTIONS.test(key)) report.noMeaning(tree, "describes the model to users of LiteLLM");
    if (/cost/.test(key)) report.missing(tree, "a price needs those of input and output tokens");
    if (key === "access_groups") {
      report.missing(tree, "client keys name models by patterns: models");
    }
  }
}
