import { hostAt, HOSTS } from "../data/hosts.ts";
import { hostWord } from "./address.ts";
import { addressIn, addressKey, type Asked, type Place } from "./litellm_asked.ts";
import { azurePlace, bedrockPlace, vertexPlace } from "./litellm_clouds.ts";
import { inferredPrefix, isPrefix, PREFIXES, UNSERVED } from "./litellm_prefixes.ts";
import { hostSettings, type Settings } from "./providers.ts";
import { memberOf, textOf, type Tree } from "./source.ts";
import type { Variables } from "./variables.ts";

const GOOGLE_HOST = new URL(HOSTS.gemini.baseUrl).hostname;

/** Endings of addresses that name an endpoint. */
const CHAT_ENDINGS = /\/(?:chat\/completions|completions|embeddings|responses)$/;
const MESSAGES_ENDINGS = /\/v1(?:\/messages)?$/;
const LOCAL_ENDINGS = /\/(?:v1|api(?:\/(?:chat|generate|embed))?)$/;

/**
 * Returns the provider and the model of an entry; `written` is its model without references, `mode`
 * its kind.
 */
export function placeOf(
  written: string,
  mode: string | null,
  params: Tree,
  variables: Variables,
): Place {
  const stated = textOf(memberOf(params, "custom_llm_provider"));
  const slash = written.indexOf("/");
  const first = slash < 0 ? "" : written.slice(0, slash);
  const known = [stated ?? "", first].find(isPrefix) ??
    (slash < 0 ? inferredPrefix(written) ?? undefined : undefined);
  const model = known !== undefined && first === known ? written.slice(slash + 1) : written;
  const prefix = known === undefined ? undefined : PREFIXES.get(known);
  if (known !== undefined && prefix !== undefined) {
    return placeFor({ params, variables, name: known, prefix, model, mode });
  }
  if (addressKey(params) === undefined) {
    const note = known === undefined
      ? "its provider is not known, and it has no api_base"
      : UNSERVED.get(known) ?? "";
    return { ok: false, note };
  }
  const name = "openai_like";
  const place = placeFor({ params, variables, name, prefix: { kind: "openai" }, model, mode });
  return place.ok ? { ...place, modelNote: "taken as OpenAI-compatible" } : place;
}

function placeFor(asked: Asked): Place {
  switch (asked.prefix.kind) {
    case "openai":
      return plainPlace(asked, "compat", CHAT_ENDINGS);
    case "anthropic":
      return plainPlace(asked, "messages", MESSAGES_ENDINGS);
    case "ollama":
      return plainPlace(asked, "local", LOCAL_ENDINGS);
    case "azure":
      return azurePlace(asked);
    case "azure_ai":
      return isServerless(asked) ? plainPlace(asked, "compat", CHAT_ENDINGS) : azurePlace(asked);
    case "bedrock":
      return bedrockPlace(asked);
    case "vertex_ai":
      return vertexPlace(asked);
  }
}

function plainPlace(
  asked: Asked,
  type: "compat" | "messages" | "local",
  endings: RegExp,
): Place {
  const { name, prefix, variables } = asked;
  const model = type === "compat" ? asked.model.replace(/^responses\//, "") : asked.model;
  const own = addressIn(asked, endings);
  if (own !== null && !own.ok) {
    return { ok: false, note: `${addressKey(asked.params)} ${own.note}` };
  }
  const isGoogle = own?.host === GOOGLE_HOST;
  const url = own === null || isGoogle ? prefix.address : versioned(name, own.url);
  if (url === undefined) return { ok: false, note: `${name} needs an api_base` };
  const host = own === null ? URL.parse(url)?.hostname ?? null : own.host;
  const known = name === "ollama_chat" ? "ollama" : name;
  const hosted = name === "hosted_vllm" ? "vllm" : prefix.address === undefined ? null : known;
  const isElsewhere = own !== null && url !== prefix.address;
  const settings: Settings = {
    type,
    base_url: url,
    ...hostSettings(
      type,
      url,
      isElsewhere && hosted !== "vllm" && hosted !== "ollama" ? null : hosted,
    ),
  };
  return {
    ok: true,
    id: isElsewhere ? idAt(type, url, host, known) : known,
    settings,
    model: variables.text(
      name === "fireworks_ai" && asked.mode !== "embedding" ? fireworksModel(model) : model,
    ),
    host,
    variable: prefix.variable ?? null,
    used: [],
    modelNote: prefix.note === undefined
      ? ""
      : isElsewhere
      ? "taken as OpenAI-compatible; LiteLLM uses an API of the prefix"
      : prefix.note,
    addressNote: own?.note ?? "",
  };
}

/** Prefixes whose addresses LiteLLM ends with `/v1`. */
const VERSIONED = ["mistral", "cometapi"];

function versioned(name: string, url: string): string {
  return !VERSIONED.includes(name) || /\/v1$|\?/.test(url) ? url : `${url}/v1`;
}

/** True for a model of Azure at another address than those of its resources with `/openai/v1`. */
function isServerless(asked: Asked): boolean {
  const own = addressIn(asked, CHAT_ENDINGS);
  if (own === null || !own.ok || own.host === null || asked.model.startsWith("claude-")) {
    return false;
  }
  return !/\.(?:openai|services\.ai|cognitiveservices)\.azure\.com$/.test(own.host);
}

/** Returns a model as Fireworks names it in chats, and as LiteLLM sends it to them. */
function fireworksModel(model: string): string {
  if (/^(?:accounts\/|FW-)|#/.test(model)) return model;
  if (/^(?:routers|models)\//.test(model)) return `accounts/fireworks/${model}`;
  const isRouter = /-fast$|^(?:firerouter|auto|auto-instant)$|^firerouter\//.test(model);
  return `accounts/fireworks/${isRouter ? "routers" : "models"}/${model}`;
}

/** Prefixes that say nothing about the host. */
const GENERIC = ["openai", "custom_openai", "openai_like", "litellm_proxy", "anthropic"];

function idAt(
  type: "compat" | "messages" | "local",
  url: string,
  host: string | null,
  name: string,
): string {
  if (!GENERIC.includes(name)) return name;
  const word = host === null ? null : hostWord(host);
  return hostAt(type, url)?.name ?? word ?? (name === "anthropic" ? "messages" : "server");
}
