import { manual } from "../../../scripts/packaging/manual.ts";
import { ran } from "../../cli/test_terminal.ts";
import { assert, assertMatch, assertStringIncludes } from "../../support/assert.ts";

Deno.test("the manual page has each command and option of the program's help", async () => {
  const page = await manual("1.2.3", "2026-01-31");
  assertMatch(page, /^\.TH SWITCHYARD 1 2026-01-31 "switchyard 1\.2\.3" "User Commands"\n/);
  const { out } = await ran(["--help"]);
  const commands = [...out.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)].map(([, name = ""]) =>
    name
  );
  assert(commands.length >= 5);
  for (const command of ["", ...commands]) {
    if (command !== "") assertStringIncludes(page, `\n.SS ${command}\n`);
    const help = (await ran([...command.split(" "), "--help"].filter(Boolean))).out;
    const options = [...help.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, name = ""]) => name);
    assert(options.length >= 2, command);
    for (const option of options) {
      assertStringIncludes(page, `\n.B ${option.replaceAll("-", "\\-")}`, `${command} ${option}`);
    }
  }
});
