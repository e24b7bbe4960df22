import { workersLine } from "../../../scripts/bench/workers.ts";
import { assert, assertMatch } from "../../support/assert.ts";

const one = { rates: [100, 110, 90], gatewayUs: 2_000, loadUs: 100 };
const two = { rates: [170, 190, 160], gatewayUs: 2_100, loadUs: 100 };

Deno.test("on two cores the row of workers is judged by processor time, because the load takes a part of them", () => {
  const line = workersLine({ cores: 2, one, two });
  assertMatch(
    line,
    /rate 1\.73 times \(at most 1\.82 on 2 cores .*\); 1\.90 times by CPU {2}>= 1\.80$/,
  );
  const costly = { ...two, gatewayUs: 2_300 };
  assertMatch(
    workersLine({ cores: 2, one, two: costly }),
    /1\.74 times by CPU {2}>= 1\.80 missed$/,
  );
});

Deno.test("with more cores the row of workers is judged by its rate", () => {
  assertMatch(workersLine({ cores: 4, one, two }), /rate 1\.73 times .* missed$/);
  const fast = { ...two, rates: [190, 200, 180] };
  assert(!workersLine({ cores: 4, one, two: fast }).includes("missed"));
});
