// The program, for tests with traces of its own.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs the program: the one named, or what cargo builds. */
export const longhaul = (...args) => {
  const own = process.env.LONGHAUL;
  const [program, front] = own ? [own, []] : ["cargo", ["run", "--quiet", "--package", "longhaul-cli", "--"]];
  return execFileSync(program, [...front, ...args], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
};
