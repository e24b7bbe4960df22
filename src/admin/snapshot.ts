import type { CredentialState } from "../core/credential.ts";
import type { RuleCount } from "../core/privacy_counts.ts";
import type { UsageCounts } from "../core/usage_row.ts";
import type { RecordSizes } from "../observe/gauges.ts";
import type { TracedTarget } from "../observe/report.ts";

/**
 * Outcome of a finished call: `refused` by the gateway, `not_sent` because no provider of the
 * route takes a request now, `failed` otherwise, or `left` by its client.
 */
export type CallOutcome = "complete" | "refused" | "not_sent" | "failed" | "left";

/**
 * Content of the admin page, once a second, as JSON. Never a key, prompt, response or query string.
 */
export interface Snapshot {
  readonly version: string;
  /** Time of the snapshot, in milliseconds since 1970. */
  readonly atMs: number;
  /** Milliseconds since the process began. */
  readonly uptimeMs: number;
  /** Number of the running configuration; 1 until the first reload. */
  readonly generation: number;
  readonly isDraining: boolean;
  /**
   * Address at which the gateway serves clients, such as `http://127.0.0.1:8080`. `0.0.0.0` and
   * `[::]` mean every address of the machine: readers replace them with the host at which they read
   * this.
   */
  readonly gatewayUrl: string;
  /** True if the gateway requires a client key. */
  readonly requiresKey: boolean;
  /** Header of a client key, and the scheme before the key in it, which may be empty. */
  readonly keyHeader: { readonly name: string; readonly prefix: string };
  /** Model of a chat call without headers that a route serves; null if the file names none. */
  readonly exampleModel: string | null;
  /** Lines of the refused reload, as in the log; null unless the last reload was refused. */
  readonly refusedReload: { readonly atMs: number; readonly lines: readonly string[] } | null;
  /** Warnings of the running configuration. */
  readonly warnings: readonly string[];
  readonly store: StoreView;
  /** Null if no calls are recorded. */
  readonly records: RecordsView | null;
  /**
   * Seconds that have ended since the previous snapshot of the listener; the first one has up to
   * 900.
   */
  readonly seconds: readonly SecondView[];
  readonly providers: readonly ProviderView[];
  readonly routes: readonly RouteView[];
  /** Number of running calls, and the newest 50 of them, newest first. */
  readonly runningCount: number;
  readonly running: readonly RunningCall[];
  /**
   * Calls that have finished since the previous snapshot of the listener, newest first: at most the
   * newest 100. `finishedCount` counts all since the process began.
   */
  readonly finishedCount: number;
  readonly finished: readonly FinishedCall[];
  /**
   * Of the last 100 calls that failed, were not sent, were refused and were slow, each, those that
   * are older than the ones in `finished`, and that the listener has not received yet, newest
   * first.
   */
  readonly notable: readonly FinishedCall[];
  readonly keys: readonly KeyView[];
  /** Null without privacy policies. */
  readonly privacy: PrivacyView | null;
}

/** Privacy policies, and what their rules did in the last 15 minutes: numbers, never a value. */
export interface PrivacyView {
  /** Policies in the order of the file. */
  readonly policies: readonly PrivacyPolicyView[];
  /** Rules in the order of the file. */
  readonly rules: readonly PrivacyRuleView[];
  /** Tokens of answers that became values again. */
  readonly restored: number;
  /** Words of answers in the form of a token that belong to no value of their call. */
  readonly unknown: number;
  /** Parts of requests that no rule can read. */
  readonly unread: number;
}

/** A privacy policy with the names of its rules. */
export interface PrivacyPolicyView {
  readonly name: string;
  readonly rules: readonly string[];
  /** True if it holds for every call. */
  readonly isDefault: boolean;
  /** True if it refuses requests with parts that no rule can read. */
  readonly refusesUnread: boolean;
}

/** A privacy rule with the number of values that it found. */
export interface PrivacyRuleView extends Omit<RuleCount, "rule" | "count"> {
  readonly name: string;
  readonly matches: number;
}

