import fc from "fast-check";
import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { keys, limitedGateway } from "../../support/limited_gateway.ts";

const KEYS = ["web", "app"], USERS = ["ada", "bob", null];

/** Step of a caller: it creates an object, or uses one of those that exist by its number. */
const STEP = fc.record({
  key: fc.constantFrom(...KEYS),
  user: fc.constantFrom(...USERS),
  act: fc.constantFrom(
    "create response",
    "create conversation",
    "continue",
    "read",
    "list",
    "delete",
  ),
  at: fc.nat(9),
});

type Step = typeof STEP extends fc.Arbitrary<infer Value> ? Value : never;

interface Stored {
  readonly owner: string;
  readonly kind: "responses" | "conversations";
  readonly id: string;
}

/** Runs the steps at a gateway, each of whose responses must be that of the model. */
async function run(steps: readonly Step[]): Promise<void> {
  const names = Object.fromEntries(
    KEYS.map((key) => [key, { end_users: { header: "X-User" } }]),
  );
  const { app } = limitedGateway(keys(names));
  let objects: readonly Stored[] = [];

  async function call({ key, user }: Step, method: string, path: string, body?: JsonObject) {
    const response = await app(
      new Request(`http://localhost/v1${path}`, {
        method,
        headers: {
          host: "localhost",
          authorization: `Bearer key-of-${key}`,
          ...user !== null && { "x-user": user },
        },
        body: body === undefined ? null : JSON.stringify(body),
      }),
    );
    const parsed = parseJson(await response.text());
    const id = isObject(parsed) && typeof parsed.id === "string" ? parsed.id : "";
    return { status: response.status, id };
  }

  for (const step of steps) {
    const owner = `${step.key} ${step.user}`;
    const place = `${step.act} by ${owner}`;
    const add = (kind: Stored["kind"], { status, id }: Awaited<ReturnType<typeof call>>) => {
      assert(status === 200 && id !== "", place);
      objects = [...objects, { owner, kind, id }];
    };
    if (step.act === "create response") {
      add("responses", await call(step, "POST", "/responses", { model: "m", input: "Hi" }));
      continue;
    }
    if (step.act === "create conversation") {
      add("conversations", await call(step, "POST", "/conversations", {}));
      continue;
    }
    const used = objects[step.at % Math.max(1, objects.length)];
    if (used === undefined) continue;
    const { kind, id } = used;
    const isOwn = used.owner === owner;
    if (step.act === "continue") {
      const from = kind === "responses" ? { previous_response_id: id } : { conversation: id };
      const made = await call(step, "POST", "/responses", { model: "m", input: "Hi", ...from });
      if (isOwn) add("responses", made);
      else assert(made.status === 404 || made.status === 400, `${place} ${made.status}`);
      continue;
    }
    const path = step.act === "list"
      ? `/${kind}/${id}/${kind === "responses" ? "input_items" : "items"}`
      : `/${kind}/${id}`;
    const { status } = await call(step, step.act === "delete" ? "DELETE" : "GET", path);
    const expected = isOwn ? step.act === "delete" && kind === "responses" ? 204 : 200 : 404;
    assertEquals(status, expected, `${place} of ${used.owner} at ${kind}`);
    if (isOwn && step.act === "delete") objects = objects.filter((one) => one !== used);
  }
}

Deno.test("no sequence of creating, continuing, reading, listing and deleting shows a user of a key an object of another one", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 10, maxLength: 40 }), run),
    { numRuns: 60 },
  );
});
