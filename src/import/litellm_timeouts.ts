import { formatDuration } from "../config/units.ts";
import type { Settings } from "./providers.ts";
import type { Report } from "./report.ts";
import { memberOf, numberOf, type Tree } from "./source.ts";

/** Timeouts in seconds; null for none. */
export interface Timeouts {
  readonly timeout: number | null;
  readonly stream: number | null;
}

/** Returns the timeouts of `router_settings` and `litellm_settings` for every provider. */
export function readUsualTimeouts(
  router: Tree | undefined,
  settings: Tree | undefined,
  report: Report,
): Timeouts {
  const timeouts = [memberOf(router, "timeout"), memberOf(settings, "request_timeout")];
  const stream = memberOf(router, "stream_timeout");
  const [used, other] = timeouts.filter(isTime);
  const note = "of every provider: the time to the first byte, and the silence within a stream";
  report.differently(used, "providers.*.timeout", note);
  report.noMeaning(other, "that of router_settings counts");
  if (isTime(stream)) {
    report.differently(stream, "providers.*.stream_idle_timeout", "the silence within a stream");
  }
  return { timeout: timeOf(used), stream: timeOf(stream) };
}

/** Returns a time in seconds; null for none, which 0 is too. */
function timeOf(tree: Tree | undefined): number | null {
  const seconds = numberOf(tree);
  return seconds !== null && seconds > 0 ? seconds : null;
}

/** True for a value that is a time. */
export function isTime(tree: Tree | undefined): boolean {
  return timeOf(tree) !== null;
}

/** Returns the timeouts of a provider; a value that is no number of seconds gives none. */
export function readTimeouts(params: Tree, usual: Timeouts): Settings {
  const own = timeOf(memberOf(params, "timeout")) ?? usual.timeout;
  const stream = timeOf(memberOf(params, "stream_timeout")) ?? usual.stream ?? own;
  return {
    ...own !== null && { timeout: seconds(own) },
    ...stream !== null && { stream_idle_timeout: seconds(stream) },
  };
}

/** Returns a duration for a number of seconds, at least a millisecond. */
export function seconds(value: number): string {
  return formatDuration(Math.min(Math.max(Math.round(value * 1_000), 1), Number.MAX_SAFE_INTEGER));
}