/** Counters of one second; a second without calls is absent. */
export interface SecondView {
  /** The second, counted since 1970. */
  readonly second: number;
  /** Calls that finished. */
  readonly calls: number;
  /** Calls that failed. */
  readonly failures: number;
  /** Calls that the gateway refused. */
  readonly refusals: number;
  /** Calls that were not sent to any provider. */
  readonly notSent: number;
  /** Milliseconds to the first token of streams. */
  readonly firstTokenP50Ms: number | null;
  readonly firstTokenP95Ms: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Cost of the calls as far as it is known; null if none of it is. */
  readonly usd: number | null;
  /** Streams that were open when the second ended. */
  readonly openStreams: number;
}

/** File of recorded calls. */
export interface RecordsView extends Omit<RecordSizes, "queueChars"> {
  /** True if the listener shows records: only with a password. */
  readonly isShown: boolean;
}

/** State store: engine, availability and content. */
export interface StoreView {
  /** Such as `memory`, `sqlite`, `valkey` or `none`. */
  readonly engine: string;
  readonly isUp: boolean;
  /** Time since when the store is unavailable, in milliseconds since 1970; null while it is up. */
  readonly awaySinceMs: number | null;
  /** Duration of the last successful ping; null for a store in memory. */
  readonly pingMs: number | null;
  /** Writes that wait in this process. */
  readonly pendingWrites: number;
  readonly objects: readonly StoreSize[];
}

/** Size of one type of stored objects. */
export interface StoreSize {
  readonly name: string;
  readonly entries: number;
  readonly bytes: number;
}

/** A provider with the calls of the last 15 minutes. */
export interface ProviderView {
  readonly id: string;
  /** Such as `compat`, `messages` or `local`. */
  readonly type: string;
  readonly breaker: "closed" | "open" | "half-open";
  /** Milliseconds until an open circuit breaker admits an attempt; null unless it is open. */
  readonly opensInMs: number | null;
  /** Attempts that were sent. */
  readonly attempts: number;
  /** Number of them by outcome: `success` or a kind of failure. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Number of attempts that were not sent by reason, such as `circuit_open`. */
  readonly notSent: Readonly<Record<string, number>>;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** Attempts in flight; null if `max_concurrent` is not set. */
  readonly running: number | null;
  readonly queued: number | null;
  readonly maxConcurrent: number | null;
  /** Keys of the pool by name, never their value; empty for a provider with one key. */
  readonly keys: readonly PoolKeyView[];
  /** State of the credential that is refreshed; absent without one. */
  readonly credential?: CredentialState;
}

/** A key in the pool of a provider. */
export interface PoolKeyView {
  readonly name: string;
  /** False for a key with weight 0, which serves no new requests. */
  readonly isUsed: boolean;
  /** Milliseconds until the key is used again; null if it does not rest. */
  readonly restsForMs: number | null;
  /** Milliseconds until its open circuit breaker admits an attempt; null unless it is open. */
  readonly opensInMs: number | null;
}

/** A route in the order of the file. */
export interface RouteView {
  readonly name: string;
  /** Conditions in the words of `switchyard explain`. */
  readonly match: string;
  readonly strategy: string;
  /** Calls of the last 15 minutes that were served or failed, and those that failed. */
  readonly calls: number;
  readonly failed: number;
  /** Calls whose head was sent early; absent for none. */
  readonly early?: number;
  readonly targets: readonly TargetView[];
  readonly fallbacks: readonly TargetView[];
}

/** A target of a route with its calls of the last 15 minutes. */
export interface TargetView {
  readonly provider: string;
  /** Null if the request names the model. */
  readonly model: string | null;
  /** Share by the configuration, from 0 to 1; null for fallbacks and strategies without shares. */
  readonly share: number | null;
  /** Calls that it served, and calls that failed at it at last. */
  readonly calls: number;
  readonly failed: number;
  /**
   * Share of the served calls of the route that it served, from 0 to 1; null if none was served.
   */
  readonly servedShare: number | null;
  /** Share of the input tokens that came from the provider's prompt cache. */
  readonly cachedShare: number | null;
  /**
   * Times from the start of an attempt to the first content of its stream, in milliseconds; null
   * without streams.
   */
  readonly firstContent: {
    readonly p50Ms: number | null;
    readonly p95Ms: number | null;
    readonly p99Ms: number | null;
  };
}

