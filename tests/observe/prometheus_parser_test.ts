import parsePrometheusTextFormat from "parse-prometheus-text-format";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

interface Family {
  readonly name: string;
  readonly type: string;
  readonly metrics: readonly {
    readonly value?: string;
    /** Of a histogram, by upper bound; the parser leaves its labels out. */
    readonly buckets?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
  }[];
}

Deno.test("a Prometheus parser reads the samples of a call from /metrics", async () => {
  const { app } = testGateway(
    oneProvider("http://up"),
    scriptedWorld({ fetch: () => answers(200, COMPLETION) }),
  );
  await got(await app(chatRequest()));
  const { text } = await got(await app(new Request("http://localhost/metrics")));
  const families: readonly Family[] = parsePrometheusTextFormat(text);
  const named = (name: string) => families.find((family) => family.name === name);
  const labels = { provider: "up", model: "_dynamic" };
  const endpoint = "/v1/chat/completions";
  const requests = named("gateway_requests_total");
  assertEquals(requests?.type, "COUNTER");
  assertEquals(requests?.metrics, [
    { value: "1", labels: { endpoint, ...labels, route: "main", status: "200" } },
  ]);
  const durations = named("gateway_request_duration_seconds");
  assertEquals(durations?.type, "HISTOGRAM");
  assertEquals(durations?.metrics.map(({ buckets }) => buckets?.["+Inf"]), ["1"]);
  // Every family that the text declares is understood, none is left over.
  const declared = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
  assert(declared.length > 15);
  assertEquals(families.map(({ name }) => name).toSorted(), declared.toSorted());
});
