import { setLatest } from "../core/set_latest.ts";

/** Settings of a circuit breaker, named as in the configuration. Durations are in milliseconds. */
export interface BreakerSettings {
  readonly enabled: boolean;
  readonly failure_threshold: number;
  readonly window: number;
  readonly open_duration: number;
  readonly half_open_max_requests: number;
}

/**
 * Result of an attempt for its breaker; neutral does not count. `unreachable` is a failure of the
 * connection, which counts for the whole account.
 */
export type BreakerVerdict = "success" | "failure" | "unreachable" | "neutral";

/** Permission for one attempt. The holder must call `end` exactly once. */
export interface Permit {
  /** Ends the attempt with its result; further calls have no effect. */
  end(verdict: BreakerVerdict): void;
  /**
   * Records that the stream of the attempt has begun. A half-open breaker counts this as success,
   * so that long streams do not block it. A failure at the end of the stream still counts.
   */
  committed(): void;
}

/** State of a breaker: closed admits every attempt, open none, half-open a few trials. */
export type BreakerState = "closed" | "half-open" | "open";

/**
 * Circuit breakers of upstream accounts: one for each model, and one for connections, which all
 * models of the account share. The empty model is that of all requests without a breaker of their
 * own.
 */
export interface Breakers {
  /** Returns a permit, or the milliseconds after which the next attempt may be admitted. */
  admit(
    account: string,
    settings: BreakerSettings,
    model?: string,
  ): Permit | { readonly openFor: number };
  /**
   * Returns the state of the breaker of an account that admits least. An open breaker whose
   * duration has passed is half-open; that of an unknown account is closed.
   */
  state(account: string): BreakerState;
  /** Returns the milliseconds for which `admit` would refuse; 0 if it would not. */
  openFor(account: string, settings: BreakerSettings, model?: string): number;
  /**
   * Returns the longest time in milliseconds for which a breaker of the account refuses attempts.
   */
  longestOpenFor(account: string, settings: BreakerSettings): number;
}

/** Maximum number of accounts with breakers; the least recently used is removed first. */
const MAX_ACCOUNTS = 10_000;

/**
 * Maximum number of models with a breaker in one account, whose names come from the configuration.
 */
const MAX_MODELS = 1_000;

/**
 * Wait in milliseconds while all trials run. An estimate, because the end of a trial is not known.
 */
const TRIALS_RUNNING_WAIT_MS = 1_000;

const FREE_PASS: Permit = { end() {}, committed() {} };

/** The breakers of one account. */
interface Account {
  readonly connections: Circuit;
  readonly models: Map<string, Circuit>;
}

/**
 * Returns breakers that are all closed. `now` returns milliseconds that never go back.
 *
 * A closed breaker opens when the last `failure_threshold` verdicts were failures within `window`;
 * neutral verdicts do not count. It stays open for the `open_duration` that was configured when it
 * opened. A half-open breaker admits `half_open_max_requests` concurrent trials: the same number of
 * successes closes it, one failure opens it again. Opening starts a new epoch, and verdicts of
 * permits from an earlier epoch are ignored. A trial that ends after its breaker has closed counts
 * like any other attempt. An attempt needs a permit of its model and of its account.
 */
export function newBreakers(now: () => number): Breakers {
  const accounts = new Map<string, Account>();

  function findOrAdd(name: string): Account {
    const account = accounts.get(name) ?? { connections: newCircuit(now), models: new Map() };
    setLatest(accounts, name, account, MAX_ACCOUNTS);
    return account;
  }

  function circuitsOf(name: string): readonly Circuit[] {
    const account = accounts.get(name);
    return account === undefined ? [] : [account.connections, ...account.models.values()];
  }

  return {
    admit(name, settings, model = "") {
      if (!settings.enabled) return FREE_PASS;
      const { connections, models } = findOrAdd(name);
      const own = models.get(model) ?? newCircuit(now);
      setLatest(models, model, own, MAX_MODELS);
      const openFor = Math.max(connections.wait(settings), own.wait(settings));
      return openFor > 0
        ? { openFor }
        : joinPermits(own.permit(settings), connections.permit(settings));
    },
    state(name) {
      const states = circuitsOf(name).map((circuit) => circuit.state());
      return LEAST_FIRST.find((state) => states.includes(state)) ?? "closed";
    },
    openFor(name, settings, model = "") {
      const account = accounts.get(name);
      if (!settings.enabled || account === undefined) return 0;
      const own = account.models.get(model)?.wait(settings) ?? 0;
      return Math.max(account.connections.wait(settings), own);
    },
    longestOpenFor(name, settings) {
      if (!settings.enabled) return 0;
      return Math.max(0, ...circuitsOf(name).map((circuit) => circuit.wait(settings)));
    },
  };
}

const LEAST_FIRST = ["open", "half-open"] as const;

/**
 * Returns the permit of an attempt at a model of an account. A failure other than of the connection
 * is none of the account, and no proof that connections succeed either.
 */
function joinPermits(model: Permit, connections: Permit): Permit {
  return {
    end(verdict) {
      model.end(verdict);
      connections.end(verdict === "failure" ? "neutral" : verdict);
    },
    committed() {
      model.committed();
      connections.committed();
    },
  };
}

interface Circuit {
  state(): BreakerState;
  /** Returns the milliseconds until an attempt may pass; 0 for now. */
  wait(settings: BreakerSettings): number;
  permit(settings: BreakerSettings): Permit;
}

function newCircuit(now: () => number): Circuit {
  let isClosed = true;
  let openUntil = 0;
  let epoch = 0;
  /** Times of the failures since the last success. */
  let failures: number[] = [];
  let trials = 0;
  let successes = 0;

  function open(settings: BreakerSettings) {
    isClosed = false;
    openUntil = now() + settings.open_duration;
    epoch++;
    failures = [];
    trials = 0;
    successes = 0;
  }

  function fail(settings: BreakerSettings) {
    if (!isClosed) return open(settings);
    const time = now();
    failures = failures.filter((at) => at >= time - settings.window);
    failures.push(time);
    if (failures.length >= settings.failure_threshold) open(settings);
  }

  function succeed(settings: BreakerSettings) {
    failures = [];
    if (isClosed) return;
    successes++;
    if (successes >= settings.half_open_max_requests) isClosed = true;
  }

  function permit(settings: BreakerSettings): Permit {
    const born = epoch;
    const isTrial = !isClosed;
    let isRunning = true;
    let isCounted = false;
    if (isTrial) trials++;

    function leaveTrial() {
      if (isTrial && !isCounted) trials--;
      isCounted = true;
    }

    return {
      end(verdict) {
        if (!isRunning) return;
        isRunning = false;
        if (born !== epoch) return;
        const wasCounted = isCounted;
        leaveTrial();
        if (verdict === "failure" || verdict === "unreachable") fail(settings);
        // A trial counts as one success, not as a second one at the end of its stream.
        else if (verdict === "success" && (isClosed || !wasCounted)) succeed(settings);
      },
      committed() {
        if (!isRunning || isCounted || !isTrial || born !== epoch) return;
        leaveTrial();
        if (!isClosed) succeed(settings);
      },
    };
  }

  return {
    state: () => isClosed ? "closed" : now() < openUntil ? "open" : "half-open",
    wait(settings) {
      if (isClosed) return 0;
      const left = openUntil - now();
      if (left > 0) return left;
      return trials < settings.half_open_max_requests ? 0 : TRIALS_RUNNING_WAIT_MS;
    },
    permit,
  };
}
