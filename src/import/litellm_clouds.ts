import { STAND_IN_URL } from "./address.ts";
import { addressIn, addressKey, type Asked, type Place, type Used } from "./litellm_asked.ts";
import type { Settings } from "./providers.ts";
import { memberOf, textOf, type Tree } from "./source.ts";
import type { Variables } from "./variables.ts";
import type { Written } from "./written_file.ts";

/** Ends of addresses of Azure after that of the resource. */
const AZURE_ENDINGS = /\/(?:openai|models|anthropic)(?:\/.*)?$/;

/** Returns the place of a model of Azure. */
export function azurePlace(asked: Asked): Place {
  const { model, variables, params, name, prefix } = asked;
  const own = addressIn(asked, AZURE_ENDINGS);
  if (own !== null && !own.ok) {
    return { ok: false, note: `${addressKey(asked.params)} ${own.note}` };
  }
  const [root, host] = own === null
    ? [variables.use(name === "azure" ? "AZURE_API_BASE" : "AZURE_AI_API_BASE", STAND_IN_URL), null]
    : [own.url.replace(/\?.*$/, ""), own.host];
  const isClaude = name === "azure_ai" && /^claude-/.test(model);
  const type = isClaude ? "messages" : "compat";
  const path = isClaude ? "/anthropic" : "/openai/v1";
  const { credential, used } = entraCredential(params, variables);
  return {
    ok: true,
    id: isClaude ? "foundry" : "azure",
    settings: {
      type,
      base_url: `${root}${path}`,
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
      `its endpoint ${path} is called, which needs no version`,
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

/** Returns the place of a model of Bedrock. */
export function bedrockPlace({ params, variables, model }: Asked): Place {
  const [, plain = ""] = BEDROCK_MODEL.exec(model) ?? [];
  const isClaude = plain.startsWith("anthropic.");
  if (!isClaude && !plain.startsWith("openai.")) {
    return { ok: false, note: "only Claude and the models of OpenAI at Bedrock can be served" };
  }
  const written = textOf(memberOf(params, "aws_region_name"));
  const region = written === null
    ? variables.use("AWS_REGION", "us-east-1")
    : variables.text(written, "us-east-1");
  if (!isName(written, variables)) return { ok: false, note: "aws_region_name is no region" };
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
    addressNote: null,
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

/** True for a name that an address can have, for a variable, and for none. */
function isName(written: string | null, variables: Variables): boolean {
  return written === null || variables.reference(written) !== null || /^[\w.:-]+$/.test(written);
}

/** Returns the place of a model of Vertex AI. */
export function vertexPlace({ params, variables, model }: Asked): Place {
  const plain = model.replace(/^gemini\//, "");
  if (!plain.startsWith("gemini-")) {
    const claude = "Claude on Vertex AI has a form of requests that is not spoken here; " +
      "Claude at Anthropic, Bedrock and Azure can be served";
    const isClaude = plain.startsWith("claude-");
    return { ok: false, note: isClaude ? claude : "of Vertex AI only Gemini can be served" };
  }
  const text = (key: string) => textOf(memberOf(params, key));
  const project = text("vertex_project"), location = text("vertex_location");
  if (!isName(project, variables) || !isName(location, variables)) {
    return { ok: false, note: "vertex_project or vertex_location is no name" };
  }
  const inProject = project === null
    ? variables.use("VERTEXAI_PROJECT")
    : variables.text(project, "project");
  const at = location === null
    ? variables.use("VERTEXAI_LOCATION", "us-central1")
    : variables.text(location, "us-central1");
  const written = text("vertex_credentials");
  const isMapping = memberOf(params, "vertex_credentials")?.kind === "mapping";
  if (isMapping || written?.trim().startsWith("{")) {
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
    addressNote: null,
  };
}
