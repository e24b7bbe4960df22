import { lineMappings } from "../../../scripts/packaging/line_mappings.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("a source map of lines has the first position of each line, without its columns and name", () => {
  // The first line is of lines 1 and 2 of a source, the fourth of line 22 of the next source, and
  // the last of line 3 of the first one.
  assertEquals(lineMappings("KAAMA,IACN;;G;ACoBA;ADnBA"), "AAAA;;;ACqBA;ADnBA");
});
