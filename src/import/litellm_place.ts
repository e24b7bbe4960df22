import { hostAt } from "../data/hosts.ts";
import { type Address, hostWord, readAddress, STAND_IN_URL } from "./address.ts";
import { INFERRED, type Prefix, PREFIXES, UNSERVED } from "./litellm_prefixes.ts";
import { hostSettings, type Settings } from "./providers.ts";
import { memberOf, textOf, type Tree } from "./source.ts";
import { variableName, type Variables } from "./variables.ts";
import type { Written } from "./written_file.ts";

/** The provider of an entry and its model there, or why there is none. */
export type Place =
  | {
    readonly ok: true;
    /** Wanted ID of the provider. */
    readonly id: string;
    /** Settings without keys, timeouts and headers. */
    readonly settings: Settings;
    readonly model: string;
    /** Host name; null if a variable holds it. */
    readonly host: string | null;
    /** Variable that LiteLLM reads without an `api_key`; null if it reads none. */
    readonly variable: string | null;
    /** Members of the entry that are a part of a credential or of the address, with their place. */
    readonly used: readonly Used[];
    readonly modelNote: string;
    readonly addressNote: string;
  }
  | { readonly ok: false; readonly note: string };

/** A member of an entry and where it went; a note if it works differently. */
interface Used {
  readonly key: string;
  readonly to: string;
  readonly note: string;
}

/** Endings of addresses that name an endpoint. */
const CHAT_ENDINGS = /\/(?:chat\/completions|completions|embeddings|responses)$/;
const MESSAGES_ENDINGS = /\/v1(?:\/messages)?$/;
const LOCAL_ENDINGS = /\/(?:v1|api(?:\/(?:chat|generate|embed))?)$/;
const NO_ENDINGS = /$^/;

interface Asked {
  readonly params: Tree;
  readonly variables: Variables;
  readonly name: string;
  readonly prefix: Prefix;
  readonly model: string;
}

/** Returns the provider and the model of an entry; `written` is its model without references. */
export function placeOf(written: string, params: Tree, variables: Variables): Place {
  const stated = textOf(memberOf(params, "custom_llm_provider"));
  const slash = written.indexOf("/");
  const first = slash < 0 ? "" : written.slice(0, slash);
  const known = [stated ?? "", first].find((name) => PREFIXES.has(name) || UNSERVED.has(name)) ??
    (slash < 0 ? INFERRED.find(([pattern]) => pattern.test(written))?.[1] : undefined);
  const address = textOf(memberOf(params, "api_base")) ?? textOf(memberOf(params, "base_url"));
  const model = known !== undefined && first === known ? written.slice(slash + 1) : written;
  const prefix = known === undefined ? undefined : PREFIXES.get(known);
  if (known !== undefined && prefix !== undefined) {
    return placeFor({ params, variables, name: known, prefix, model });
  }
  if (address === null) {
    const note = known === undefined
      ? "its provider is not known, and it has no api_base"
      : UNSERVED.get(known) ?? "";
    return { ok: false, note };
  }
  const name = "openai_like";
  const place = placeFor({ params, variables, name, prefix: { kind: "openai" }, model });
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
    case "azure_ai":
      return azurePlace(asked);
    case "bedrock":
      return bedrockPlace(asked);
    case "vertex_ai":
      return vertexPlace(asked);
  }
}

function addressIn({ params, variables }: Asked, endings: RegExp): Address | null {
  const written = textOf(memberOf(params, "api_base")) ?? textOf(memberOf(params, "base_url"));
  return written === null ? null : readAddress(written, endings, variables);
}

function plainPlace(
  asked: Asked,
  type: "compat" | "messages" | "local",
  endings: RegExp,
): Place {
  const { name, prefix, model, variables } = asked;
  const own = addressIn(asked, endings);
  if (own !== null && !own.ok) return { ok: false, note: `api_base ${own.note}` };
  const url = own?.url ?? prefix.address;
  if (url === undefined) return { ok: false, note: `${name} needs an api_base` };
  const host = own === null ? URL.parse(url)?.hostname ?? null : own.host;
  const hosted = name === "hosted_vllm" ? "vllm" : prefix.address === undefined ? null : name;
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
    id: isElsewhere ? idAt(type, url, host, name) : name === "ollama_chat" ? "ollama" : name,
    settings,
    model: variables.text(model),
    host,
    variable: prefix.variable ?? null,
    used: [],
    modelNote: own === null ? prefix.note ?? "" : "",
    addressNote: own?.note ?? "",
  };
}

