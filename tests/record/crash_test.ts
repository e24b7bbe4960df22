import { killAgainAndAgain } from "./crash.ts";

Deno.test("a killed process leaves a sound file with every record that it had committed", () =>
  killAgainAndAgain(3));
