import { createHash } from "node:crypto";
import type { ClientKey } from "../access/client_key.ts";
import {
  CLOCK_SKEW_S,
  findKey,
  MAX_TOKEN_CHARS,
  type TokenRefusal,
} from "../access/tokens/verify.ts";
import type { TokenClients } from "../access/tokens/token_clients.ts";
import type { Generation } from "../call/generation.ts";
import { readSmallFile } from "../config/files.ts";
import { readKeys } from "../gateway/key_refresh.ts";
import { profileLines } from "./client_lines.ts";
import { newRealWorld } from "./real_world.ts";
import type { Terminal } from "./terminal.ts";

/** The client of a request that is explained, and what is printed of it. */
export interface ExplainedClient {
  /** Null without a key or a token, and if the token is refused. */
  readonly client: ClientKey | null;
  readonly isRefused: boolean;
  readonly lines: readonly string[];
}

/** Returns the text of a file without blanks around it, or that of stdin for the name `-`. */
export async function readToken(file: string, terminal: Pick<Terminal, "input">) {
  const read = file === "-"
    ? { ok: true, text: await terminal.input() } as const
    : await readSmallFile(file);
  return read.ok ? { ok: true, text: read.text.trim() } as const : read;
}

/**
 * Verifies a token as the gateway does, with the keys that its issuer has now. Nothing that is
 * printed has a part of the token.
 */
export async function explainToken(
  token: string,
  { tokens, config }: Generation,
): Promise<ExplainedClient> {
  if (tokens === null) {
    return refused(
      "tokens are not accepted, because security.provider is not jwt or security is off",
    );
  }
  const world = newRealWorld();
  try {
    const digest = createHash("sha256").update(token).digest("base64");
    const reasons: string[] = [];
    const fetches: Promise<void>[] = [];
    // Only the keys of the issuer that the token names are demanded.
    tokens.keySets.onDemand((source) => void fetches.push(fetchKeys(source)));
    const fetchKeys = async (source: string) => {
      const read = await readKeys(source, world);
      if (!read.ok) reasons.push(read.problem);
      tokens.keySets.end(source, read.ok ? read.keys : null, world.now());
    };
    await tokens.authenticate(token, digest, world);
    await Promise.all(fetches);
    const result = await tokens.authenticate(token, digest, world);
    if (result.kind !== "client") return refused(reasonText(result, tokens, reasons));
    const { client } = result;
    const found = findKey(token, tokens.issuers, tokens.keySets, world.now());
    const kid = found.kind === "unverified" ? found.key.kid : null;
    const template = config.security.templates.find(({ name }) => name === client.template);
    const groups = config.security.groups.filter(({ templates }) =>
      templates.includes(client.template ?? "")
    );
    return {
      client,
      isRefused: false,
      lines: [
        `Token of issuer ${client.issuer}, signed by ${kid === null ? "its key" : `key ${kid}`}:`,
        `  client: ${client.name}`,
        `  template: ${client.template}`,
        ...template === undefined
          ? []
          : profileLines(template, [...client.labels], { groups, config }),
      ],
    };
  } finally {
    world.close();
  }
}

function refused(reason: string): ExplainedClient {
  return { client: null, isRefused: true, lines: [`Refused: ${reason}.`] };
}

/** Returns the reason of a refusal, which its client is not shown as exactly. */
function reasonText(
  refusal: TokenRefusal,
  { issuers }: TokenClients,
  problems: readonly string[],
): string {
  const issuer = issuers.find(({ name }) => name === refusal.issuer);
  const of = issuer === undefined ? "" : ` of issuer ${issuer.name}`;
  switch (refusal.kind) {
    case "malformed":
      return "this is no signed token: it has not three parts of base64url with a JSON object as its " +
        "header, or requires an extension";
    case "too_long":
      return `this is longer than a token may be, which is ${MAX_TOKEN_CHARS} characters`;
    case "algorithm":
      return `the algorithm of the token is not in algorithms${of || " of any issuer"}`;
    case "unknown_issuer":
      return "the claim iss is not, byte for byte, that of an issuer";
    case "unknown_key":
      return `the key set${of} has no key with the kid of the token`;
    case "signature":
      return `the signature is not valid for the key${of}, or no single key fits the token`;
    case "audience":
      return `the claim aud has none of: ${issuer?.audience.join(", ")}`;
    case "claims":
      return `the claim exp is missing or is no time, or ${issuer?.subject} names no client`;
    case "expired":
      return `the token has expired, also with ${CLOCK_SKEW_S} s for clocks that differ`;
    case "not_yet":
      return `nbf or iat is more than ${CLOCK_SKEW_S} s in the future`;
    case "not_permitted":
      return `the token is valid, and none of rules${of} fits its claims`;
    case "unavailable":
      return `the keys${of} are not available: ${problems[0] ?? "they are not known"}`;
    case "busy":
      return "too many tokens are verified";
  }
}
