import { isObject, parseJson } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";
import { startUpstream } from "../support/upstream.ts";
import { configFile, testClient, whileServing } from "./test_terminal.ts";

const CLIENT_COUNT = 32;
const VERSION_COUNT = 20;

/** Route, model and key of one answer must be of the same version. */
function version(number: number, upstream: string): string {
  return `
server: {port: 0}
providers: {up: {type: compat, base_url: "${upstream}", api_key: key-${number}}}
routing: {routes: [{name: route-${number}, targets: [{provider: up, model: model-${number}}]}]}
retry: {enabled: false}
circuit_breaker: {enabled: false}
`;
}

/** A response that contains the model and the key of its request. */
function answerTo(body: string, key: string) {
  const request = parseJson(body);
  const model = isObject(request) ? request.model : null;
  const message = { role: "assistant", content: `${model} ${key}` };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return { id: "c", object: "chat.completion", created: 1, model: "m", choices };
}

async function ask(client: ReturnType<typeof testClient>, url: string): Promise<string> {
  const response = await client.fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "auto", messages: [{ role: "user", content: "Hi" }] }),
  });
  const [, model = "", key = ""] = /"content":"model-(\d+) Bearer key-(\d+)"/
    .exec(await response.text()) ?? [];
  const { status, headers } = response;
  const route = headers.get("x-gateway-route")?.replace("route-", "");
  const served = headers.get("x-gateway-model")?.replace("model-", "");
  return status === 200 && route === model && served === model && key === model && model !== ""
    ? "whole"
    : `${status}: route ${route}, model ${served}, upstream model ${model}, key ${key}`;
}

Deno.test("no request fails or is served by two configurations while the file changes", async () => {
  using client = testClient();
  const firstRequests = new Map<string, PromiseWithResolvers<void>>();
  const firstRequest = (key: string) => {
    const known = firstRequests.get(key) ?? Promise.withResolvers<void>();
    firstRequests.set(key, known);
    return known;
  };
  await using upstream = startUpstream(({ request, json }) => {
    const key = request.headers.authorization ?? "";
    firstRequest(key).resolve();
    return json(200, answerTo(request.body, key));
  });
  using file = await configFile(version(0, upstream.url));
  await whileServing(["--config", file.path], async (terminal) => {
    const [, url = ""] = await terminal.printed(/listens on (\S+)\n/);

    let isChanging = true;

    async function rewrite() {
      for (let number = 1; number <= VERSION_COUNT; number++) {
        const isBroken = number % 2 === 0;
        const text = version(number, upstream.url);
        const beside = `${file.path}.next`;
        await Deno.writeTextFile(beside, isBroken ? `${text}broken${number}: true\n` : text);
        await Deno.rename(beside, file.path);
        terminal.reload();
        await terminal.printed(
          isBroken
            ? new RegExp(`broken${number}: is not a known key`)
            : new RegExp(`configuration reloaded.*route-${number} added`),
        );
        if (!isBroken) await firstRequest(`Bearer key-${number}`).promise;
      }
      isChanging = false;
    }

    async function load(): Promise<string[]> {
      const outcomes: string[] = [];
      while (isChanging) outcomes.push(await ask(client, url));
      return outcomes;
    }

    const clients = Array.from({ length: CLIENT_COUNT }, load);
    const [, ...loads] = await Promise.all([rewrite(), ...clients]);
    const outcomes = loads.flat();
    assertEquals(outcomes.filter((outcome) => outcome !== "whole"), []);
    assertEquals(loads.filter((one) => one.length < 2), [], "every client asks again and again");
    assertEquals(upstream.requests.length, outcomes.length);
    const keys = upstream.requests.map(({ headers }) => headers.authorization ?? "");
    const met = new Set(keys.map((key) => key.replace("Bearer key-", "")));
    const valid = Array.from({ length: VERSION_COUNT / 2 }, (_, index) => String(2 * index + 1));
    assertEquals(valid.filter((number) => !met.has(number)), []);
  });
});
