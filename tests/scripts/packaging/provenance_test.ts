import { newProvenance } from "../../../scripts/packaging/provenance.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

const FACTS = {
  version: "1.2.3",
  machines: ["linux-x64"],
  address: "https://releases.example.com",
  commit: "0123456789abcdef0123456789abcdef01234567",
  isModified: false,
  epoch: 1_700_000_000,
  settings: { SWITCHYARD_BASE_URL: "https://releases.example.com" },
  inputs: [{ name: "deno.lock", digest: { sha256: "aa" } }],
};

Deno.test("a provenance names the files, the commit and the inputs as in-toto and SLSA want them", () => {
  const files = [{ name: "switchyard-1.2.3-linux-x64.tar.gz", digest: { sha256: "bb" } }];
  assertEquals<unknown>(newProvenance(FACTS, files), {
    _type: "https://in-toto.io/Statement/v1",
    subject: files,
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "https://releases.example.com/build/v1",
        externalParameters: {
          script: "scripts/release",
          version: "1.2.3",
          machines: ["linux-x64"],
          settings: FACTS.settings,
        },
        internalParameters: { SOURCE_DATE_EPOCH: FACTS.epoch },
        resolvedDependencies: [
          { name: "source", digest: { gitCommit: FACTS.commit } },
          ...FACTS.inputs,
        ],
      },
      runDetails: { builder: { id: "https://releases.example.com/builder" } },
    },
  });
});

Deno.test("a provenance says of changes without a commit that there are some, and names no commit without one", () => {
  const changed = JSON.stringify(newProvenance({ ...FACTS, isModified: true }, []));
  assert(changed.includes('"hasUncommittedChanges":true'));
  const exported = JSON.stringify(newProvenance({ ...FACTS, commit: null }, []));
  assert(!exported.includes("gitCommit"));
});

Deno.test("the provenance of a folder has the checksum of each of its files, and is the same each time", async () => {
  const folder = await Deno.makeTempDir();
  const runtime = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(`${folder}/b.deb`, "abc");
    await Deno.writeTextFile(`${folder}/a.tar.gz`, "");
    const make = async () => {
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", `${ROOT}scripts/packaging/provenance.ts`, folder, "1.2.3", "linux-x64"],
        env: {
          SOURCE_DATE_EPOCH: "7",
          DENORT_BIN: runtime,
          SWITCHYARD_BASE_URL: "https://a.example/",
          SWITCHYARD_SIGNING_KEY: "/secret/place",
        },
      }).output();
      return new TextDecoder().decode(stdout);
    };
    const text = await make();
    assertEquals(await make(), text);
    const { subject, predicate } = JSON.parse(text);
    assertEquals(subject, [
      {
        name: "a.tar.gz",
        digest: { sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
      },
      {
        name: "b.deb",
        digest: { sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
      },
    ]);
    const names = predicate.buildDefinition.resolvedDependencies
      .map(({ name }: { readonly name: string }) => name);
    assertEquals(names.slice(-2), ["deno.lock", "denort"]);
    assertEquals(predicate.runDetails.builder.id, "https://a.example/builder");
    // No path of the machine, and nothing about the key that signs.
    assert(!text.includes(folder) && !text.includes(runtime) && !text.includes("secret"));
  } finally {
    await Deno.remove(folder, { recursive: true });
    await Deno.remove(runtime);
  }
});
