import { killAgainAndAgain } from "./crash.ts";
import { killGateways } from "./kill_gateway.ts";

Deno.test("a killed process leaves a sound file with every record that it had committed", () =>
  killAgainAndAgain(2));

Deno.test("a gateway that is killed under load leaves every record that it has counted, and a sound file", () =>
  killGateways(2));
