import { connect } from "node:net";
import {
  type Attack,
  countsOf,
  keyHeaders,
  requestHead,
  security,
  send,
  type Target,
} from "./support.ts";

const KEY = "gk-attacks-limited-0123456789abcdef";

const NETWORK_COUNT = 10_000, CONNECTION_COUNT = 32;

/** Time in which the limited key, which has one request a minute, gets no further one. */
const REFUSED_MS = 58_000;

/** Returns the status of a request with a wrong key from this address of the loopback network. */
function statusFrom(target: Target, address: number): Promise<string> {
  const { hostname: host, port } = new URL(target.url);
  const localAddress = `127.${1 + (address >> 16)}.${address >> 8 & 255}.${address & 255}`;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host, port: Number(port), localAddress });
  const headers = { ...keyHeaders("gk-wrong"), connection: "close" };
  socket.on("connect", () => socket.write(requestHead("GET /v1/models", headers)));
  socket.on("data", (data) => {
    resolve(String(data).slice(9, 12));
    socket.destroy();
  });
  socket.on("error", reject);
  socket.on("close", () => resolve("closed"));
  return promise;
}

/** Wrong keys from many networks, which must not displace the bucket of a key at its limit. */
export const rateBuckets: Attack = {
  row: "A9",
  size: (times) => `${NETWORK_COUNT * times} networks with wrong keys`,
  config: () => ({
    providers: {},
    routing: { routes: [] },
    security: security({ limited: { value: KEY, requests_per_minute: 1 } }),
    rate_limiting: { enabled: true, burst_size: 2 },
  }),
  async load(target, times) {
    const limited = async () =>
      (await send(`${target.url}/v1/models`, null, keyHeaders(KEY))).status;
    const first = [await limited(), await limited(), await limited()];
    const began = performance.now();
    if (first.join() !== "200,200,429") throw new Error(`Limited key: ${first}`);
    const statuses: string[] = [];
    let next = 0;
    const work = async () => {
      while (next < NETWORK_COUNT * times) statuses.push(await statusFrom(target, next++));
    };
    const isOver = Promise.all(Array.from({ length: CONNECTION_COUNT }, work));
    const refused: number[] = [];
    let isRunning = true;
    isOver.finally(() => isRunning = false);
    do {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      if (performance.now() - began > REFUSED_MS) break;
      refused.push(await limited());
    } while (isRunning);
    const looked = Math.round((performance.now() - began) / 1000);
    const isKept = refused.every((status) => status === 429);
    const networks = statuses.length;
    await isOver;
    if (!isKept) throw new Error(`The limited key was served again: ${countsOf(refused)}`);
    return `${countsOf(statuses)}; limited key refused for ${looked} s and ${networks} networks`;
  },
};
