import { RELAY_FAMILIES, type RelayFamily } from "../core/endpoint.ts";
import type { Refusal } from "../core/failure/failure.ts";
import { type Failed, refuse, type Result, success } from "../core/failure/result.ts";
import type { Provider } from "../wires/wire.ts";
import type { Call } from "../call/call.ts";
import { refuseProvider } from "../access/permissions.ts";

/** Capability that a provider must declare before requests for its own stored state are sent. */
export type NativeCapability =
  | "chat_completions_lifecycle"
  | "responses_lifecycle"
  | "conversations"
  | "response_cancellation"
  | "response_compaction"
  | "response_input_tokens"
  | RelayFamily;

/** The parts of a call that decide which provider may serve it. */
type Configured = Pick<Call, "generation" | "client">;

/** True if a provider declares the capability in the configuration of the call. */
export function hasCapability(
  { settings: { type, capabilities } }: Provider,
  capability: NativeCapability,
): boolean {
  if (type !== "compat") return false;
  return isRelayed(capability) ? capabilities.relay.includes(capability) : capabilities[capability];
}

function isRelayed(capability: NativeCapability): capability is RelayFamily {
  return RELAY_FAMILIES.some((family) => family === capability);
}

/** Returns the key of the configuration that declares a capability, and what to write there. */
function keyOf(capability: NativeCapability): string {
  return isRelayed(capability)
    ? `capabilities.relay: [${capability}]`
    : `capabilities.${capability}`;
}

/**
 * Returns the refusal of a provider that does not declare the capability; null if it does.
 * `isNamed` is true if the client names the provider.
 */
export function refuseIncapable(
  provider: Provider,
  capability: NativeCapability,
  isNamed = true,
): Failed<Refusal> | null {
  if (hasCapability(provider, capability)) return null;
  return refuse(
    "unsupported_feature",
    `The provider does not offer this; if its upstream does, set providers.${provider.id}.${
      keyOf(capability)
    }.`,
    paramOf(capability, isNamed),
  );
}

/**
 * Returns the parameter of a refusal: clients of relayed endpoints that name no provider know none.
 */
function paramOf(capability: NativeCapability, isNamed: boolean): "provider" | null {
  return isNamed || !isRelayed(capability) ? "provider" : null;
}

/** Returns the provider; refused as `unsupported_feature` if it does not declare the capability. */
export function requireCapability(
  provider: Provider,
  capability: NativeCapability,
  isNamed = true,
): Result<Provider> {
  return refuseIncapable(provider, capability, isNamed) ?? success(provider);
}

/**
 * Returns the provider like `findNativeProvider`, for calls that only a native provider can serve;
 * refused as `unsupported_feature` if there is none.
 */
export function requireNativeProvider(
  call: Configured,
  named: string | null,
  capability: NativeCapability,
): Result<Provider> {
  const provider = findNativeProvider(call, named, capability);
  if (!provider.ok) return provider;
  if (provider.value !== null) return success(provider.value);
  const able = ableProviders(call, capability)[0];
  const refused = able === undefined ? null : refuseProvider(call.client.key, able.id);
  return refused ?? refuse(
    "unsupported_feature",
    `No provider offers this; set providers.NAME.${keyOf(capability)} of one whose upstream does.`,
    paramOf(capability, false),
  );
}

/**
 * Returns the provider of a native call without an owner: the provider that the client names, else
 * the only provider with the capability that the client key may use. Several are refused as
 * `ambiguous_provider`.
 */
export function findNativeProvider(
  call: Configured,
  named: string | null,
  capability: NativeCapability,
): Result<Provider | null> {
  if (named !== null) {
    const provider = providerById(call, named);
    return provider.ok ? requireCapability(provider.value, capability) : provider;
  }
  const able = ableProviders(call, capability)
    .filter(({ id }) => refuseProvider(call.client.key, id) === null);
  const [only = null, ...others] = able;
  if (others.length === 0) return success(only);
  return refuse(
    "ambiguous_provider",
    "Several providers can do this; name one with the X-Gateway-Provider header.",
    "provider",
  );
}

function ableProviders(
  { generation }: Configured,
  capability: NativeCapability,
): readonly Provider[] {
  return [...generation.providers.values()]
    .filter((provider) => hasCapability(provider, capability));
}

/** Returns the provider with an ID; refused as `provider_not_found` if there is none. */
export function providerById({ generation }: Configured, id: string): Result<Provider> {
  const provider = generation.providers.get(id);
  return provider === undefined
    ? refuse("provider_not_found", "There is no provider with the requested name.", "provider")
    : success(provider);
}
