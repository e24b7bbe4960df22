import { FIELD_VALUE } from "../core/header_fields.ts";
import { isPrivateHost } from "./address.ts";
import { keyVariable, readKey } from "./keys.ts";
import { reportAbsentMembers } from "./litellm_absent.ts";
import { NOT_FOR_REFUSALS } from "./litellm_fallbacks.ts";
import { readHeaders } from "./litellm_headers.ts";
import { refusedMode } from "./litellm_mode.ts";
import { type Parameter, readParameters, unreadParameters } from "./litellm_parameters.ts";
import { type EntryReader, type Parts, readParts } from "./litellm_parts.ts";
import { isPrefix } from "./litellm_prefixes.ts";
import { ADDRESS_KEYS, addressKey, type ServedPlace } from "./litellm_asked.ts";
import { type EntryPrice, readPrice } from "./litellm_price.ts";
import { isTime, readTimeouts } from "./litellm_timeouts.ts";
import type { Settings } from "./providers.ts";
import { memberOf, numberOf, textOf, type Tree } from "./source.ts";
import type { Secret, Variables } from "./variables.ts";

/** Where an entry is in the written file. */
export interface Where {
  /** Path of its provider, of its key in it, of its named model and of its price. */
  readonly provider: string;
  readonly key: string;
  readonly model: string;
  readonly price: string;
  /** Path of the list of its target. */
  readonly targets: string;
  /** The metric by which the entries of the name are weighed; null if they are not. */
  readonly metric: Metric | null;
}

