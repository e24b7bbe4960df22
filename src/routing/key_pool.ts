import { keptName } from "../core/text_beginning.ts";
import type { Provider, ProviderAccount, Target } from "../wires/wire.ts";

/**
 * True if the provider has several keys. A key of such a pool rests when it is refused; a lone key
 * does not, because no other key could take its requests.
 */
export function hasPool({ accounts }: Pick<Provider, "accounts">): boolean {
  return accounts.length > 1;
}

/**
 * Returns the accounts that may serve new requests with a model, in file order; an empty model for
 * requests without one, which every key serves.
 */
export function servingAccounts(
  { accounts }: Pick<Provider, "accounts">,
  model: string,
): readonly ProviderAccount[] {
  const serves = (account: ProviderAccount) =>
    account.weight > 0 && (model === "" || account.serves(model));
  return accounts.every(serves) ? accounts : accounts.filter(serves);
}

/** Returns the account with a digest; null if no key of the provider has it. */
export function findAccount(
  { accounts }: Pick<Provider, "accounts">,
  digest: string,
): ProviderAccount | null {
  return accounts.find((account) => account.digest === digest) ?? null;
}

/**
 * Returns the key of a target's load, which all routes with this provider, protocol and model
 * share.
 */
export function loadKey(
  { provider, wire, model }: Pick<Target, "provider" | "wire" | "model">,
): string {
  return `${provider.id} ${wire.name} ${keptName(model)}`;
}
