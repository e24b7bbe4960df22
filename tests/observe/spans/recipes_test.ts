import { parse } from "yaml";
import { isObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { receivedWith } from "./collector.ts";

const FOLDER = new URL("../../../scripts/deploy/observability/", import.meta.url);

/** The variables in a file of `NAME=value` lines, with these texts replaced. */
async function variablesOf(
  file: string,
  changes: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const text = await Deno.readTextFile(new URL(file, FOLDER));
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(lines.map((line) => {
    const at = line.indexOf("=");
    const value = Object.entries(changes).reduce(
      (changed, [old, next]) => changed.replace(old, next),
      line.slice(at + 1),
    );
    return [line.slice(0, at), value];
  }));
}

Deno.test("the recipe of Langfuse has its path, its credential and its version, in both protocols", async () => {
  const keys = btoa("pk-lf-1:sk-lf-2+");
  const variables = await variablesOf("langfuse.env", {
    "https://HOST": "URL",
    BASE64: keys.replaceAll("=", "%3D"),
  });
  const { OTEL_EXPORTER_OTLP_ENDPOINT: address = "", OTEL_EXPORTER_OTLP_PROTOCOL } = variables;
  assertEquals(OTEL_EXPORTER_OTLP_PROTOCOL, "http/protobuf");
  for (const [protocol, type] of [["protobuf", "x-protobuf"], ["json", "json"]]) {
    const received = await receivedWith((url) => ({
      ...variables,
      OTEL_EXPORTER_OTLP_PROTOCOL: `http/${protocol}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: address.replace("URL", url),
    }));
    assertEquals(
      received.map(({ path, headers }) => [
        path,
        headers.get("authorization"),
        headers.get("x-langfuse-ingestion-version"),
        headers.get("content-type"),
      ]),
      [["/api/public/otel/v1/traces", `Basic ${keys}`, "4", `application/${type}`]],
    );
  }
});

Deno.test("the recipe of Phoenix sends protobuf to the path of spans", async () => {
  const variables = await variablesOf("phoenix.env", { "http://127.0.0.1:6006": "URL" });
  const received = await receivedWith((url) => ({
    ...variables,
    OTEL_EXPORTER_OTLP_ENDPOINT: (variables.OTEL_EXPORTER_OTLP_ENDPOINT ?? "").replace("URL", url),
  }));
  assertEquals(received.map(({ path, headers }) => [path, headers.get("content-type")]), [
    ["/v1/traces", "application/x-protobuf"],
  ]);
  assert(received[0]?.body.includes("POST /v1/chat/completions") === true);
});

Deno.test("every part of the collector's pipelines is configured", async () => {
  const text = await Deno.readTextFile(new URL("collector.yaml", FOLDER));
  const file: unknown = parse(text);
  assert(isObject(file) && isObject(file.service) && isObject(file.service.pipelines));
  const used = Object.values(file.service.pipelines).flatMap((pipeline) => {
    assert(isObject(pipeline));
    return ["receivers", "processors", "exporters"].flatMap((kind) => {
      const names = pipeline[kind];
      assert(Array.isArray(names));
      return names.map((name) => `${kind}.${String(name)}`);
    });
  });
  const configured = ["receivers", "processors", "exporters"].flatMap((kind) => {
    const parts = file[kind];
    assert(isObject(parts));
    return Object.keys(parts).map((name) => `${kind}.${name}`);
  });
  assertEquals(configured.toSorted(), [...new Set(used)].toSorted());
  assert(text.includes("OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318"));
});
