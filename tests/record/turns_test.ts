import { configDigest } from "../../src/record/config_digest.ts";
import { assertEquals } from "../support/assert.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { saying, wordStreams } from "../support/word_stream.ts";
import { scriptedWorld } from "../support/world.ts";
import { oneProvider } from "../support/gateway.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { recordingGateway, recordSection, withFolder } from "./support.ts";

Deno.test("each turn of a WebSocket is one record, and its handshake is none", () =>
  withFolder(async (folder) => {
    const text = recordSection(folder) + oneProvider("http://up");
    const { recorder, finish } = await recordingGateway(text, scriptedWorld());
    await using served = socketGateway(oneProvider("http://up") + recordSection(folder), {
      ...wordStreams(() => saying("yes")),
      newCapture: recorder.newCapture,
    });
    {
      await using client = await served.open();
      for (const input of ["first question", "second question"]) {
        await client.turn({ type: "response.create", model: "m", input, store: false });
      }
      await served.reported(3);
    }
    const records = await finish();
    assertEquals(
      records.map(({ head, request, response }) => [
        head.path,
        head.stream,
        JSON.parse(request?.body ?? "{}").input,
        response?.events?.includes("response.completed"),
      ]),
      [
        ["/v1/responses", true, "first question", true],
        ["/v1/responses", true, "second question", true],
      ],
    );
  }));

Deno.test("what is recorded of an open socket follows a reload, for its next turn", () =>
  withFolder(async (folder) => {
    const config = (settings: string) => oneProvider("http://up") + recordSection(folder, settings);
    const { recorder, finish } = await recordingGateway(config("calls: none"), scriptedWorld());
    await using served = socketGateway(config("calls: none"), {
      ...wordStreams(() => saying("yes")),
      newCapture: recorder.newCapture,
    });
    {
      await using client = await served.open();
      for (const settings of ["calls: none", "calls: all", "calls: heads", "calls: none"]) {
        served.reload(config(settings));
        await client.turn({ type: "response.create", model: "m", input: settings, store: false });
      }
      served.reload(config("calls: all").replace("enabled: true", "enabled: false"));
      await client.turn({ type: "response.create", model: "m", input: "off", store: false });
      await served.reported(6);
    }
    const records = await finish();
    assertEquals(
      records.map(({ request }) => request && JSON.parse(request.body ?? "{}").input),
      ["calls: all", undefined],
    );
  }));

Deno.test("the head of a turn names the configuration of the handshake, which has routed it", () =>
  withFolder(async (folder) => {
    const config = (model: string) => `
providers: {up: {type: compat, base_url: "http://up", default_model: ${model}}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
${recordSection(folder)}`;
    const { recorder, finish } = await recordingGateway(config("old"), scriptedWorld());
    await using served = socketGateway(config("old"), {
      ...wordStreams(() => saying("yes")),
      newCapture: recorder.newCapture,
    });
    {
      await using client = await served.open();
      const request = { type: "response.create", input: "question", store: false };
      await client.turn(request);
      served.reload(config("new"));
      await client.turn(request);
      await served.reported(3);
    }
    const heads = (await finish()).map(({ head }) => head);
    assertEquals(
      heads.map(({ attempts, generation }) => [attempts.at(-1)?.model, generation]),
      Array(2).fill(["old", configDigest(parsedConfig(config("old")))]),
    );
  }));
