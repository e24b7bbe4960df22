import aiperf from "./aiperf.json" with { type: "json" };
import langchainTests from "./langchain_tests.json" with { type: "json" };
import schemathesis from "./schemathesis.json" with { type: "json" };
import type { RedCases } from "./verdict.ts";

/** Red cases that each referee is expected to find, by the name of its script. */
export const EXPECTED: Readonly<Record<string, readonly RedCases[]>> = {
  langchain_tests: langchainTests,
  schemathesis,
  aiperf,
};
