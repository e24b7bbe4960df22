import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { toneOf } from "../../src/simulator/relay/tone.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { testClient } from "../cli/test_terminal.ts";
import { ADDRESS, ADMIN_ADDRESS, adminOf, gatewayOf } from "./documented_gateway.ts";
import { commands, filled, type ShellCommand } from "./shell.ts";
import { variable } from "./pages.ts";

/** The request that a curl command sends. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string | null;
  /** The parts of a multipart body. */
  readonly form: FormData | null;
  /** True for a request to the admin page. */
  readonly isAdmin: boolean;
}

interface Answered {
  readonly asked: Asked;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const curls = commands.filter(({ words }) => words[0] === "curl");
const sections = [...new Set(curls.map(({ section }) => section))];

function askedBy({ words, place }: ShellCommand, value: (name: string) => string): Asked {
  const rest = words.slice(1).map((word) => filled(word, value));
  const headers = new Headers();
  let method: string | null = null;
  let address = "";
  let body: string | null = null;
  let form: FormData | null = null;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "-N" || word === "-i") continue;
    else if (word === "-X") method = rest.shift() ?? "";
    else if (word === "-d") body = rest.shift() ?? "";
    else if (word === "-F") {
      const [, name = "", text = ""] = /^(\w+)=(.+)$/.exec(rest.shift() ?? "") ?? [];
      form ??= new FormData();
      form.set(name, text.startsWith("@") ? new File([toneOf("Say hello.")], text.slice(1)) : text);
    } else if (word === "-H") {
      const [, name = "", text = ""] = /^([\w-]+): (.+)$/.exec(rest.shift() ?? "") ?? [];
      headers.set(name, text);
    } else {
      assert(address === "" && !word.startsWith("-"), `${place}: ${word}`);
      address = word;
    }
  }
  const isAdmin = address.startsWith(`http://${ADMIN_ADDRESS}/`);
  const [, path = ""] = address.split(`http://${isAdmin ? ADMIN_ADDRESS : ADDRESS}`);
  assert(path.startsWith("/"), `${place} is not for the gateway`);
  assert(body === null || parseJson(body) !== undefined, `${place} sends no JSON`);
  const isGet = body === null && form === null;
  return { method: method ?? (isGet ? "GET" : "POST"), path, headers, body, form, isAdmin };
}

/** Runs the calls of a section, each with the ids that those before it have brought. */
async function callsOf(section: string): Promise<readonly Answered[]> {
  using client = testClient();
  await using gateway = gatewayOf(section);
  const ids = new Map<string, string>();
  const answers: Answered[] = [];
  for (const command of curls.filter((one) => one.section === section)) {
    const asked = askedBy(command, (name) => ids.get(name) ?? variable(name));
    const { method, headers, body } = asked;
    const response = asked.isAdmin
      ? await adminOf(section).get(asked.path, { headers })
      : await client.fetch(`${gateway.url}${asked.path}`, {
        method,
        headers,
        body: body ?? asked.form,
      });
    const text = await response.text();
    answers.push({ asked, status: response.status, headers: response.headers, text });
    assertExpected(command, asked, response.status, text);
    const { object, id } = objectIn(text);
    const name = /^(?:chat\.)?(response|conversation|completion)$/.exec(String(object))?.[1];
    const key = name?.toUpperCase() ?? "";
    if (name !== undefined && !ids.has(key)) ids.set(key, String(id));
  }
  return answers;
}

/** A comment may say which status, and which code of an error, a call has. */
function assertExpected(
  { comment, place }: ShellCommand,
  asked: Asked,
  status: number,
  text: string,
) {
  const [, wanted = "200", code] = /^(\d{3})(?: (\w+))?$/.exec(comment) ?? [];
  const about = `${place} ${asked.method} ${asked.path}: ${status} ${text.slice(0, 300)}`;
  assertEquals(String(status), wanted, about);
  const { error } = objectIn(text);
  if (code !== undefined) assertEquals(isObject(error) ? error.code : null, code, about);
  if (wanted === "200") assertStringIncludes(text, shapeOf(asked), about);
}

/** Members of every answer to such a request. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/^POST \/v1\/chat\/completions$/, '"object":"chat.completion"'],
  [/^GET \/v1\/chat\/completions$/, '"object":"list"'],
  [/^GET \/v1\/chat\/completions\/[\w-]+\/messages$/, '"object":"list"'],
  [/^POST \/v1\/responses$/, '"object":"response"'],
  [/^GET \/v1\/responses\/[\w-]+$/, '"object":"response"'],
  [/^GET \/v1\/responses\/[\w-]+\/input_items$/, '"object":"list"'],
  [/^POST \/v1\/responses\/[\w-]+\/cancel$/, '"status":"cancelled"'],
  [/^POST \/v1\/responses\/input_tokens$/, '"object":"response.input_tokens"'],
  [/^POST \/v1\/messages\/count_tokens$/, '"input_tokens":2'],
  [/^POST \/v1\/conversations$/, '"object":"conversation"'],
  [/^(?:GET|POST) \/v1\/conversations\/[\w-]+\/items$/, '"object":"list"'],
  [/^DELETE \/v1\/conversations\/[\w-]+$/, '"object":"conversation.deleted"'],
  [/^POST \/v1\/embeddings$/, '"object":"embedding"'],
  [/^POST \/v1\/audio\/speech$/, "RIFF"],
  [/^POST \/v1\/audio\/transcriptions$/, '"text":"Say hello."'],
  [/^POST \/v1\/images\/generations$/, '"b64_json":"'],
  [/^POST \/v1\/moderations$/, '"flagged":false'],
  [/^GET \/v1\/files$/, '"object":"list"'],
  [/^GET \/v1\/models$/, '"object":"list"'],
  [/^GET \/v1\/models\?limit=\d+$/, '"has_more":false'],
  [/^GET \/v1\/models\/.+$/, '"object":"model"'],
  [/^GET \/health$/, '"status":"ok"'],
  [/^GET \/ready$/, '"status":"ready"'],
  [/^GET \/snapshot$/, '"providers":['],
  [/^GET \/explain\?/, '"isServed":true'],
  [/^GET \/usage\?.*csv$/, "calls,input_tokens"],
  [/^GET \/usage\?/, '"object":"usage"'],
  [/^GET \/metrics$/, "gateway_build_info{"],
];

function shapeOf({ method, path, body }: Asked): string {
  const isStream = body !== null && objectIn(body).stream === true;
  if (isStream) return "\n\ndata: [DONE]\n\n";
  const shape = SHAPES.find(([pattern]) => pattern.test(`${method} ${path}`));
  assert(shape !== undefined, `no test knows how ${method} ${path} is answered`);
  return shape[1];
}

function objectIn(text: string): JsonObject {
  const value = parseJson(text);
  return isObject(value) ? value : {};
}

for (const section of sections) {
  Deno.test(`every curl of the documentation gets the documented answer: ${section}`, async () => {
    const answers = await callsOf(section);
    assertEquals(answers.length, curls.filter((one) => one.section === section).length);
    assert(answers.length > 0);
  });
}

Deno.test("the documented cache hit and the documented provider header are as documented", async () => {
  const [first, second] = await callsOf("docs/guide/caching.md");
  assertEquals(first?.headers.get("x-gateway-cache-status"), "MISS");
  assertEquals(second?.headers.get("x-gateway-cache-status"), "HIT");
  const [routed] = await callsOf("docs/guide/routing.md");
  assertEquals(routed?.headers.get("x-gateway-provider"), "openai");
});
