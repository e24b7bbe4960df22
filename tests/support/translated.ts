import { providerSchema } from "../../src/config/provider_schema.ts";
import { DEFAULT_TRANSPORT } from "../../src/core/transport.ts";
import type { FaultKind, RefusalKind } from "../../src/core/failure/failure.ts";
import { type Result, success } from "../../src/core/failure/result.ts";
import { parseDocument } from "../../src/formats/document.ts";
import type { Provider, Sender, Target, UpstreamRequest, Wire } from "../../src/wires/wire.ts";
import { assert, assertEquals } from "./assert.ts";

/** Settings as they are written in a configuration file. */
export type Written = Record<string, unknown>;

/** Parsed settings by their texts: the words of a table make thousands of equal providers. */
const parsed = new Map<string, ReturnType<typeof providerSchema.parse>>();

function parsedSettings(written: Written): ReturnType<typeof providerSchema.parse> {
  const text = JSON.stringify(written);
  const known = parsed.get(text) ?? providerSchema.parse(written);
  parsed.set(text, known);
  return known;
}

/** A provider of this type at `http://localhost`. */
export function providerOf(wire: Wire, written: Written = {}): Provider {
  const base_url = "http://localhost";
  const { tls: _tls, api_key = "", api_keys: _keys, capabilities, ...others } = parsedSettings(
    written,
  );
  const { credential: _credential, ...settings } = others;
  return {
    id: "p",
    wire,
    settings: {
      ...settings,
      capabilities: { ...capabilities, relay: capabilities.relay ?? [] },
      type: wire.name === "responses" ? "compat" : wire.name,
      base_url,
      api_keys: api_key === "" ? [] : [{ name: "default", value: api_key, weight: 1 }],
      normalize_developer_role: false,
    },
    base: base_url,
    query: "",
    accounts: [{
      name: "default",
      digest: "account",
      key: api_key === "" ? null : api_key,
      credential: null,
      weight: 1,
      serves: () => true,
    }],
    upstream: "account",
    namespace: "namespace",
    sharedNamespace: "namespace",
    secrets: [],
    transport: DEFAULT_TRANSPORT,
  };
}

/** The target for a model at the first account of a provider. */
export function targetAt(provider: Provider, wire = provider.wire, model = "m"): Target {
  return { ...senderOf(provider), model, wire };
}

/** The first account of a provider. */
export function senderOf(provider: Provider): Sender {
  return { provider, account: provider.accounts[0] };
}

/** The upstream request for the text of a client request, which must have this method and path. */
export function encodeAs(
  expected: `${UpstreamRequest["method"]} /${string}`,
  text: string,
  provider: Provider,
  model = "m",
  wire = provider.wire,
): Result<string> {
  const document = valueOf(parseDocument(text));
  const chat = { document, stream: document.value.stream === true, includeUsage: false };
  const request = wire.encode(chat, targetAt(provider, wire, model));
  if (!request.ok) return request;
  assertEquals(`${request.value.method} ${request.value.path}`, expected);
  return success(request.value.payload?.text() ?? "");
}

/** The value of a step that must have gone well. */
export function valueOf<T>(result: Result<T>): T {
  assert(result.ok, result.ok ? "" : JSON.stringify(result.failure));
  return result.value;
}

/** Asserts kind and path of a step that must have failed; `param` null is no path. */
export function assertFailed(
  result: Result<unknown>,
  kind: RefusalKind | FaultKind,
  param: string | null = null,
): void {
  assert(!result.ok, "went well");
  const { failure } = result;
  const found = { kind: failure.kind, param: "at" in failure ? failure.at : null };
  assertEquals<unknown>(found, { kind, param });
}
