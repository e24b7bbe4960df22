import { workersLine } from "../../../scripts/bench/workers.ts";
import { assert, assertMatch } from "../../support/assert.ts";

const one = { rates: [100, 110, 90], gatewayUs: 2_000, mainUs: 1_900, loadUs: 100 };
const two = { rates: [170, 190, 160], gatewayUs: 2_100, mainUs: 2_000, loadUs: 100 };

Deno.test("on two cores the row of workers is judged by processor time, because the load takes a part of them", () => {
  const line = workersLine({ cores: 2, one, two });
  assertMatch(
    line,
    /rate 1\.73 times \(at most 1\.73 on 2 cores .*\); 1\.90 times one core by CPU, .* >= 1\.80$/,
  );
  const costly = { ...two, gatewayUs: 2_300 };
  assertMatch(
    workersLine({ cores: 2, one, two: costly }),
    /1\.74 times one core by CPU, .* >= 1\.80 missed$/,
  );
});

Deno.test("with more cores the row of workers is judged by its rate", () => {
  assertMatch(workersLine({ cores: 4, one, two }), /rate 1\.73 times .* missed$/);
  const fast = { ...two, rates: [190, 200, 180] };
  assert(!workersLine({ cores: 4, one, two: fast }).includes("missed"));
});

Deno.test("the row of workers says how much less a second worker brings where one has two cores for its threads", () => {
  const beside = { ...one, mainUs: 1_600 };
  const line = workersLine({ cores: 2, one: beside, two });
  assertMatch(line, /one 100\/s, 2000 µs CPU \(1600 in main threads\); two 170\/s, /);
  assertMatch(
    line,
    /at most 1\.45 on 2 cores .* 1\.90 times one core by CPU, 1\.52 times one worker with two cores /,
  );
  // With more cores the threads of both workers have one, and each main thread is the limit.
  const ofMain = workersLine({ cores: 8, one: beside, two: { ...two, mainUs: 1_700 } });
  assertMatch(ofMain, /at most 1\.88 on 8 cores /);
});
