/** When a breaker opens, for how long, and how it closes again. Durations in milliseconds. */
export interface BreakerSettings {
  readonly enabled: boolean;
  readonly failure_threshold: number;
  readonly window: number;
  readonly open_duration: number;
  readonly half_open_max_requests: number;
}

/** What an attempt says about its upstream; neutral is no statement. */
export type BreakerVerdict = "success" | "failure" | "neutral";

/** The leave to try an upstream once. Whoever takes one ends it, whatever happens. */
export interface Permit {
  /** Only the first call counts. */
  end(verdict: BreakerVerdict): void;
  /**
   * A stream has begun to deliver: a half-open breaker takes that as the success of this attempt, so
   * that long streams do not hold it. A failure at its end still counts.
   */
  committed(): void;
}

/** Closed lets everything pass, open nothing, half-open a few trials. */
export type BreakerState = "closed" | "half-open" | "open";

/** One circuit breaker for each upstream account. */
export interface Breakers {
  /** A permit, or the milliseconds after which asking again is worth it. */
  admit(account: string, settings: BreakerSettings): Permit | { readonly openFor: number };
  /** An open breaker whose time is over counts as half-open; an unknown account as closed. */
  state(account: string): BreakerState;
  /** Whether `admit` would refuse now. */
  isOpen(account: string, settings: BreakerSettings): boolean;
  /** For how many milliseconds `admit` would refuse; 0 when it would not. */
  openFor(account: string, settings: BreakerSettings): number;
}

/** More accounts than that are not remembered; those least recently asked for go first. */
const MAX_ACCOUNTS = 10_000;

/** All trials are running: none can say when the next may, so a guess in milliseconds. */
const TRIALS_RUNNING_WAIT_MS = 1_000;

const FREE_PASS: Permit = { end() {}, committed() {} };

/**
 * Breakers that all begin closed. `now` gives milliseconds that never go back.
 *
 * A closed breaker opens when the last `failure_threshold` verdicts were failures no more than
 * `window` apart; neutral ones are not looked at. It stays open for `open_duration` as it was set
 * then. Half-open it lets `half_open_max_requests` attempts run at once: as many successes close it,
 * one failure opens it again. Opening begins a new epoch, and permits taken before it say nothing
 * about what comes after; a trial that outlives the closing it led to counts like any other attempt.
 */
export function newBreakers(now: () => number): Breakers {
  const circuits = new Map<string, Circuit>();

  function circuitOf(account: string): Circuit {
    const circuit = circuits.get(account) ?? newCircuit(now);
    circuits.delete(account);
    circuits.set(account, circuit);
    const [oldest] = circuits.size > MAX_ACCOUNTS ? circuits.keys() : [];
    if (oldest !== undefined) circuits.delete(oldest);
    return circuit;
  }

  function openFor(account: string, settings: BreakerSettings): number {
    return settings.enabled ? circuits.get(account)?.wait(settings) ?? 0 : 0;
  }

  return {
    admit(account, settings) {
      if (!settings.enabled) return FREE_PASS;
      const circuit = circuitOf(account);
      const openFor = circuit.wait(settings);
      return openFor > 0 ? { openFor } : circuit.permit(settings);
    },
    state: (account) => circuits.get(account)?.state() ?? "closed",
    isOpen: (account, settings) => openFor(account, settings) > 0,
    openFor,
  };
}

interface Circuit {
  state(): BreakerState;
  /** Milliseconds until an attempt may pass; 0 is now. */
  wait(settings: BreakerSettings): number;
  permit(settings: BreakerSettings): Permit;
}

function newCircuit(now: () => number): Circuit {
  let isClosed = true;
  let openUntil = 0;
  let epoch = 0;
  /** When the failures since the last success happened. */
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
        if (verdict === "failure") fail(settings);
        // A trial is one success, not one when it commits and one more at its end.
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
