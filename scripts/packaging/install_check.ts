// Installs a release from its build folder, over a loopback server, and uninstalls it
// again: `install_check.ts DIR VERSION`.

const [folder = "dist", version = ""] = Deno.args;

function served(): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    try {
      return new Response((await Deno.open(`${folder}${pathname}`)).readable);
    } catch {
      return new Response("Not here.", { status: 404 });
    }
  });
}

async function ran(command: string, args: readonly string[], env: Record<string, string> = {}) {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], env })
    .output();
  const text = new TextDecoder();
  if (!success) throw new Error(`${command} ${args.join(" ")}: ${text.decode(stderr)}`);
  return text.decode(stdout);
}

async function check(prefix: string): Promise<void> {
  await using server = served();
  const env = { SWITCHYARD_BASE_URL: `http://127.0.0.1:${server.addr.port}` };
  const program = `${prefix}/bin/switchyard`;
  for (const shell of ["sh", "dash", "bash"]) {
    await ran(shell, [`${folder}/install.sh`, "--prefix", prefix], env);
    const printed = await ran(program, ["--version"]);
    if (printed !== `switchyard ${version}\n`) {
      throw new Error(`The installed program prints ${printed}`);
    }
    console.log(`${shell}: ${printed.trimEnd()} is installed`);
  }
  await ran("sh", [`${folder}/install.sh`, "--uninstall", "--prefix", prefix]);
  const left = [...Deno.readDirSync(`${prefix}/bin`)];
  if (left.length > 0) throw new Error(`Left over is ${left[0]?.name}.`);
}

const prefix = await Deno.makeTempDir();
try {
  await check(prefix);
} finally {
  await Deno.remove(prefix, { recursive: true });
}
