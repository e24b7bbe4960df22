import type { BudgetConfig, Config, ProviderConfig, TemplateConfig } from "../config/schema.ts";

/** Place of a worker among the processes of one gateway. */
export interface Place {
  /** From 1 to the number of workers. */
  readonly number: number;
  readonly workers: number;
}

/**
 * Returns the configuration of one worker. Each limit that a process counts by itself is divided,
 * so that all workers together have the configured limit; a limit below the number of workers
 * becomes 1 in each. Limits of clients are divided only without a state store, which would count
 * for all workers. The first worker alone has the connection for remote control and the release
 * check.
 */
export function shareOf(config: Config, place: Place): Config {
  const shared = { ...config, ...processLimits(config, place), ...singleServices(config, place) };
  return config.state.store === "none" ? { ...shared, ...clientLimits(config, place) } : shared;
}

/** Returns the share of a whole number of at least 1; the first workers get the remainder. */
function part(limit: number, { number, workers }: Place): number {
  return Math.max(1, Math.floor(limit / workers) + (number <= limit % workers ? 1 : 0));
}

function optionalPart(limit: number | undefined, place: Place): number | undefined {
  return limit === undefined ? undefined : part(limit, place);
}

/** Returns the share of a number that may be 0, which disables something. */
function partOrNone(limit: number, place: Place): number {
  return limit === 0 ? 0 : part(limit, place);
}

function processLimits({ server, caching, providers }: Config, place: Place) {
  const { max_concurrent_requests, max_sockets_per_client } = server;
  const { max_body_memory, max_response_memory, max_upload } = server;
  const maxBytes = part(caching.max_bytes, place);
  return {
    server: {
      ...server,
      max_concurrent_requests: part(max_concurrent_requests, place),
      max_sockets_per_client: part(max_sockets_per_client, place),
      // The largest permitted upload must fit, or it would be refused each time.
      max_body_memory: Math.max(
        part(max_body_memory, place),
        Math.min(max_body_memory, max_upload),
      ),
      // One response may be above it, so that no share is too small.
      max_response_memory: part(max_response_memory, place),
    },
    caching: {
      ...caching,
      max_size: partOrNone(caching.max_size, place),
      max_bytes: maxBytes,
      max_entry_bytes: caching.shared
        ? caching.max_entry_bytes
        : Math.min(caching.max_entry_bytes, maxBytes),
    },
    providers: Object.fromEntries(
      Object.entries(providers).map(([id, settings]) => [id, slotShare(settings, place)]),
    ),
  };
}

function slotShare(settings: ProviderConfig, place: Place): ProviderConfig {
  const { max_concurrent, max_queued } = settings;
  return max_concurrent === undefined ? settings : {
    ...settings,
    max_concurrent: part(max_concurrent, place),
    max_queued: partOrNone(max_queued, place),
  };
}

function singleServices({ data_sharing, update_check }: Config, { number }: Place) {
  return number === 1 ? {} : {
    data_sharing: { ...data_sharing, remote_control: false },
    update_check: { ...update_check, enabled: false },
  };
}

function clientLimits({ rate_limiting, security }: Config, place: Place) {
  const { requests_per_minute, burst_size } = rate_limiting;
  return {
    rate_limiting: {
      ...rate_limiting,
      requests_per_minute: part(requests_per_minute, place),
      burst_size: part(burst_size, place),
    },
    security: {
      ...security,
      api_key: {
        ...security.api_key,
        keys: security.api_key.keys.map((key) => ({ ...key, ...profileShare(key, place) })),
      },
      templates: security.templates.map((one) => ({ ...one, ...profileShare(one, place) })),
      groups: security.groups.map((group) => ({
        ...group,
        ...present({ tokens_per_minute: optionalPart(group.tokens_per_minute, place) }),
        budgets: group.budgets.map((budget) => budgetShare(budget, place)),
      })),
    },
  };
}

/** Returns the share of the limits of a client key or a template. */
function profileShare(written: TemplateConfig, place: Place) {
  return {
    ...present({
      requests_per_minute: optionalPart(written.requests_per_minute, place),
      tokens_per_minute: optionalPart(written.tokens_per_minute, place),
      max_concurrent: optionalPart(written.max_concurrent, place),
    }),
    budgets: written.budgets.map((budget) => budgetShare(budget, place)),
  };
}

function budgetShare(budget: BudgetConfig, place: Place): BudgetConfig {
  const { usd, tokens } = budget;
  return {
    ...budget,
    ...present({
      usd: usd === undefined ? undefined : usd / place.workers,
      tokens: optionalPart(tokens, place),
    }),
  };
}

/** Returns the members that are set: an absent limit must stay absent. */
function present<Values extends object>(
  values: Values,
): { [Key in keyof Values]?: Exclude<Values[Key], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof Values]?: Exclude<Values[Key], undefined> };
}
