// @ts-check
/** @import { FinishedCall, SecondView, Snapshot } from "../snapshot.ts" */

/** Seconds that the charts show. */
export const MAX_SECONDS = 900;
/** Calls that are stored: the newest, and as many of each mark. */
const MAX_FINISHED = 100;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 8000;
/** A connection without a snapshot for this time is lost, such as after the sleep of a laptop. */
const MAX_SILENCE_MS = 6000;

/**
 * Facts of the page: the newest snapshot, and the seconds and finished calls of those before it.
 * Of the calls it stores the newest 100, and the newest 100 that failed, that were not sent, that
 * were refused, and that were slow.
 * @typedef {object} Feed
 * @property {Snapshot | null} snapshot
 * @property {SecondView[]} seconds Oldest first.
 * @property {FinishedCall[]} finished Newest first.
 * @property {boolean} isLive
 * @property {number | null} lostSinceMs
 * @property {string | null} reason Why there is no connection, as far as the page knows.
 */

/** @type {Feed} */
export const NO_FEED = {
  snapshot: null,
  seconds: [],
  finished: [],
  isLive: false,
  lostSinceMs: null,
  reason: null,
};

/**
 * Returns the feed with another snapshot. The first snapshot of a connection has all that the
 * gateway knows, so it replaces what the page had: the process may be another one.
 * @param {Feed} feed
 * @param {Snapshot} snapshot
 * @param {boolean} isFirst
 * @returns {Feed}
 */
export function withSnapshot(feed, snapshot, isFirst) {
  const before = isFirst ? NO_FEED : feed;
  // A gateway of another version may lack lists.
  const { seconds = [], finished = [], notable = [] } = snapshot;
  const oldest = Math.floor(snapshot.atMs / 1000) - MAX_SECONDS;
  return {
    snapshot: before.snapshot === null ? snapshot : shared(before.snapshot, snapshot),
    seconds: [...before.seconds, ...seconds].filter(({ second }) => second >= oldest)
      .slice(-MAX_SECONDS),
    finished: storedCalls([...finished, ...notable, ...before.finished]),
    isLive: true,
    lostSinceMs: null,
    reason: null,
  };
}

/**
 * Returns the calls to store.
 * @param {FinishedCall[]} calls Newest first.
 */
function storedCalls(calls) {
  /** @type {Map<string | undefined, number>} */
  const counts = new Map();
  return calls.filter((call, at) => {
    const mark = markOf(call);
    const count = (counts.get(mark) ?? 0) + 1;
    counts.set(mark, count);
    return at < MAX_FINISHED || (mark !== undefined && count <= MAX_FINISHED);
  });
}

/**
 * Returns why a call is stored longer than others; undefined for a call that is not.
 * @param {FinishedCall} call
 */
export function markOf({ outcome, isSlow }) {
  return outcome === "complete" || outcome === "left" ? isSlow && "slow" : outcome;
}

/**
 * Returns the next value with all parts that equal those before as the same objects, so that the
 * page finds what changed by comparing references. Entries of a list are compared by their place.
 * @template T
 * @param {any} before
 * @param {T} next
 * @returns {T}
 */
export function shared(before, next) {
  if (before === next || typeof before !== "object" || typeof next !== "object") return next;
  if (before === null || next === null || Array.isArray(before) !== Array.isArray(next)) {
    return next;
  }
  if (Array.isArray(next)) {
    const parts = next.map((part, at) => shared(before[at], part));
    const isSame = parts.length === before.length && parts.every((part, at) => part === before[at]);
    return isSame ? before : /** @type {any} */ (parts);
  }
  const parts = Object.entries(next).map(([name, part]) => [name, shared(before[name], part)]);
  const isSame = parts.length === Object.keys(before).length &&
    parts.every(([name, part]) => part === before[name]);
  return isSame ? before : Object.fromEntries(parts);
}

/**
 * Follows the snapshots of the gateway between `start` and `stop`. A lost connection is opened
 * again.
 * @param {(feed: Feed) => void} onChange
 */
export function follow(onChange) {
  let feed = NO_FEED;
  let retryMs = FIRST_RETRY_MS;
  /** @type {EventSource | null} */
  let source = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let asking = new AbortController();

  function connect() {
    // A browser opens few connections to a host: one that hangs must not take that of the stream.
    disconnect();
    const opened = new EventSource("/events");
    source = opened;
    let isFirst = true;
    watch();
    opened.onmessage = ({ data }) => {
      watch();
      retryMs = FIRST_RETRY_MS;
      feed = withSnapshot(feed, JSON.parse(data), isFirst);
      isFirst = false;
      onChange(feed);
    };
    // The browser's own retry gives up after a response that is no stream, such as status 503.
    opened.onerror = () => lost();
  }

  function disconnect() {
    source?.close();
    clearTimeout(timer);
    asking.abort();
  }

  function watch() {
    clearTimeout(timer);
    timer = setTimeout(lost, MAX_SILENCE_MS);
  }

  function lost() {
    disconnect();
    timer = setTimeout(connect, retryMs);
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    feed = { ...feed, isLive: false, lostSinceMs: feed.lostSinceMs ?? Date.now() };
    onChange(feed);
    asking = new AbortController();
    const { signal } = asking;
    findReason(signal).then((reason) => {
      if (signal.aborted || feed.isLive || feed.reason === reason) return;
      feed = { ...feed, reason };
      onChange(feed);
    });
  }

  return {
    start() {
      retryMs = FIRST_RETRY_MS;
      connect();
    },
    stop: disconnect,
  };
}

/**
 * Returns why the gateway refuses the stream of snapshots; null if it cannot be reached.
 * @param {AbortSignal} signal
 * @returns {Promise<string | null>}
 */
async function findReason(signal) {
  try {
    // Without the origin the browser refuses it on a page whose address has a password.
    const { status, ok } = await fetch(`${location.origin}/snapshot`, { method: "HEAD", signal });
    if (status === 401) return "The password is no longer valid: load the page again.";
    return ok
      ? "The gateway sends no events: too many pages may be open."
      : `The gateway answers with status ${status}.`;
  } catch {
    return null;
  }
}
