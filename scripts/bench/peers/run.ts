import { type Measurement, newSystemRun, type SystemRun } from "../measure.ts";
import type { Scenario, ScenarioRequest } from "../scenarios.ts";
import { isObject, parseJson } from "../../../src/core/json/json.ts";
import { findPeerTask, type Peer, type PeerRequest } from "./peer.ts";
import { reasonText } from "./reason.ts";
import type { PeerSystems } from "./systems.ts";
import { findPeerError } from "./verify.ts";

/** The result of one peer in a scenario: a measurement, or the reason why there is none. */
export type PeerResult =
  & { readonly name: string }
  & (
    | { readonly kind: "measured"; readonly measurement: Measurement }
    | { readonly kind: "none"; readonly reason: string }
  );

/** A peer under the load of a scenario. After its first failure its rounds do nothing. */
export interface PeerRun extends Pick<SystemRun, "round" | "reset"> {
  result(): PeerResult;
}

/** The time for the first response of a peer, and by which it may exceed the length of a round. */
const RESPONSE_TIMEOUT_MS = 30_000;

/**
 * Starts a peer if it is not running, and checks its first response to the request of a scenario.
 */
export async function newPeerRun(
  scenario: Scenario,
  peer: Peer,
  { systems, upstream }: { readonly systems: PeerSystems; readonly upstream: string },
): Promise<PeerRun> {
  const opened = await open();
  let run: SystemRun | null = typeof opened === "string" ? null : opened;
  let reason = typeof opened === "string" ? opened : "";

  async function open(): Promise<SystemRun | string> {
    const task = findPeerTask(scenario);
    if (task === null) return "the row compares two gateways of this repository";
    const support = peer.support(task, upstream);
    if (support.kind === "unsupported") return support.reason;
    const system = await systems.get(peer, support.upstream);
    if (system.kind === "missing") return system.reason;
    const request = mapRequest(scenario.measuredRequest ?? scenario.request, support.request);
    return await withinTime(
      newSystemRun(scenario, system.process, request, findPeerError),
      RESPONSE_TIMEOUT_MS,
    );
  }

  return {
    async round(seconds) {
      if (run === null) return;
      const problem = await withinTime(run.round(seconds), seconds * 1000 + RESPONSE_TIMEOUT_MS);
      if (typeof problem !== "string") return;
      run = null;
      reason = problem;
    },
    reset() {
      run?.reset();
    },
    result: () =>
      run === null
        ? { name: peer.name, kind: "none", reason }
        : { name: peer.name, kind: "measured", measurement: run.result() },
  };
}

/** Returns the request of a scenario as a peer expects it. */
export function mapRequest(
  request: ScenarioRequest,
  { path, headers, modelPrefix }: PeerRequest,
): ScenarioRequest {
  const mapped = { ...request, path, headers: { ...request.headers, ...headers } };
  return modelPrefix === "" ? mapped : { ...mapped, body: prefixModel(request.body, modelPrefix) };
}

function prefixModel(body: Uint8Array, prefix: string): Uint8Array<ArrayBuffer> {
  const fields = parseJson(new TextDecoder().decode(body));
  if (!isObject(fields)) throw new Error("A request of a scenario is not a JSON object.");
  return new TextEncoder().encode(JSON.stringify({ ...fields, model: `${prefix}${fields.model}` }));
}

/** Returns the result, or the reason of a failure as a text. */
async function withinTime<T>(working: Promise<T>, timeoutMs: number): Promise<T | string> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no response within ${timeoutMs / 1000} s`), timeoutMs);
  });
  try {
    return await Promise.race([working, late]);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return `wrong: ${reasonText(text)}`;
  } finally {
    clearTimeout(timer);
  }
}
