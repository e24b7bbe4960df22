import { keyHeaders, pause, PROBE_KEY } from "./support.ts";

/** Times and failures of another client during an attack. */
export interface Seen {
  readonly healthMs: number;
  readonly callMs: number;
  readonly calls: number;
  /** Calls that were refused because the gateway is full, which is no failure of it. */
  readonly overloaded: number;
  /** The first other answer; null if there was none. */
  readonly problem: string | null;
  /** Longest time for which the prober itself did not run: its own times are no better. */
  readonly ownGapMs: number;
}

const HEALTH_PAUSE_MS = 20, CALL_PAUSE_MS = 30, TICK_MS = 5;

const COMPLETION = JSON.stringify({
  id: "chatcmpl-probe",
  object: "chat.completion",
  created: 1,
  model: "small",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** Asks `/health` and makes small calls, with its own upstream at `port`, until `end`. */
export function probe(url: string, port: number) {
  const body = JSON.stringify({
    model: "probe/small",
    messages: [{ role: "user", content: "Hi" }],
  });
  const headers = { ...keyHeaders(PROBE_KEY), "content-type": "application/json" };
  const longest = { health: 0, call: 0, gap: 0 };
  let isOver = false, calls = 0, overloaded = 0, problem: string | null = null;
  Deno.serve(
    { hostname: "127.0.0.1", port, onListen: () => {} },
    () => new Response(COMPLETION, { headers: { "content-type": "application/json" } }),
  );

  async function exchange(request: Request): Promise<number> {
    const began = performance.now();
    try {
      const response = await fetch(request);
      const text = await response.text();
      if (response.status === 503 && text.includes('"overloaded"')) overloaded++;
      else if (response.status !== 200) problem ??= `${response.status} ${text.slice(0, 200)}`;
    } catch (error) {
      problem ??= String(error);
    }
    return performance.now() - began;
  }

  async function healths() {
    while (!isOver) {
      longest.health = Math.max(longest.health, await exchange(new Request(`${url}/health`)));
      await pause(HEALTH_PAUSE_MS);
    }
  }

  async function smallCalls() {
    while (!isOver) {
      const request = new Request(`${url}/v1/chat/completions`, { method: "POST", body, headers });
      longest.call = Math.max(longest.call, await exchange(request));
      calls++;
      await pause(CALL_PAUSE_MS);
    }
  }

  async function gaps() {
    for (let last = performance.now(); !isOver;) {
      await pause(TICK_MS);
      const now = performance.now();
      longest.gap = Math.max(longest.gap, now - last - TICK_MS);
      last = now;
    }
  }

  const running = Promise.all([healths(), smallCalls(), gaps()]);
  return {
    async end(): Promise<Seen> {
      isOver = true;
      await running;
      const { health: healthMs, call: callMs, gap: ownGapMs } = longest;
      return { healthMs, callMs, calls, overloaded, problem, ownGapMs };
    },
  };
}
