import { assertEquals } from "../../support/assert.ts";
import { testGateway } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";

/** The ids that these names are found under, null where there is no such model. */
async function found(providers: string, names: readonly string[]): Promise<unknown[]> {
  const { app } = testGateway(
    `providers: {${providers}}
routing: {routes: [{name: all, targets: [{provider: home}]}]}
`,
    scriptedWorld(),
  );
  const ids: unknown[] = [];
  for (const name of names) {
    const answer = await app(new Request(`http://localhost/v1/models/${name}`));
    ids.push((await answer.json()).id ?? null);
  }
  return ids;
}

function provider(id: string, type: string, models: readonly string[]): string {
  const base = `base_url: "http://${id}.test", api_key: k`;
  return `${id}: {type: ${type}, ${base}, models: {mode: static, static: ${
    JSON.stringify(models)
  }}}`;
}

Deno.test("a model of a local runtime is found without its tag latest, and with it", async () => {
  const home = provider("home", "local", ["m:latest", "n", "org/k:latest", "host:5000/j"]);
  assertEquals(
    await found(home, [
      "home/m",
      "m",
      "home%2Fm",
      "home/m:latest",
      "home/n:latest",
      "n:latest",
      "org/k",
      "home/org/k",
      "host:5000/j:latest",
    ]),
    [
      "home/m:latest",
      "home/m:latest",
      "home/m:latest",
      "home/m:latest",
      "home/n",
      "home/n",
      "home/org/k:latest",
      "home/org/k:latest",
      "home/host:5000/j",
    ],
  );
});

Deno.test("a different tag is a different model, and an exact name has priority", async () => {
  const home = provider("home", "local", ["m:latest", "m", "n:8b", "k:latest"]);
  const cloud = provider("cloud", "compat", ["k", "j:latest"]);
  assertEquals(
    await found(`${home}, ${cloud}`, ["home/m", "m:latest", "n", "home/n:latest", "k", "home/k"]),
    ["home/m", "home/m:latest", null, null, "cloud/k", "home/k:latest"],
  );
});

Deno.test("only local runtimes treat a name without tag as the tag latest", async () => {
  const home = provider("home", "local", []);
  const cloud = provider("cloud", "compat", ["j:latest"]);
  assertEquals(await found(`${home}, ${cloud}`, ["cloud/j", "j", "j:latest"]), [
    null,
    null,
    "cloud/j:latest",
  ]);
});

Deno.test("a name without provider that two local runtimes have is unknown", async () => {
  const providers = ["home", "shed"].map((id) => provider(id, "local", ["m:latest"])).join(", ");
  assertEquals(await found(providers, ["m", "shed/m"]), [null, "shed/m:latest"]);
});
