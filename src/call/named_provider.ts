import { refuse, type Result, success } from "../core/result.ts";
import type { Provider } from "../wires/wire.ts";
import type { Call } from "./call.ts";

/** Returns the provider with an ID; refused as `provider_not_found` if there is none. */
export function providerById({ generation }: Call, id: string): Result<Provider> {
  const provider = generation.providers.get(id);
  return provider === undefined
    ? refuse("provider_not_found", "There is no provider with the requested name.", "provider")
    : success(provider);
}
