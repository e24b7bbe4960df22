import { newSimulator } from "../../../src/simulator/simulator.ts";
import { scriptedWorld } from "../../support/world.ts";

/** A request to a healthy upstream. */
export interface SentBody {
  readonly method: string;
  readonly headers: HeadersInit;
  readonly body: string;
}

/**
 * Returns an upstream that is healthy: the simulator, whose answer to a request is the same when it
 * is repeated. With `isStateful` each answer is a new one, because an object that is stored has
 * another ID each time.
 */
export function newHealthyUpstream(
  isStateful: boolean,
): (url: string, sent: SentBody) => Promise<Response> {
  const simulate = newSimulator(scriptedWorld());
  const known = new Map<
    string,
    { readonly bytes: Uint8Array<ArrayBuffer>; readonly init: ResponseInit }
  >();
  return async (url, sent) => {
    const key = `${sent.method} ${url} ${sent.body}`;
    let answer = known.get(key);
    if (answer === undefined) {
      const response = await simulate(new Request(url, sent));
      const { status, headers } = response;
      answer = { bytes: await response.bytes(), init: { status, headers } };
      if (!isStateful) known.set(key, answer);
    }
    return new Response(answer.bytes, answer.init);
  };
}
