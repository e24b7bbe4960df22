import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { type GatewayOptions, newGateway } from "../../../src/gateway/gateway.ts";
import { createApp } from "../../../src/server/app.ts";
import type { GatewayState } from "../../../src/store/gateway_state.ts";
import { assertEquals } from "../../support/assert.ts";
import { answers } from "../../support/chat_call.ts";
import { firstGeneration, parsedConfig } from "../../support/parsed_config.ts";
import {
  objectsAt,
  type Reply,
  type StateCalls,
  stateCalls,
  textAt,
} from "../../support/state_call.ts";
import { storeUnderTest } from "../../support/store_under_test.ts";
import { type ScriptedWorld, scriptedWorld } from "../../support/world.ts";

/** A request that an upstream received. */
export interface SentRequest {
  readonly host: string;
  readonly body: JsonObject;
}

/** A gateway whose state is visible to a test. */
export interface Stateful extends StateCalls {
  readonly world: ScriptedWorld;
  readonly state: GatewayState;
  /** The upstream requests, in order. */
  readonly requests: readonly SentRequest[];
  /** Creates a response, which must succeed, and returns its resource. */
  created(body: JsonObject, headers?: Readonly<Record<string, string>>): Promise<JsonObject>;
  /** Reloads the gateway with this configuration. */
  reload(config: string): void;
}

/** Response of an upstream; a status other than 200 is an error. */
export interface ScriptedResponse {
  readonly status?: number;
  readonly message?: JsonObject;
  readonly finish?: string;
}

/** Two compat providers behind one route; `first` gets what names no provider. */
export const TWO = `
providers:
  first: {type: compat, base_url: "http://first", api_key: sk-first}
  second: {type: compat, base_url: "http://second", api_key: sk-second}
routing:
  routes:
    - name: main
      targets: [{provider: first}]
      fallback: [{provider: second, model: spare}]
    - {name: other, targets: [{provider: second}, {provider: first, model: m2}]}
retry: {enabled: false}
`;

/** Serves the configuration; each upstream responds with the result of the script. */
export function stateful(
  config = TWO,
  script: (request: SentRequest) => ScriptedResponse | Promise<ScriptedResponse> = () => ({}),
  optionsIn: (world: ScriptedWorld) => GatewayOptions = () => ({}),
): Stateful {
  const requests: SentRequest[] = [];
  const world = scriptedWorld({
    async fetch(url, init) {
      const body = parseJson(await new Response(init.body).text());
      const one = { host: new URL(url).hostname, body: isObject(body) ? body : {} };
      requests.push(one);
      const scripted = await script(one);
      const { status = 200, message = { content: `answer ${requests.length}` }, finish = "stop" } =
        scripted;
      if (status !== 200) return answers(status, "");
      const delta = { role: "assistant", ...message };
      const id = `chatcmpl-${requests.length}`;
      const about = { id, created: 1, model: one.body.model };
      if (one.body.stream !== true) {
        const choices = [{ index: 0, message: delta, finish_reason: finish }];
        return answers(200, { ...about, object: "chat.completion", choices });
      }
      const chunk = { ...about, object: "chat.completion.chunk" };
      const records = [{ delta, finish_reason: null }, { delta: {}, finish_reason: finish }]
        .map((choice) => ({ ...chunk, choices: [{ index: 0, ...choice }] }))
        .map((record) => `data: ${JSON.stringify(record)}\n\n`);
      return answers(200, `${records.join("")}data: [DONE]\n\n`);
    },
  });
  const gateway = newGateway(firstGeneration(config), world, [], {
    ...storeUnderTest(world),
    ...optionsIn(world),
  });
  const calls = stateCalls(createApp(gateway));
  return {
    ...calls,
    world,
    state: gateway.state,
    requests,
    async created(body, headers = {}) {
      const answer = await calls.post("/responses", { model: "m", ...body }, headers);
      assertEquals(answer.status, 200, answer.text);
      return body.stream === true ? terminalOf(answer) : answer.json;
    },
    reload: (text) => void gateway.reload(parsedConfig(text)),
  };
}

/** The resource of the last event of a stream. */
export function terminalOf({ text }: Reply): JsonObject {
  const data = text.trimEnd().split("\n").at(-1)?.replace(/^data: /, "") ?? "";
  const event = parseJson(data);
  return isObject(event) && isObject(event.response) ? event.response : {};
}

/** The message of the one `response.failed` that ends a stream, which must be one. */
export function errorIn(reply: Reply): string {
  const types = reply.text.trimEnd().split("\n\n").map((record) => record.split("\n")[0]);
  const terminals = types.filter((type) =>
    /response\.(completed|incomplete|failed)/.test(type ?? "")
  );
  assertEquals([terminals, types.at(-1)], [["event: response.failed"], "event: response.failed"]);
  const { error } = terminalOf(reply);
  return isObject(error) ? String(error.message) : "";
}

/** Role and content of the messages that upstream call number `count`, from 1, was given. */
export function messagesOf({ requests }: Stateful, count: number): readonly string[] {
  const messages = objectsAt(requests[count - 1]?.body ?? {}, "messages");
  return messages.map(({ role, content }) => `${role}: ${textOf(content)}`);
}

function textOf(content: JsonObject[string]): string {
  if (!Array.isArray(content)) return String(content);
  return content.filter(isObject).map(({ text }) => String(text)).join("");
}

/** The id of a resource. */
export function idOf(resource: JsonObject): string {
  return textAt(resource, "id");
}

/** The ids of the listed objects. */
export function idsIn({ json }: Reply): readonly unknown[] {
  return objectsAt(json, "data").map(({ id }) => id);
}
