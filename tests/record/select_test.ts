import { newCallClient, parseControls } from "../../src/call/call.ts";
import { type RefusalKind, REFUSALS } from "../../src/core/failure/failure.ts";
import { refuse } from "../../src/core/failure/result.ts";
import { hasOnlyHead, selectRecord } from "../../src/record/select.ts";
import { RECORD_CHOICES, type RecordChoice } from "../../src/core/record_choice.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION } from "../support/chat_call.ts";
import { keyOf } from "../support/client_keys.ts";
import { newSigningKey, refreshKeys, tokenSecurity } from "../support/token_issuer.ts";
import { scriptedWorld } from "../support/world.ts";
import { recordingGateway, recordSection, withFolder } from "./support.ts";

const CHOICES = [undefined, ...RECORD_CHOICES] as const;

function setting(choice: RecordChoice | undefined): string {
  return choice === undefined ? "" : `, record: ${choice}`;
}

/** Table of the documentation. */
function expected(
  choices: readonly (RecordChoice | undefined)[],
  calls: "none" | "heads" | "all",
): "none" | "heads" | "all" {
  if (choices.includes("never")) return "none";
  if (calls === "all" || choices.includes("all")) return "all";
  return calls === "heads" || choices.includes("heads") ? "heads" : "none";
}

/** One key, group and route for each combination of choices. */
function matrix(calls: string) {
  const combinations = CHOICES.flatMap((key) =>
    CHOICES.flatMap((group) => CHOICES.map((route) => [key, group, route] as const))
  );
  const keys = combinations.map(([key], at) =>
    `{name: k${at}, value: key-of-k${at}${setting(key)}}`
  );
  const groups = combinations.map(([, group], at) =>
    `{name: g${at}, keys: [k${at}]${setting(group)}}`
  );
  const routes = combinations.map(([, , route], at) =>
    `{name: r${at}, match: {key: [k${at}]}, targets: [{provider: up}]${setting(route)}}`
  );
  const text = `
security:
  enabled: true
  api_key: {keys: [${keys.join(", ")}]}
  groups: [${groups.join(", ")}]
providers: {up: {type: compat, base_url: "http://up", api_key: k}}
routing: {routes: [${routes.join(", ")}]}
`;
  return {
    combinations,
    text: (folder: string) => recordSection(folder, `calls: ${calls}`) + text,
  };
}

Deno.test("a call is recorded exactly as its key, group, route and the default say", () =>
  withFolder(async (folder) => {
    for (const calls of ["none", "heads", "all"] as const) {
      const { combinations, text } = matrix(calls);
      const place = `${folder}/${calls}`;
      await Deno.mkdir(place);
      const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
      const { app, reports, finish } = await recordingGateway(text(place), world);
      for (const [at] of combinations.entries()) {
        const messages = [{ role: "user", content: `marker ${at}.` }];
        const response = await app(chatRequest({ headers: keyOf(`k${at}`), body: { messages } }));
        await response.body?.cancel();
      }
      const records = await finish();
      const kinds = new Map(records.map(({ head, request }) => [head.key, request]));
      for (const [at, choices] of combinations.entries()) {
        const wanted = expected(choices, calls);
        const request = kinds.get(`k${at}`);
        const found = !kinds.has(`k${at}`) ? "none" : request === undefined ? "heads" : "all";
        assertEquals(found, wanted, `${calls} ${choices.join(" ")}`);
        assertEquals(reports[at]?.recorded ?? "none", wanted);
        assertEquals(request?.body?.includes(`marker ${at}.`) ?? false, wanted === "all");
      }
    }
  }));

Deno.test("a record says which places have chosen it", () =>
  withFolder(async (folder) => {
    const text = `${recordSection(folder, "calls: heads")}
security:
  enabled: true
  api_key: {keys: [{name: ada, value: key-of-ada, record: all, template: t}]}
  groups: [{name: g, templates: [t], record: all}, {name: h, keys: [ada]}]
  templates: [{name: t}]
providers: {up: {type: compat, base_url: "http://up", api_key: k}}
routing: {routes: [{name: main, record: heads, targets: [{provider: up}]}]}
`;
    const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
    const { app, finish } = await recordingGateway(text, world);
    await (await app(chatRequest({ headers: keyOf("ada") }))).body?.cancel();
    const [record] = await finish();
    assertEquals(record?.head.why, ["key", "group"]);
    assertEquals([record?.head.key, record?.head.groups, record?.head.template], [
      "ada",
      ["g", "h"],
      "t",
    ]);
  }));

Deno.test("a client with a token is in the groups of its template, and in none of the key that has its name", () =>
  withFolder(async (folder) => {
    const text = `${recordSection(folder, "calls: heads")}
${
      tokenSecurity({}, {
        api_key: { keys: [{ name: "corp/ada", value: "key-of-corp/ada" }] },
        groups: [
          { name: "keys", keys: ["corp/ada"], tokens_per_minute: 9 },
          { name: "developers", templates: ["developer"], tokens_per_minute: 9 },
        ],
      })
    }
providers: {up: {type: compat, base_url: "http://up", api_key: k}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`;
    const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
    const { app, finish, gateway } = await recordingGateway(text, world);
    const key = await newSigningKey("k1");
    await refreshKeys(gateway, [key]);
    const token = { authorization: `Bearer ${await key.sign()}` };
    for (const headers of [token, keyOf("corp/ada")]) {
      await (await app(chatRequest({ headers }))).body?.cancel();
    }
    const groups = (await finish()).map(({ head }) => [head.key, head.groups]);
    assertEquals(groups.toSorted(), [["corp/ada", ["developers"]], ["corp/ada", ["keys"]]]);
  }));

