import { refuse, type Result, success } from "../core/result.ts";
import type { Provider } from "../wires/wire.ts";
import type { Call } from "./call.ts";
import { providerById } from "./named_provider.ts";

/** What an upstream must have declared before its own state is touched. */
export type NativeCapability =
  | "chat_completions_lifecycle"
  | "responses_lifecycle"
  | "conversations"
  | "response_cancellation"
  | "response_compaction"
  | "response_input_tokens";

/** Whether a provider has declared it, as the configuration of the call has it. */
export function hasCapability(
  { settings: { type, capabilities } }: Provider,
  capability: NativeCapability,
): boolean {
  return type === "compat" && capabilities[capability];
}

/** A provider that has been chosen; refused as `unsupported_feature` when it has not declared it. */
export function requireCapability(
  provider: Provider,
  capability: NativeCapability,
): Result<Provider> {
  if (hasCapability(provider, capability)) return success(provider);
  return refuse(
    "unsupported_feature",
    `The provider does not offer this: its capability '${capability}' is not set.`,
    "provider",
  );
}

/** As `nativeProvider`, for calls that nobody else could serve: `unsupported_feature` when none can. */
export function requireNativeProvider(
  call: Call,
  named: string | null,
  capability: NativeCapability,
): Result<Provider> {
  const provider = findNativeProvider(call, named, capability);
  if (!provider.ok) return provider;
  return provider.value === null
    ? refuse(
      "unsupported_feature",
      `No provider offers this: none has the capability '${capability}'.`,
      "provider",
    )
    : success(provider.value);
}

/**
 * Who serves a native call that belongs to nobody yet: the provider that the client names, else the
 * only one that has declared the capability; null when none has. Several are refused as
 * `ambiguous_provider`.
 */
export function findNativeProvider(
  call: Call,
  named: string | null,
  capability: NativeCapability,
): Result<Provider | null> {
  if (named !== null) {
    const provider = providerById(call, named);
    return provider.ok ? requireCapability(provider.value, capability) : provider;
  }
  const able = [...call.generation.providers.values()]
    .filter((provider) => hasCapability(provider, capability));
  const [only = null, ...others] = able;
  if (others.length === 0) return success(only);
  return refuse(
    "ambiguous_provider",
    "Several providers can do this; name one with the X-Gateway-Provider header.",
    "provider",
  );
}
