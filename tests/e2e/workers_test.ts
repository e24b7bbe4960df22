import { assert, assertEquals } from "../support/assert.ts";
import { until } from "../support/valkey_server.ts";
import { isRunning, type RunningWorkers, twoWorkers, withWorkers } from "./running_workers.ts";

const REQUEST_COUNT = 24;

const HEALTH =
  'gateway_requests_total{endpoint="/health",provider="",model="",route="",status="200"}';

/** Sends requests on new connections, which the system distributes to the workers. */
async function sendHealth({ send }: RunningWorkers): Promise<void> {
  const sent = Array.from({ length: REQUEST_COUNT }, () => send("/health"));
  for (const { status } of await Promise.all(sent)) assertEquals(status, 200);
}

function beginStreams({ stream }: RunningWorkers, model: string) {
  return Promise.all(Array.from({ length: REQUEST_COUNT }, () => stream(model)));
}

Deno.test("all workers serve one port, each logs its number and answers /metrics with the sum of all; a reload reaches all and is counted once, a refused one changes none", async () => {
  await withWorkers(twoWorkers(), async (running) => {
    await sendHealth(running);
    const counts = await Promise.all(Array.from({ length: 6 }, () => running.metric(HEALTH)));
    assertEquals(new Set(counts), new Set([REQUEST_COUNT]));
    for (const worker of [1, 2]) {
      await running.logged(new RegExp(`path=/health .* worker=${worker}\n`));
    }
    assertEquals(await running.metric("gateway_workers"), 2);
    assertEquals(await running.metric('gateway_build_info{version="0.1.0"}'), 1);

    const { path, send, logged, metric } = running;
    const providers = async () => {
      const sent = Array.from({ length: REQUEST_COUNT }, () => send("/ready"));
      const found = (await Promise.all(sent)).map(({ text }) => JSON.parse(text).providers);
      return [...new Set(found)];
    };
    const text = await Deno.readTextFile(path);
    const second = 'spare: {type: compat, base_url: "http://127.0.0.1:1"}';
    const changed = text.replace("workers: 2", "workers: 3");
    await Deno.writeTextFile(path, changed.replace("providers: {", `providers: {${second}, `));
    running.child.kill("SIGHUP");
    await logged(/configuration reloaded changes="providers: spare added"/);
    await until(async () => (await providers()).join() === "2");
    await logged(/WARN +server\.workers has changed: it needs a restart/);
    assertEquals(await metric("gateway_workers"), 2);
    await Deno.writeTextFile(path, "providers: 7\n");
    running.child.kill("SIGHUP");
    await logged(/configuration not reloaded/);
    assertEquals(await providers(), [2]);
    running.killWorker(2);
    await logged(/worker listens worker=2/, 2);
    assertEquals(await providers(), [2]);
    assertEquals(await metric('gateway_config_reloads_total{result="success"}'), 1);
    running.child.kill("SIGTERM");
    const [code, log] = await running.ended();
    assertEquals(code, 0);
    assertEquals(log.match(/configuration reloaded/g)?.length, 1);
  });
});

Deno.test("a killed worker is started again while the streams of the other one go on, and no counter goes backwards; a stop signal drains all, and no process is left", async () => {
  await withWorkers(twoWorkers(", drain_delay: 1s"), async (running) => {
    await sendHealth(running);
    assertEquals(await running.metric(HEALTH), REQUEST_COUNT);
    const streams = await beginStreams(running, "sim-slow-100");
    running.killWorker(1);
    await running.logged(
      /WARN +worker ended; it is started again worker=1 reason="signal SIGKILL"/,
    );
    assertEquals(await running.metric(HEALTH), REQUEST_COUNT);
    await running.logged(/worker listens worker=1/, 2);
    await sendHealth(running);
    assertEquals(await running.metric(HEALTH), 2 * REQUEST_COUNT);
    assertEquals(await running.metric("gateway_worker_restarts_total"), 1);
    const texts = await Promise.all(streams.map(({ text }) => text));
    const whole = texts.filter((text) => text?.endsWith("data: [DONE]\n\n"));
    assert(whole.length > 0 && whole.length < REQUEST_COUNT, `${whole.length} streams were whole`);

    // A drain: every stream is whole, and /ready is 503 on each worker.
    const last = await beginStreams(running, "sim-slow-100");
    const pids = running.pids();
    running.child.kill("SIGTERM");
    // As a service manager does, which signals every process of the service.
    for (const pid of pids) Deno.kill(pid, "SIGTERM");
    await running.logged(/stopping after the requests in flight/);
    await until(async () => {
      const sent = Array.from({ length: REQUEST_COUNT }, () => running.send("/ready"));
      return (await Promise.all(sent)).every(({ status }) => status === 503);
    });
    for (const text of await Promise.all(last.map(({ text }) => text))) {
      assert(text?.endsWith("data: [DONE]\n\n"), String(text));
    }
    const [code] = await running.ended();
    assertEquals([code, pids.map(isRunning)], [0, [false, false]]);
  });
});

Deno.test("a second signal ends all workers at once, also one that does not respond, with the exit code of the signal", async () => {
  await withWorkers(twoWorkers(", drain_delay: 1h"), async (running) => {
    const streams = await beginStreams(running, "sim-broken-silent");
    const pids = running.pids();
    Deno.kill(pids[0], "SIGSTOP");
    running.child.kill("SIGTERM");
    await running.logged(/stopping after the requests in flight/);
    running.child.kill("SIGINT");
    assertEquals((await running.ended())[0], 130);
    assertEquals(new Set(await Promise.all(streams.map(({ text }) => text))), new Set([null]));
    await until(() => !pids.some(isRunning));
  });
});

const PARENT_ENDS = [
  { moment: "while it serves", model: "sim-slow-100" },
  { moment: "during a drain", model: "sim-slow-500" },
];

for (const { moment, model } of PARENT_ENDS) {
  Deno.test(`workers whose parent is killed ${moment} finish their streams, accept no more requests and end`, async () => {
    await withWorkers(twoWorkers(", drain_delay: 1h"), async (running) => {
      const streams = await beginStreams(running, model);
      const pids = running.pids();
      if (moment === "during a drain") {
        running.child.kill("SIGTERM");
        await until(async () => {
          const sent = Array.from({ length: REQUEST_COUNT }, () => running.send("/ready"));
          return (await Promise.all(sent)).every(({ status }) => status === 503);
        });
      }
      running.child.kill("SIGKILL");
      for (const text of await Promise.all(streams.map(({ text }) => text))) {
        assert(text?.endsWith("data: [DONE]\n\n"), String(text));
      }
      await until(() => !pids.some(isRunning));
      const refused = await running.send("/health").then(() => false, () => true);
      assertEquals(refused, true);
    });
  });
}
