import { AbstractConnector } from "iovalkey";
import {
  clusterOptions,
  type LinkSettings,
  serverOptions,
} from "../../../src/store/valkey/library_options.ts";
import { assertEquals } from "../../support/assert.ts";

/** Returns settings of a server whose random numbers are all `random`. */
function settingsWith(random: number): LinkSettings {
  const valkey = {
    url: "valkey://127.0.0.1:6379/0",
    prefix: "p",
    sentinels: [],
    cluster: false,
    timeout: 500,
  };
  const forceShutdown = Object.assign(() => {}, { close() {} });
  return { valkey, silenceMs: 500, ca: null, forceShutdown, random: () => random };
}

Deno.test("a connection to the server is made again after 25 to 50 ms, then after twice as long each time, at most 1 s", () => {
  const attempts = [1, 2, 3, 4, 5, 6, 7, 100];
  const longest = [50, 100, 200, 400, 800, 1_000, 1_000, 1_000];
  for (const [random, factor] of [[0, 0.5], [1, 1]] as const) {
    const settings = settingsWith(random);
    const { retryStrategy } = serverOptions(settings, { AbstractConnector });
    const { clusterRetryStrategy } = clusterOptions(settings, { AbstractConnector });
    const expected = longest.map((ms) => ms * factor);
    assertEquals(attempts.map((one) => retryStrategy?.(one)), expected);
    assertEquals(attempts.map((one) => clusterRetryStrategy?.(one)), expected);
  }
});