/** Prefixes that say nothing about the host. */
const GENERIC = ["openai", "custom_openai", "openai_like", "litellm_proxy", "anthropic"];

function idAt(
  type: "compat" | "messages" | "local",
  url: string,
  host: string | null,
  name: string,
): string {
  const plain = name === "ollama_chat" ? "ollama" : name;
  if (!GENERIC.includes(name)) return plain;
  const word = host === null ? null : hostWord(host);
  return hostAt(type, url)?.name ?? word ?? (name === "anthropic" ? "messages" : "server");
}

function azurePlace(asked: Asked): Place {
  const { model, variables, params, name, prefix } = asked;
  const own = addressIn(asked, NO_ENDINGS);
  if (own !== null && !own.ok) return { ok: false, note: `api_base ${own.note}` };
  const [root, host] = own === null
    ? [variables.use(name === "azure" ? "AZURE_API_BASE" : "AZURE_AI_API_BASE", STAND_IN_URL), null]
    : [own.host === null ? own.url : new URL(own.url).origin, own.host];
  const isClaude = name === "azure_ai" && /^claude-/.test(model);
  const type = isClaude ? "messages" : "compat";
  const { credential, used } = entraCredential(params, variables);
  return {
    ok: true,
    id: isClaude ? "foundry" : "azure",
    settings: {
      type,
      base_url: `${root}${isClaude ? "/anthropic" : "/openai/v1"}`,
      ...credential !== null && { credential },
    },
    model: variables.text(model.replace(/^(?:responses|o_series|gpt5_series)\//, "")),
    host,
    variable: credential === null ? prefix.variable ?? null : null,
    used: [
      ...used,
      { key: "api_version", to: "", note: "not sent: the address /openai/v1 has no versions" },
    ],
    modelNote: "the name of the deployment is the model",
    addressNote: [
      `only its host is used, with ${isClaude ? "/anthropic" : "/openai/v1"}`,
      own !== null && own.host === null ? "the variable must not end in a slash" : "",
      own?.note ?? "",
    ].filter(Boolean).join("; "),
  };
}

function entraCredential(params: Tree, variables: Variables) {
  const members = [["tenant_id", "tenant"], ["client_id", "client_id"], [
    "client_secret",
    "client_secret",
  ]] as const;
  const texts = members.map(([key]) => textOf(memberOf(params, key)));
  const [tenant, client, secret] = texts;
  if (tenant == null || client == null || secret == null) return { credential: null, used: [] };
  const kept = variables.secret(secret, "AZURE_CLIENT_SECRET");
  const credential: Settings = {
    type: "entra",
    tenant: variables.text(tenant),
    client_id: variables.text(client),
    client_secret: kept.text ?? "",
  };
  const used: readonly Used[] = members.map(([key, to]) => {
    return { key, to: `credential.${to}`, note: key === "client_secret" ? kept.note : "" };
  });
  return { credential, used };
}

/** Models of Bedrock in front of which LiteLLM writes the way of the call or a region. */
const BEDROCK_MODEL =
  /^(?:(?:converse|converse_like|invoke|mantle)\/)?(?:(?:us|eu|apac|ap|ca|au|jp|global|us-gov)\.)?(.+)$/;

function bedrockPlace({ params, variables, model }: Asked): Place {
  const [, plain = ""] = BEDROCK_MODEL.exec(model) ?? [];
  const isClaude = plain.startsWith("anthropic.");
  if (!isClaude && !plain.startsWith("openai.")) {
    return { ok: false, note: "only Claude and the models of OpenAI at Bedrock can be served" };
  }
  const written = textOf(memberOf(params, "aws_region_name"));
  const region = written === null
    ? variables.use("AWS_REGION", "us-east-1")
    : variables.text(written, "us-east-1");
  const service = isClaude ? "bedrock-mantle" : "bedrock";
  const { members, used } = awsMembers(params, variables);
  const modelId = isClaude ? plain.replace(/(?:-\d{8})?-v\d+(?::\d+)?$/, "") : plain;
  return {
    ok: true,
    id: isClaude ? "bedrock-claude" : "bedrock",
    settings: {
      type: isClaude ? "messages" : "compat",
      base_url: isClaude
        ? `https://bedrock-mantle.${region}.api.aws/anthropic`
        : `https://bedrock-runtime.${region}.amazonaws.com/openai/v1`,
      credential: { type: "aws", region, service, ...members },
    },
    model: variables.text(modelId),
    host: null,
    variable: null,
    used: [{ key: "aws_region_name", to: "credential.region", note: "" }, ...used],
    modelNote:
      `over the ${isClaude ? "Messages API of Bedrock Mantle" : "Chat API of Bedrock"}, as ` +
      "its model without region and version; LiteLLM uses the Converse API",
    addressNote: "",
  };
}

function awsMembers(params: Tree, variables: Variables) {
  const text = (key: string) => textOf(memberOf(params, key));
  const role = text("aws_role_name");
  const token = text("aws_web_identity_token");
  if (role !== null && token !== null) {
    const members: Settings = {
      source: "web_identity",
      role_arn: variables.text(role),
      token_file: variables.text(token.replace(/^file:/, ""), "/run/token"),
    };
    const used: readonly Used[] = [
      { key: "aws_role_name", to: "credential.role_arn", note: "" },
      { key: "aws_web_identity_token", to: "credential.token_file", note: "the path of a file" },
    ];
    return { members, used };
  }
  const kept = [
    ["aws_access_key_id", "access_key_id", "AWS_ACCESS_KEY_ID"],
    ["aws_secret_access_key", "secret_access_key", "AWS_SECRET_ACCESS_KEY"],
    ["aws_session_token", "session_token", "AWS_SESSION_TOKEN"],
  ] as const;
  const members: Record<string, Written> = {};
  const used: Used[] = [];
  for (const [key, to, variable] of kept) {
    const written = text(key);
    if (written === null) {
      if (to !== "session_token") members[to] = variables.use(variable);
      continue;
    }
    const secret = variables.secret(written, variable);
    members[to] = secret.text ?? "";
    used.push({ key, to: `credential.${to}`, note: secret.note });
  }
  return { members, used };
}

function vertexPlace({ params, variables, model }: Asked): Place {
  const plain = model.replace(/^gemini\//, "");
  if (!plain.startsWith("gemini-")) {
    return { ok: false, note: "of Vertex AI only Gemini can be served" };
  }
  const text = (key: string) => textOf(memberOf(params, key));
  const project = text("vertex_project"), location = text("vertex_location");
  const inProject = project === null
    ? variables.use("VERTEXAI_PROJECT")
    : variables.text(project, "project");
  const at = location === null
    ? variables.use("VERTEXAI_LOCATION", "us-central1")
    : variables.text(location, "us-central1");
  const written = text("vertex_credentials");
  if (written !== null && written.trim().startsWith("{")) {
    return {
      ok: false,
      note: "vertex_credentials is a key itself: write it to a file and name that file",
    };
  }
  const credential: Settings = written === null
    ? { type: "google", source: "metadata" }
    : { type: "google", key_file: variables.text(written, "/run/key.json") };
  const host = at === "global" ? "aiplatform.googleapis.com" : `${at}-aiplatform.googleapis.com`;
  return {
    ok: true,
    id: "vertex",
    settings: {
      type: "compat",
      base_url: `https://${host}/v1/projects/${inProject}/locations/${at}/endpoints/openapi`,
      credential,
    },
    model: `google/${variables.text(plain)}`,
    host: null,
    variable: null,
    used: [
      { key: "vertex_project", to: "base_url", note: "" },
      { key: "vertex_location", to: "base_url", note: "" },
      { key: "vertex_credentials", to: "credential.key_file", note: "must be the path of a file" },
    ],
    modelNote: "over the endpoint of Vertex AI for OpenAI clients" +
      (written === null ? ", with the service account of the machine" : ""),
    addressNote: "",
  };
}

/** Returns the name for a variable that gets the key of a provider from the source. */
export function keyVariable({ id, variable }: Extract<Place, { readonly ok: true }>): string {
  return variable !== null && PREFIXES.get(id)?.variable === variable
    ? variable
    : variableName(id, "API_KEY");
}