/** An entry of `model_list` that can be served. */
export interface Entry {
  readonly tree: Tree;
  readonly name: string;
  /** The model as LiteLLM knows it and the ID of the entry, by which fallbacks may name it. */
  readonly others: readonly string[];
  /** Wanted ID of its provider, and the settings without the key. */
  readonly id: string;
  readonly settings: Settings;
  /** The key in the form of our file. */
  readonly key: string | null;
  /** Upstream model; undefined if the requested name is sent. */
  readonly model: string | undefined;
  readonly order: number;
  readonly weights: { readonly [metric in Metric]: number | null };
  readonly contextSize: number | null;
  /** True if its requests go to the Responses API of the provider. */
  readonly isResponses: boolean;
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

/** Note for one of several keys. */
const POOL = "of several keys, one that is refused rests, and the next one is tried at once";

const OF_LATER_ORDER = `${NOT_FOR_REFUSALS}; ` +
  "as fallback_on says also after a long prompt or a filter, after which LiteLLM tries no other order";

/** Members that are read besides the parameters. */
const READ = ["order", "timeout", "stream_timeout", "max_parallel_requests", "organization"];

/** Models for which LiteLLM calls the Responses API. */
const RESPONSES = /^(?:[^/]+\/)?responses\//;

/** Reads an entry; reports it as missing and returns null if it cannot be served. */
export function readEntry(tree: Tree, reader: EntryReader): Entry | null {
  const read = readParts(tree, reader);
  if (read.ok) return newEntry(read.parts, reader);
  reader.report.missing(read.tree, read.note);
  reader.report.missing(tree, "its entry is not carried");
  return null;
}

function newEntry(parts: Parts, reader: EntryReader): Entry {
  const { tree, params, named, written, place, upstream } = parts;
  const { report, variables } = reader;
  const get = (key: string) => memberOf(params, key);
  const info = memberOf(tree, "model_info");
  const key = findKey(get("api_key"), place, variables);
  const times = readTimeouts(params, reader.usual);
  const headers = readHeaders(get("extra_headers"), place.id, variables);
  const isCompat = place.settings.type === "compat";
  const account = textOf(get("organization"));
  const organization = isCompat && FIELD_VALUE.test(account ?? "") ? account : null;
  const most = positive(get("max_parallel_requests"));
  const parameters = readParameters(params, report);
  const effort: Settings = parameters.has("effort") && !isCompat
    ? { capabilities: { ...capabilitiesOf(place.settings), reasoning_effort: true } }
    : {};
  const contextSize = positive(memberOf(info, "max_input_tokens"));
  const order = numberOf(get("order"));
  const mode = memberOf(info, "mode");
  const isResponses = isCompat &&
    (textOf(mode) === "responses" || RESPONSES.test(written.text));
  const price = readPrice(params, info);

  function reportAt(
    { provider, key: keyPath, model: place_, targets, price: pricePath, metric }: Where,
  ): void {
    const name = memberOf(tree, "model_name");
    report.noted(name, place_, named.note);
    const texts = ["api_key", ...ADDRESS_KEYS];
    report.notRead(params, texts.filter((one) => textOf(get(one)) === null));
    const notes = [written.note, place.modelNote, key.absent].filter(Boolean).join("; ");
    report.noted(get("model"), [place_, provider], notes);
    const stated = get("custom_llm_provider");
    if (isPrefix(textOf(stated) ?? "")) report.carried(stated, provider);
    else report.missing(stated, "a provider that is not known");
    const address = addressKey(params);
    if (place.addressNote === null) {
      for (const one of ADDRESS_KEYS) {
        report.missing(get(one), "the address of the cloud is called");
      }
    } else if (address !== undefined) {
      report.noted(get(address), `${provider}.base_url`, place.addressNote);
      report.noMeaning(get("api_base"), "that of base_url counts");
    }
    const keyNotes = [key.note, keyPath.endsWith("s") ? POOL : ""].filter(Boolean).join("; ");
    report.noted(get("api_key"), key.text === null ? [] : keyPath, keyNotes);
    for (const { key: member, to, note } of place.used) {
      report.noted(get(member), to === "" ? [] : `${provider}.${to}`, note);
    }
    if (!isCompat) report.missing(get("organization"), "only for providers of the OpenAI API");
    if (organization !== null) report.carried(get("organization"), `${provider}.organization`);
    for (const [value, name, note] of headers.used) {
      report.noted(value, `${provider}.headers.${name}`, note);
    }
    report.missing(get("extra_headers"), "no header that the file can have");
    if (isTime(get("timeout"))) {
      report.differently(
        get("timeout"),
        `${provider}.timeout`,
        "the time to the first byte, and the silence within a stream",
      );
    }
    if (isTime(get("stream_timeout"))) {
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
    const isLater = targets.endsWith("fallback");
    if (order !== null) report.noted(get("order"), targets, isLater ? OF_LATER_ORDER : "");
    if (contextSize !== null) {
      report.carried(memberOf(info, "max_input_tokens"), `${targets}[].context_size`);
    }
    for (const [tree, member] of price?.trees ?? []) {
      if (upstream === undefined) report.missing(tree, "a price is that of one model");
      else report.carried(tree, `${pricePath}.${member}`);
    }
    for (const one of METRICS) {
      if (one !== metric) report.missing(get(one), "no limit or weight of a target here");
      else if (isLater) {
        report.differently(get(one), targets, "tried in order after the targets of the name");
      } else if (one === "weight") report.carried(get(one), targets);
      else report.differently(get(one), targets, "as a weight; it is no limit here");
    }
    const refusal = refusedMode(
      textOf(mode),
      place.settings,
      (upstream ?? named.text) !== named.text,
    );
    if (refusal !== null) report.missing(mode, refusal);
    if (isResponses) report.carried(mode, `${targets}[].upstream_request_type`);
    reportAbsentMembers(params, info, report);
    report.notRead(params, [...READ, ...unreadParameters(params, parameters)]);
  }

  return {
    tree,
    name: named.text,
    others: [written.text, textOf(memberOf(info, "id"))].filter((one) => one !== null),
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
    isResponses,
    parameters,
    price,
    baseModel: memberOf(info, "base_model") ?? get("base_model") ?? null,
    reportAt,
  };
}

/** Returns a whole number above 0; null for any other value. */
function positive(tree: Tree | undefined): number | null {
  const number = numberOf(tree);
  return number !== null && Number.isSafeInteger(number) && number > 0 ? number : null;
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
  place: ServedPlace,
  variables: Variables,
): Key {
  const written = textOf(tree);
  if (place.settings.credential !== undefined) {
    const note = written === null ? "" : "not used: the requests are signed or carry a token";
    return { text: null, note, absent: "" };
  }
  if (written !== null) {
    return {
      ...readKey(written, place.host, keyVariable(place.id, place.host), variables),
      absent: "",
    };
  }
  const { variable, host } = place;
  if (variable === null || host !== null && isPrivateHost(host)) {
    return { text: null, note: "", absent: "" };
  }
  const absent = `without an api_key LiteLLM reads ${variable}, so this is its api_key`;
  return { text: variables.use(variable), note: "", absent };
}