/** A call in flight. */
export interface RunningCall {
  readonly id: string;
  readonly path: string;
  readonly client: string | null;
  readonly route: string | null;
  readonly provider: string | null;
  /** The requested model until the call has a target. */
  readonly model: string | null;
  /** Milliseconds since the call began. */
  readonly ageMs: number;
  readonly phase: "waiting" | "streaming";
  /** Records of the stream that were sent to the client. */
  readonly records: number;
  /** Attempts that were sent and are over. */
  readonly tries: number;
}

/** A finished call: its access line and its timeline. */
export interface FinishedCall {
  /** Number of the call among the finished ones, from 1. */
  readonly number: number;
  readonly endedAtMs: number;
  /** Fields of the access line. */
  readonly access: Readonly<Record<string, unknown>>;
  readonly outcome: CallOutcome;
  /** Code of the error; absent if the call succeeded. */
  readonly code?: string;
  /** Present if the response began late for its provider. */
  readonly isSlow?: true;
  /** Model that the client requested; absent if it is that of the access line, or was not read. */
  readonly requestedModel?: string;
  /**
   * Kind and meaning of the failure, without values of the request and content of the upstream;
   * null if the call succeeded.
   */
  readonly failure: string | null;
  /**
   * Targets in the order of the route, with the reason why one was passed over; empty if not
   * routed.
   */
  readonly targets: readonly TracedTarget[];
  readonly attempts: readonly AttemptView[];
  readonly verified: readonly string[];
  readonly lossy: readonly string[];
  /** Milliseconds of the search of the request by privacy rules; absent without a policy. */
  readonly searchMs?: number;
  readonly usd: number | null;
  /** Milliseconds since the call began; null if it did not occur. */
  readonly firstByteMs: number | null;
  readonly firstTokenMs: number | null;
  readonly totalMs: number;
}

/** An attempt in the timeline of a call; times in milliseconds since the call began. */
export interface AttemptView {
  readonly provider: string;
  readonly model: string;
  /** Name of the key in a pool. */
  readonly key: string | null;
  readonly outcome: string;
  /** Present if no request was sent, such as with an open circuit breaker. */
  readonly notSent?: true;
  readonly beganMs: number;
  readonly endedMs: number;
}

/** A client key by name, never its value. */
export interface KeyView {
  readonly name: string;
  readonly group: string | null;
  /** True if the key is disabled or has expired. */
  readonly isDisabled: boolean;
  /** Use of the last minute, counted from finished calls. */
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  /** Limits of the key. */
  readonly maxRequestsPerMinute: number | null;
  readonly maxTokensPerMinute: number | null;
  /** Tokens per minute that its groups limit. */
  readonly groupRates: readonly GroupRateView[];
  readonly running: number;
  readonly maxConcurrent: number | null;
  readonly budgets: readonly BudgetView[];
  /** Budgets of tokens. */
  readonly tokenBudgets: readonly TokenBudgetView[];
  /** Usage of today. */
  readonly today: UsageCounts;
}

/**
 * A limit of tokens per minute that all keys of a group share, with their use of the last minute.
 */
export interface GroupRateView {
  /** Name of the group. */
  readonly scope: string;
  readonly tokensPerMinute: number;
  readonly maxTokensPerMinute: number;
}

/** A budget with what is spent of it. */
export interface BudgetView {
  /** Whose budget it is: the name of the key or of its group. */
  readonly scope: string;
  /** Such as `day` or `month`. */
  readonly period: string;
  readonly spentUsd: number;
  readonly limitUsd: number;
}

/** A budget of tokens with what is used of it. */
export interface TokenBudgetView {
  /** Whose budget it is: the name of the key or of its group. */
  readonly scope: string;
  /** Such as `day` or `month`. */
  readonly period: string;
  readonly spent: number;
  readonly limit: number;
}

/** Routing of a request that is not sent, in the lines of `switchyard explain`. */
export interface ExplainView {
  readonly lines: readonly string[];
  readonly isServed: boolean;
}
