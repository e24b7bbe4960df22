import { COMPAT } from "../compat.ts";
import { MESSAGES } from "../messages.ts";
import { type Deps, newApiError } from "../protocol.ts";
import { errorResponse } from "../sim_call.ts";
import { type CloudIdentities, type IssueCall, newIssuers, type TokenCloud } from "./issued.ts";
import { checkSignature, type SignedCall } from "./signature.ts";

/** Identities of the simulated clouds with which a configuration can be tried. */
export const TRIAL_IDENTITIES: CloudIdentities = {
  awsKeys: new Map([["AKIASIMULATED", "simulated-secret"]]),
  clientSecrets: new Set(["simulated-secret"]),
  workloadTokens: new Set(["simulated-token"]),
  serviceAccounts: new Map(),
  apiKeys: new Set(["simulated-key"]),
};

/** How requests to a host of models prove who they are. */
type Proof =
  | { readonly kind: "token"; readonly cloud: TokenCloud }
  | { readonly kind: "signature"; readonly service: string }
  | { readonly kind: "api_key" };

/** A host of models: the addresses below it, each with that of the simulator. */
interface ModelHost {
  /** The first group is the region. */
  readonly name: RegExp;
  readonly proof: Proof;
  readonly paths: readonly (readonly [cloud: RegExp, simulator: string])[];
}

const COMPAT_PATH = [/^\/openai\/v1\//, "/compat/v1/"] as const;
const MESSAGES_PATH = [/^\/anthropic\/v1\//, "/messages/v1/"] as const;

const MODEL_HOSTS: readonly ModelHost[] = [
  {
    name: /^bedrock-mantle\.([a-z0-9-]+)\.api\.aws$/,
    proof: { kind: "signature", service: "bedrock-mantle" },
    paths: [COMPAT_PATH, MESSAGES_PATH],
  },
  {
    name: /^bedrock-runtime\.([a-z0-9-]+)\.amazonaws\.com$/,
    proof: { kind: "signature", service: "bedrock" },
    paths: [COMPAT_PATH],
  },
  {
    name: /^[a-z0-9-]+\.openai\.azure\.com$/,
    proof: { kind: "token", cloud: "entra" },
    paths: [COMPAT_PATH],
  },
  {
    name: /^[a-z0-9-]+\.services\.ai\.azure\.com$/,
    proof: { kind: "token", cloud: "entra" },
    paths: [MESSAGES_PATH],
  },
  {
    name: /^(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com$/,
    proof: { kind: "token", cloud: "google" },
    paths: [
      [/^\/v1\/projects\/[^/]+\/locations\/[^/]+\/endpoints\/openapi\//, "/compat/v1/"],
      [/^\/v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/openai\/v1\//, "/compat/v1/"],
    ],
  },
  {
    name: /^generativelanguage\.googleapis\.com$/,
    proof: { kind: "api_key" },
    paths: [[/^\/v1beta\/openai\//, "/hosts/gemini/v1/"]],
  },
];

type Issuers = ReturnType<typeof newIssuers>;

const ISSUING_HOSTS:
  readonly (readonly [RegExp, (issuers: Issuers, call: IssueCall) => Response])[] = [
    [/^login\.microsoftonline\.com$/, (issuers, call) => issuers.entra(call)],
    [/^oauth2\.googleapis\.com$/, (issuers, call) => issuers.google(call)],
    [/^sts\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$/, (issuers, call) => issuers.sts(call)],
    [/^169\.254\.169\.254$/, (issuers, call) => issuers.metadata(call)],
  ];

const PREFIX = "/clouds/";

/**
 * Returns the clouds: hosts of models that check who sends a request, as those of AWS, Azure and
 * Google do, and the services that issue credentials for them. They are served under their own
 * names, and below `/clouds/NAME`. `answer` responds to a request that is accepted. Null is
 * returned for a request to another host.
 */
export function newClouds(
  deps: Deps,
  identities: CloudIdentities,
  answer: (request: Request) => Promise<Response>,
): (request: Request) => Promise<Response> | null {
  const issuers = newIssuers(deps, identities);

  async function serve(host: ModelHost, place: Place, request: Request): Promise<Response> {
    const found = host.paths.find(([pattern]) => pattern.test(place.path));
    const protocol = found?.[1].startsWith("/messages/") ? MESSAGES : COMPAT;
    const call = { protocol, httpRequest: request, deps };
    if (found === undefined) {
      const message = `The host has no path ${place.path}.`;
      return errorResponse(newApiError(message, { status: 404, code: "unknown_url" }), call);
    }
    const body = await request.bytes();
    const { method, headers } = request;
    const signed = { method, url: new URL(request.url), headers, body };
    const checked = check(host, place, signed);
    if ("problem" in checked) {
      const status = host.proof.kind === "signature" ? 403 : 401;
      return errorResponse(newApiError(checked.problem, { status }), call);
    }
    const [pattern, path] = found;
    const url = `http://simulator${place.path.replace(pattern, path)}${signed.url.search}`;
    // What an account stores belongs to its identity: each signature is another text.
    const sent = new Headers(headers);
    sent.set("authorization", `Bearer ${checked.id}`);
    const hasBody = method !== "GET" && method !== "HEAD";
    return await answer(
      new Request(url, {
        method,
        headers: sent,
        signal: request.signal,
        ...hasBody && { body },
      }),
    );
  }

  function check(
    { proof }: ModelHost,
    { region }: Place,
    call: SignedCall,
  ): { readonly id: string } | { readonly problem: string } {
    if (proof.kind === "signature") {
      const { service } = proof;
      return checkSignature(call, { region, service, nowS: deps.unix(), keys: issuers.keys });
    }
    const token = /^Bearer (\S+)$/.exec(call.headers.get("authorization") ?? "")?.[1] ?? "";
    if (proof.kind === "api_key") {
      return identities.apiKeys.has(token) ? { id: token } : { problem: "The key is not known." };
    }
    const problem = issuers.tokenProblem(token, proof.cloud);
    return problem === null ? { id: proof.cloud } : { problem };
  }

  return (request) => {
    const place = placeOf(new URL(request.url));
    const host = MODEL_HOSTS.find(({ name }) => name.test(place.host));
    if (host !== undefined) {
      const [, region = ""] = host.name.exec(place.host) ?? [];
      return serve(host, { ...place, region }, request);
    }
    const issuing = ISSUING_HOSTS.find(([name]) => name.test(place.host));
    if (issuing === undefined) return null;
    const { method, headers } = request;
    const { path, query } = place;
    const issue = (form: URLSearchParams) =>
      issuing[1](issuers, { method, path, query, headers, form });
    return request.text().then((text) => issue(new URLSearchParams(text)));
  };
}

/** A host of a cloud, and the path and query there. */
interface Place {
  readonly host: string;
  readonly region: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

function placeOf({ hostname, pathname, searchParams: query }: URL): Place {
  if (!pathname.startsWith(PREFIX)) return { host: hostname, region: "", path: pathname, query };
  const [host = ""] = pathname.slice(PREFIX.length).split("/");
  return { host, region: "", path: pathname.slice(PREFIX.length + host.length), query };
}