Deno.test("the header X-Gateway-No-Record leaves no trace of a call, in any letter case and among repeated values", () =>
  withFolder(async (folder) => {
    const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
    const { app, thread, finish } = await recordingGateway(
      `${recordSection(folder)}
providers: {up: {type: compat, base_url: "http://up", api_key: k}}
routing: {routes: [{name: main, record: all, targets: [{provider: up}]}]}
`,
      world,
    );
    for (const value of ["true", "TRUE", "false, True", "false", "1", ""]) {
      const headers = { "x-gateway-no-record": value };
      const messages = [{ role: "user", content: `marker-${value}` }];
      await (await app(chatRequest({ headers, body: { messages } }))).body?.cancel();
    }
    const records = await finish();
    assertEquals(records.map(({ request }) => request?.headers["x-gateway-no-record"]), [
      "false",
      "1",
      "",
    ]);
    assert(!JSON.stringify(thread.requests).toLowerCase().includes("marker-true"));
  }));

Deno.test("refused calls are recorded; those without a valid key or beyond a limit are not", () =>
  withFolder(async (folder) => {
    const text = `${recordSection(folder)}
security: {enabled: true, api_key: {keys: [{name: ada, value: key-of-ada}, {name: bob, value: key-of-bob, requests_per_minute: 1}]}}
rate_limiting: {enabled: true, burst_size: 1}
providers: {up: {type: compat, base_url: "http://up", api_key: k}}
routing: {routes: [{name: main, match: {models: [m]}, targets: [{provider: up}]}]}
`;
    const world = scriptedWorld({ fetch: () => answers(500, "{}") });
    const { app, reports, finish } = await recordingGateway(text, world);
    const send = async (headers: Readonly<Record<string, string>>, body = {}) =>
      await (await app(chatRequest({ headers, body }))).body?.cancel();
    await send({ authorization: "Bearer strange" });
    await send({ ...keyOf("ada"), origin: "http://evil.example" });
    await send(keyOf("bob"), { messages: "other" });
    await send(keyOf("bob"));
    await world.advance(60_000);
    await send(keyOf("ada"), { temperature: "hot" });
    const records = await finish();
    assertEquals(reports.map(({ status }) => status), [401, 403, 400, 429, 400]);
    assertEquals(records.map(({ head }) => [head.status, head.end, head.code]), [
      [400, "refused", "invalid_type"],
      [400, "refused", "invalid_type"],
    ]);
    assertEquals(records[0]?.request?.body?.includes('"other"'), true);
  }));

Deno.test("no call that a limit of its client has refused is recorded, whichever limit that is", () =>
  withFolder(async (folder) => {
    const text = `${recordSection(folder)}
security:
  enabled: true
  api_key: {keys: [{name: web, value: key-of-web, end_users: {header: X-User, max: 1, template: user}}]}
  templates: [{name: user, budgets: [{per: day, tokens: 99}]}]
providers: {up: {type: compat, base_url: "http://up", api_key: k}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`;
    const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
    const { app, reports, finish, gateway } = await recordingGateway(text, world);
    for (const user of ["ada", "bob"]) {
      const headers = { ...keyOf("web"), "x-user": user };
      await (await app(chatRequest({ headers }))).body?.cancel();
    }
    assertEquals(reports.map(({ status }) => status), [200, 429]);
    assertEquals((await finish()).length, 1);

    const [served] = reports;
    assert(served !== undefined);
    const { generation } = gateway;
    const client = { ...newCallClient(), key: generation.clientKeys[0] ?? null };
    const controls = parseControls(new Headers());
    const call = { generation, client, controls, caller: { name: "web", isIsolated: false } };
    const kinds = Object.keys(REFUSALS) as RefusalKind[];
    const recorded = kinds.filter((kind) => {
      const { failure } = refuse(kind, "No.");
      return selectRecord({ ...call, report: { ...served, failure } }) !== null;
    });
    const wanted = kinds.filter((kind) => ![401, 429].includes(REFUSALS[kind].status));
    assertEquals(recorded, wanted);
  }));

Deno.test("of a call that a privacy rule has refused, or an overloaded gateway, only the head is recorded", () => {
  const kinds = [
    "overloaded",
    "privacy_rule_matched",
    "privacy_unreplaceable",
    "privacy_unread",
    "privacy_too_many_values",
    "privacy_search_timeout",
  ] as const;
  for (const kind of kinds) assert(hasOnlyHead(refuse(kind, "No.")), kind);
  assert(!hasOnlyHead(refuse("invalid_type", "No.")) && !hasOnlyHead({ failure: null }));
});

Deno.test("while a route says never, a call that was refused before its route was known has only a head", () =>
  withFolder(async (folder) => {
    const place = (never: string) => `
providers: {up: {type: compat, base_url: "http://up", api_key: k}}
routing:
  routes:
    - {name: secret, match: {headers: {x-team: blue}}, targets: [{provider: up}]${never}}
    - {name: rest, targets: [{provider: up}]}
`;
    for (const [never, content] of [["", true], [", record: never", false]] as const) {
      const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
      const own = await Deno.makeTempDir({ dir: folder });
      const { app, thread, finish } = await recordingGateway(
        recordSection(own) + place(never),
        world,
      );
      const headers = { "x-team": "blue" };
      const body = { messages: [{ role: "user", content: "marker" }], temperature: "hot" };
      await (await app(chatRequest({ headers, body }))).body?.cancel();
      await (await app(chatRequest())).body?.cancel();
      const records = await finish();
      assertEquals(records.map(({ head, request }) => [head.status, request !== undefined]), [
        [400, content],
        [200, true],
      ]);
      assertEquals(JSON.stringify(thread.requests).includes("marker"), content);
    }
  }));
