import type { Catalog } from "../traffic/catalogs.ts";
import { connectionCause, type Failure } from "../core/failure/failure.ts";
import { Cancellation } from "../core/cancellation.ts";
import { utf8Text } from "../formats/utf8.ts";
import type { Call } from "../call/call.ts";
import { pickAccount } from "../routing/accounts.ts";
import { hasPool, servingAccounts } from "../routing/key_pool.ts";
import { newKeyTrial, type RefusedKey } from "./key_trial.ts";
import type { Provider, ProviderAccount } from "../wires/wire.ts";
import { newAttemptTimer } from "./attempt_timer.ts";
import { authorized } from "./authorize.ts";
import { openBody, readAll } from "./body.ts";
import { connect, upstreamUrl } from "./connect.ts";
import { sendWithCredential } from "./credential_renewal.ts";
import { retryAfterMs } from "../core/header_fields.ts";
import { checkJson } from "./json_bounds.ts";
import { keyRefusal } from "./key_refusal.ts";

/** Longest time for fetching a model list. */
const FETCH_TIMEOUT_MS = 15_000;

/** Largest body of a model list. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;

/**
 * Returns the models of a provider by its `models.mode`. If the fetch fails, returns those known
 * without a request.
 */
export async function discover(call: Call, provider: Provider): Promise<Catalog> {
  const { mode, static: models, fetch } = provider.settings.models;
  const { state } = call;
  if (mode === "static") return { models: [...new Set(models)], created: state.since };
  if (mode === "fetch") {
    const accounts = provider.accounts.map(({ digest }) => digest);
    const settings = JSON.stringify([accounts, provider.settings.headers]);
    const listed = { id: provider.id, settings };
    const fetched = await state.catalogs.get(listed, fetch.ttl, () => fetchCatalog(call, provider));
    if (fetched !== null) return fetched;
  }
  const { default_model } = provider.settings;
  const known = new Set(provider.wire.catalog.known(provider));
  if (default_model !== undefined) known.add(default_model);
  return { models: [...known], created: state.since };
}

/**
 * The dependencies of a fetch. Calls share one fetch, so cancellation of a call does not end it.
 */
type Context = Pick<Call, "generation" | "metrics" | "state" | "world">;

/** Returns the fetched model list, or null. If the upstream refuses a key, the next one is used. */
async function fetchCatalog(context: Context, provider: Provider): Promise<Catalog | null> {
  const accounts = servingAccounts(provider, "");
  const used = new Set<ProviderAccount>();
  const trial = newKeyTrial(context, provider, "");
  for (;;) {
    const account = pickAccount(context, provider, { accounts, model: "", used });
    if (account === null) return null;
    used.add(account);
    const fetched = await fetchRenewing(context, provider, account);
    if (fetched === "no credential") continue;
    if (fetched === null || !("refusal" in fetched)) {
      if (fetched !== null) trial.served(account);
      return fetched;
    }
    if (!hasPool(provider) || !trial.refused(account, fetched)) return null;
  }
}

/**
 * The model list that an account receives, the refusal of its key, or null if the fetch fails for
 * another reason.
 */
type Fetched = Catalog | RefusedKey | "no credential" | null;

/** Fetches a model list as a call is sent: with a credential that is refreshed if it is refused. */
function fetchRenewing(
  context: Context,
  provider: Provider,
  account: ProviderAccount,
): Promise<Fetched> {
  const fetchOnce = () => fetchWith(context, provider, account);
  if (account.credential === null) return fetchOnce();
  const call = { cancellation: new Cancellation(), world: context.world };
  return sendWithCredential(call, account.credential.holder, fetchOnce, refusedWith);
}

function refusedWith(fetched: Fetched): number | undefined {
  return typeof fetched === "object" && fetched !== null && "refusal" in fetched
    ? fetched.refusal.status
    : undefined;
}

async function fetchWith(
  { world, metrics, state: { turns } }: Context,
  provider: Provider,
  account: ProviderAccount,
): Promise<Fetched> {
  const { wire } = provider;
  const timer = newAttemptTimer(world, new Cancellation(), {
    timeoutMs: FETCH_TIMEOUT_MS,
    mode: "total",
    idleMs: null,
  });
  try {
    const request = { method: "GET", path: wire.catalog.path, payload: null } as const;
    const url = upstreamUrl(provider, request.path);
    const complete = await authorized({ provider, account }, {
      request,
      url,
      headers: wire.headers({ provider, account }, new Headers()),
    }, { world, turns });
    if (!complete.ok) return "no credential";
    const response = await connect(world, url, {
      request,
      headers: complete.value,
      cancellation: timer.cancellation,
      transport: provider.transport,
      isRepeatable: true,
      onRepeat: () => metrics.reconnected(provider.id),
    });
    if (!response.ok) {
      count(response.failure);
      return null;
    }
    const body = openBody(response.value, timer, { turns });
    if (response.value.status !== 200) {
      await body.cancel();
      const { status, headers } = response.value;
      const refusal = keyRefusal(status);
      return refusal === null
        ? null
        : { refusal, retryAfterMs: retryAfterMs(headers, world.unix() * 1000) };
    }
    const bytes = await readAll(body, MAX_LIST_BYTES);
    if (!bytes.ok) count(bytes.failure);
    const isBounded = bytes.ok && (await checkJson(bytes.value, body.turn)).ok;
    const text = isBounded ? utf8Text(bytes.value) : null;
    const models = text === null ? null : wire.catalog.decode(text);
    return models?.ok ? { models: models.value, created: world.unix() } : null;
  } finally {
    timer.close();
  }

  function count(failure: Failure) {
    const cause = connectionCause(failure);
    if (cause !== null) metrics.connectionFailed(provider.id, cause);
  }
}
